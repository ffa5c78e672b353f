/**
 * Requests that a foreign web page makes a browser send. A cookie travels with them, so what changes something is refused
 * when the browser says where it comes from. Programs send none of these headers and are not concerned.
 */
import type { IncomingHttpHeaders } from 'node:http';

import { refuse, type Refusal } from './refusal.ts';

const OTHER_SITE = 'This request came from another web site. Repeat it in the client itself.';
const BY_NAVIGATION = 'This address does something and is not a page to open. Use the button in the client.';

function isForeign(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const { origin } = headers;
  if (origin === undefined) return false;
  const host = headers['x-forwarded-host'] ?? headers.host;
  return !URL.canParse(origin) || new URL(origin).host !== host;
}

/** For a GET that changes something: neither a link nor another site may trigger it, whatever carries the token. */
export function unsafeGetProblem(headers: IncomingHttpHeaders): Refusal | undefined {
  if (headers['sec-fetch-mode'] === 'navigate') return refuse(403, BY_NAVIGATION);
  return isForeign(headers) ? refuse(403, OTHER_SITE) : undefined;
}

/**
 * For the same GET where pages are on the same origin: no browser may send it with the cookie. On plain http browsers
 * leave out where a request comes from, but not what they are.
 */
export function browserProblem(headers: IncomingHttpHeaders): Refusal | undefined {
  const isBrowser = headers['sec-fetch-site'] !== undefined || /^(Mozilla|Opera)\//.test(headers['user-agent'] ?? '');
  return isBrowser ? refuse(403, BY_NAVIGATION) : undefined;
}

/** For everything else that changes something: a header cannot be forged by another site, a cookie can be made to travel. */
export function cookieProblem(headers: IncomingHttpHeaders): Refusal | undefined {
  return isForeign(headers) ? refuse(403, OTHER_SITE) : undefined;
}
