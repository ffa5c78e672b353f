/** Signing in and out at the API, with words for what can go wrong. */
import { PUBLIC_GUEST_USERNAME } from '$app/env/public';
import { accounts, type AnswerOf } from '@service/contract';
import type { Cookies } from '@sveltejs/kit';

import { askApi, causeOf, detailOf } from './api.ts';
import { log } from './log.ts';
import { onBehalfOf, type Visit } from './mounted.ts';
import { tokenOf } from './session.ts';

/** What a browser keeps of a sign-in, so that guesses of others do not make it wait. */
const DEVICE_HEADER = 'x-known-device';

const BAD_CREDENTIALS = 'E-mail or password is wrong, or this account is not active.';
const NO_PASSWORDS = 'Sign-in with a password is switched off on this service.';
export const NO_ANSWER = 'The service does not answer. Try again in a minute.';
export const UNEXPECTED = 'Signing in did not work. Try again; if it keeps happening, contact your administrator.';

export const isGuest = (username: string) => PUBLIC_GUEST_USERNAME !== undefined && username === PUBLIC_GUEST_USERNAME;

/** The token for a name and password, or why there is none. */
export async function signIn(
  username: string,
  password: string,
  visit: Visit,
  knownDevice: string | undefined,
): Promise<{ token: string; device: string | undefined } | { problem: string }> {
  try {
    const response = await askApi(accounts.login.path, {
      method: 'POST',
      body: new URLSearchParams({ username, password }),
      headers: { ...onBehalfOf(visit), ...(knownDevice === undefined ? {} : { [DEVICE_HEADER]: knownDevice }) },
      expected: 400,
    });
    if (response.ok) {
      const { access_token } = (await response.json()) as AnswerOf<typeof accounts.login>;
      return { token: access_token, device: response.headers.get(DEVICE_HEADER) ?? undefined };
    }
    const detail = await detailOf(response);
    if (response.status === 400 && detail === 'LOGIN_BAD_CREDENTIALS') return { problem: BAD_CREDENTIALS };
    if (response.status === 404) return { problem: NO_PASSWORDS };
    if (response.status === 429 && detail !== undefined) return { problem: detail };
    return { problem: UNEXPECTED };
  } catch (reason) {
    log.error(`Nobody can sign in: ${causeOf(reason)}`);
    return { problem: NO_ANSWER };
  }
}

/** Says goodbye to the API. Whatever it answers, the session of the browser ends. */
export async function signOut(cookies: Cookies): Promise<void> {
  const token = tokenOf(cookies);
  if (token === undefined) return;
  await askApi(accounts.logout.path, { method: 'POST', token }).catch((reason: unknown) =>
    log.error(`The API was not told of a logout: ${causeOf(reason)}`),
  );
}
