/** What the proxy passes on to the API, as rules without I/O. */
import { accounts, isAddressOf, jobs, type Operation, pathOf, segmentsOf } from '@service/contract';

/** The name of the session cookie on the side of the API, whatever its name in browsers. */
export const LOGIN_COOKIE = 'fastapiusersauth';
const OAUTH_COOKIE = 'fastapiusersoauthcsrf';

const PASSED_HEADERS = ['content-type', 'content-length', 'accept', 'last-event-id', 'if-none-match'];
/** What a browser says of the page, so that the API can judge as if it were asked directly. */
const OF_THE_PAGE = ['origin', 'sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest'];

/** They are about one connection and not about the answer. */
const OF_THE_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'trailer', 'te']);

/** The cookies for the API out of those of the browser. */
export function apiCookies(header: string | null, sessionCookie: string): string | undefined {
  const cookies = new Map<string, string>();
  for (const pair of (header ?? '').split(';')) {
    const [name, ...value] = pair.trim().split('=');
    if (name === sessionCookie) cookies.set(LOGIN_COOKIE, value.join('='));
    else if (name === OAUTH_COOKIE) cookies.set(OAUTH_COOKIE, value.join('='));
  }
  return cookies.size === 0 ? undefined : [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
}

export function requestHeaders(headers: Headers, sessionCookie: string): Record<string, string> {
  const passed = [...PASSED_HEADERS, ...OF_THE_PAGE].flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const cookie = apiCookies(headers.get('cookie'), sessionCookie);
  return { ...Object.fromEntries(passed), ...(cookie === undefined ? {} : { cookie }) };
}

/** Pairs as Node gives them: name, value, name, value. Some names, like set-cookie, come more than once. */
export function answerHeaders(rawHeaders: string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (!OF_THE_CONNECTION.has(name.toLowerCase())) headers.append(name, rawHeaders[at + 1]!);
  }
  return headers;
}

const OPERATIONS = [accounts, jobs].flatMap((area) => Object.values(area) as Partial<Operation>[]);
/** Some operations are made for the name of a provider, and have no address before. */
const hasAddress = (operation: Partial<Operation>): operation is Operation => operation.path !== undefined;
const CHANGING_GETS = OPERATIONS.filter(hasAddress).filter(({ unsafeGet }) => unsafeGet);
const IMPERSONATIONS = [accounts.impersonate, accounts.impersonateByPost];

export type Passed = { path: string } | { status: 400 | 403; reason: string };

const refused = (status: 400 | 403, reason: string): Passed => ({ status, reason });

/**
 * Where a call goes: `/api/auth/x` → `/auth/x/`, `/api/admin/x` → `/admin/x/`, `/api/v2/x` → `/api/v2/x/`; or why it does
 * not pass. What is judged is what the router of the API will read, and exactly that is sent.
 */
export function passedTo(method: string, pathname: string): Passed {
  const given = segmentsOf(pathname);
  if (given === undefined) return refused(400, 'This address can be read in more than one way. Write it plainly.');
  const segments = given[1] === 'admin' || given[1] === 'auth' ? given.slice(1) : given;
  const leadsTo = (operations: Pick<Operation, 'path'>[]) => operations.some((one) => isAddressOf(one, segments));
  if (leadsTo(IMPERSONATIONS))
    return refused(403, 'A page cannot ask for another person’s token. Use the form for it.');
  if ((method === 'GET' || method === 'HEAD') && leadsTo(CHANGING_GETS))
    return refused(403, 'This address does something, so a link cannot open it. Send a POST.');
  return { path: pathOf(segments) };
}
