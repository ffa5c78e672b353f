/** Where external accounts send people back to. There is nothing to see: it ends in a session or in words. */
import { PUBLIC_OAUTH_CLIENT_NAME } from '$app/env/public';
import { accounts } from '@service/contract';
import { type Cookies, error, redirect } from '@sveltejs/kit';

import { NEXT_COOKIE, NEXT_PATH } from '#lib/frame/external.ts';
import { route } from '#lib/route.ts';
import { askApi, causeOf, currentUser } from '#lib/server/api.ts';
import { log } from '#lib/server/log.ts';
import { onBehalfOf, type Visit } from '#lib/server/mounted.ts';
import { apiCookies, LOGIN_COOKIE } from '#lib/server/proxy-rules.ts';
import { landingPage } from '#lib/server/return-address.ts';
import { cookieSetTo } from '#lib/server/session-cookie.ts';
import { beginSession, leaveNotice } from '#lib/server/session.ts';
import { NO_ANSWER } from '#lib/server/sign-in.ts';

import type { PageServerLoad } from './$types';

export const trailingSlash = 'ignore';

const AGAIN = 'Go back to the login page and try again.';

/** Only the cookie of this sign-in travels, no session. */
async function callback(client: string, visit: Visit, cookies: string | null): Promise<Response> {
  const cookie = apiCookies(cookies, '');
  const path = accounts.oauthCallback(encodeURIComponent(client)).path;
  try {
    const headers = { ...onBehalfOf(visit), ...(cookie === undefined ? {} : { cookie }) };
    return await askApi(path + visit.url.search, { headers });
  } catch (reason) {
    log.error(`External sign-in has no answer: ${causeOf(reason)}`);
    error(503, NO_ANSWER);
  }
}

/** The page that somebody was on the way to when they left for their provider. */
function takeNext(cookies: Cookies): string | undefined {
  const next = cookies.get(NEXT_COOKIE);
  if (next !== undefined) cookies.delete(NEXT_COOKIE, { path: NEXT_PATH });
  return next || undefined;
}

export const load: PageServerLoad = async (event) => {
  const { cookies, url, request } = event;
  if (url.search === '') error(400, `Nothing came back from your external account. ${AGAIN}`);
  if (PUBLIC_OAUTH_CLIENT_NAME === undefined)
    error(500, 'Sign-in with an external account is not set up here. Contact your administrator.');

  const response = await callback(PUBLIC_OAUTH_CLIENT_NAME, event, request.headers.get('cookie'));
  if (!response.ok) {
    const text = await response.text();
    const detail = readDetail(text);
    if (detail === undefined) error(400, `Signing in did not work. ${AGAIN} The service said: ${text.slice(0, 500)}`);
    leaveNotice({ cookies, url }, detail);
    redirect(302, route.home());
  }
  const token = cookieSetTo(response.headers.getSetCookie(), LOGIN_COOKIE);
  if (token === undefined || !beginSession({ cookies, url }, token))
    error(400, `The service did not give a session. ${AGAIN}`);
  const { user } = await currentUser(token);
  redirect(302, landingPage(takeNext(cookies), user));
};

function readDetail(text: string): string | undefined {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    return typeof detail === 'string' ? detail : undefined;
  } catch {
    return undefined;
  }
}
