/** Which part of the service answers where both are on one port: pages and files are the client's, the rest is the API. */

const OF_THE_API = ['/api', '/auth', '/admin/v2', '/docs', '/redoc', '/openapi.json', '/metrics'];
/** Forms of API addresses that only the client's own calls have. */
const PROXIED = ['/api/admin', '/api/auth'];
/** Pages among the addresses of the API, with and without slash, and what Kit asks for when it opens them. */
const PAGES = /^\/auth\/login(\/oauth2)?(\/|\/__data\.json)?$/;
/** With a slash it is the API's. */
const LOGOUT = '/auth/token/logout';

const isBelow = (path: string, place: string) => path === place || path.startsWith(`${place}/`);

/** `target` is what stands in the first line of the request. */
export function isOfTheClient(method: string, target: string): boolean {
  if (!target.startsWith('/')) return false;
  const path = target.split(/[?#]/, 1)[0]!.replace(/\/{2,}/g, '/');
  if (PAGES.test(path) || (path === LOGOUT && method === 'POST')) return true;
  if (PROXIED.some((place) => isBelow(path, place))) return true;
  return !OF_THE_API.some((place) => isBelow(path, place));
}
