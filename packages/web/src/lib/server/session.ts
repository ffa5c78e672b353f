/** The session of a request: its cookies, and who the API says it is. */
import {
  AUTH_COOKIE_DOMAIN,
  AUTH_COOKIE_NAME,
  AUTH_COOKIE_PATH,
  AUTH_COOKIE_SAME_SITE,
  AUTH_COOKIE_SECURE,
} from '$app/env/private';
import type { Cookies, RequestEvent } from '@sveltejs/kit';

import { apiVersion, currentUser } from './api.ts';
import {
  cookieAttributes,
  type CookieSettings,
  deviceName,
  earlierAttributes,
  expiryOf,
  ownName,
} from './session-cookie.ts';

const SETTINGS: CookieSettings = {
  name: AUTH_COOKIE_NAME,
  secure: AUTH_COOKIE_SECURE,
  domain: AUTH_COOKIE_DOMAIN,
  path: AUTH_COOKIE_PATH,
  sameSite: AUTH_COOKIE_SAME_SITE,
};
const OWN = ownName(AUTH_COOKIE_NAME);
const DEVICE = deviceName(AUTH_COOKIE_NAME);
const DEVICE_SECONDS = 365 * 86_400;
const NOTICE = 'service_notice';
const NOTICE_SECONDS = 300;

type Visit = Pick<RequestEvent, 'cookies' | 'url'>;

export const tokenOf = (cookies: Cookies): string | undefined => cookies.get(AUTH_COOKIE_NAME) || undefined;
const ownTokenOf = (cookies: Cookies): string | undefined => cookies.get(OWN) || undefined;

function setCookie({ cookies, url }: Visit, name: string, token: string): boolean {
  const expires = expiryOf(token);
  if (expires === undefined) return false;
  dropEarlier({ cookies, url }, name);
  cookies.set(name, token, { ...cookieAttributes(SETTINGS, url), expires });
  return true;
}

/** Before the cookie itself: a browser that takes both for one cookie keeps what came last. */
function dropEarlier({ cookies, url }: Visit, name: string): void {
  for (const attributes of earlierAttributes(SETTINGS, url))
    cookies.set(name, '', { ...attributes, expires: new Date(0) });
}

function dropCookie({ cookies, url }: Visit, name: string): void {
  dropEarlier({ cookies, url }, name);
  cookies.set(name, '', { ...cookieAttributes(SETTINGS, url), expires: new Date(0) });
}

/** Begins a session. False when this is no token that tells when it ends. */
export function beginSession(visit: Visit, token: string): boolean {
  if (!setCookie(visit, AUTH_COOKIE_NAME, token)) return false;
  if (ownTokenOf(visit.cookies) !== undefined) dropCookie(visit, OWN);
  return true;
}

/** Goes on with a session whose token was exchanged for another. */
export const renewSession = (visit: Visit, token: string): boolean => setCookie(visit, AUTH_COOKIE_NAME, token);

/** What shows that this browser has signed in before. It outlives sessions, and opens nothing. */
export const deviceOf = (cookies: Cookies): string | undefined => cookies.get(DEVICE) || undefined;

export function keepDevice({ cookies, url }: Visit, note: string): void {
  cookies.set(DEVICE, note, { ...cookieAttributes(SETTINGS, url), maxAge: DEVICE_SECONDS });
}

/** Also without a session: a cookie that the browser still holds has to go. */
export function endSession(visit: Visit): void {
  dropCookie(visit, AUTH_COOKIE_NAME);
  if (ownTokenOf(visit.cookies) !== undefined) dropCookie(visit, OWN);
}

/** Goes on as somebody else; the first own token is kept for the way back. */
export function beginImpersonation(visit: Visit, token: string): boolean {
  const own = ownTokenOf(visit.cookies) ?? tokenOf(visit.cookies);
  if (own === undefined || !setCookie(visit, AUTH_COOKIE_NAME, token)) return false;
  return setCookie(visit, OWN, own);
}

/** Puts the own token back. False when there is none, or not any more. */
export function endImpersonation(visit: Visit): boolean {
  const own = ownTokenOf(visit.cookies);
  return own !== undefined && beginSession(visit, own);
}

/** A sentence for the home page, shown once. */
export function leaveNotice({ cookies, url }: Visit, text: string): void {
  cookies.set(NOTICE, text.slice(0, 1000), {
    httpOnly: true,
    secure: url.protocol === 'https:',
    path: '/',
    sameSite: 'lax',
    maxAge: NOTICE_SECONDS,
  });
}

export function takeNotice({ cookies, url }: Visit): string | undefined {
  const text = cookies.get(NOTICE);
  if (text !== undefined) cookies.delete(NOTICE, { path: '/', secure: url.protocol === 'https:' });
  return text || undefined;
}

/** Whose session it is. With a session one call answers both questions: who this is, and whether the API is there. */
export async function readSession({ cookies }: Pick<RequestEvent, 'cookies'>): Promise<App.Locals> {
  const token = tokenOf(cookies);
  const impersonating = ownTokenOf(cookies) !== undefined;
  if (token === undefined) return { user: undefined, apiAlive: (await apiVersion()) !== undefined, impersonating };
  const { user, alive } = await currentUser(token);
  return { user, apiAlive: alive, impersonating };
}
