/** What the proxy passes on to the API, as rules without I/O. */
import { accounts, jobs, type Operation } from '@service/contract';

/** The name of the session cookie on the side of the API, whatever its name in browsers. */
export const LOGIN_COOKIE = 'fastapiusersauth';
const OAUTH_COOKIE = 'fastapiusersoauthcsrf';

const PASSED_HEADERS = ['content-type', 'content-length', 'accept', 'last-event-id', 'if-none-match'];

/** They are about one connection and not about the answer. */
const OF_THE_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'trailer', 'te']);

/** `/api/auth/x` → `/auth/x/`, `/api/admin/x` → `/admin/x/`, `/api/v2/x` → `/api/v2/x/`. */
export function apiPath(pathname: string): string {
  const path = pathname.replace(/^\/api\/(admin|auth)(?=\/|$)/, '/$1');
  return path.endsWith('/') ? path : `${path}/`;
}

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
  const passed = PASSED_HEADERS.flatMap((name) => {
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

type Maybe = Partial<Pick<Operation, 'path' | 'unsafeGet'>>;

const CHANGING_GETS = [accounts, jobs]
  .flatMap((operations) => Object.values(operations) as Maybe[])
  .flatMap(({ path, unsafeGet }) => (unsafeGet && path !== undefined ? [path] : []))
  .map((path) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`));

const IMPERSONATION = accounts.impersonateByPost.path;

/** Why a call does not pass, or undefined. */
export function blocked(method: string, path: string): string | undefined {
  let plain = path;
  try {
    plain = decodeURIComponent(path);
  } catch {
    // the API cannot read it either, and says so
  }
  if (plain.startsWith(IMPERSONATION)) return 'A page cannot ask for the token of somebody else. Use the form for it.';
  const reads = method === 'GET' || method === 'HEAD';
  if (reads && CHANGING_GETS.some((pattern) => pattern.test(plain)))
    return 'This address does something, so a link cannot open it. Send a POST.';
  return undefined;
}
