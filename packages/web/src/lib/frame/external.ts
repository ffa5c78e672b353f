/** Accounts of elsewhere: how they are called, and the way to them and back. */
import { PUBLIC_OAUTH_CLIENT_NAME } from '$app/env/public';

import { externalSignIn, route } from '../route.ts';

const KNOWN: Record<string, string> = { github: 'GitHub', google: 'Google' };

/** Undefined where no external account is set up. */
export const externalName = (): string | undefined =>
  PUBLIC_OAUTH_CLIENT_NAME === undefined ? undefined : (KNOWN[PUBLIC_OAUTH_CLIENT_NAME] ?? 'your institution');

/** Where to go after it; the provider brings people back to an address without it. */
export const NEXT_COOKIE = 'service_next';
export const NEXT_PATH = route.signIn();
const NEXT_SECONDS = 900;

const rememberNext = (next: string | undefined) => {
  const age = next === undefined ? 0 : NEXT_SECONDS;
  document.cookie = `${NEXT_COOKIE}=${encodeURIComponent(next ?? '')}; path=${NEXT_PATH}; max-age=${age}; samesite=lax`;
};

/** Leaves for the provider. Undefined when it works, else why not. */
export async function signInElsewhere(next: string | undefined): Promise<string | undefined> {
  try {
    const response = await fetch(externalSignIn(PUBLIC_OAUTH_CLIENT_NAME ?? ''));
    const answer = (await response.json()) as { authorization_url?: string; detail?: unknown };
    if (response.ok && answer.authorization_url !== undefined) {
      rememberNext(next);
      location.replace(answer.authorization_url);
      return undefined;
    }
    return typeof answer.detail === 'string' ? answer.detail : 'This did not work. Try again in a minute.';
  } catch {
    return 'No answer from the service. Try again in a minute.';
  }
}
