/**
 * Which part of the service answers where both are on one port: pages and files are the client's, the rest is the API's, or of
 * what stands beside it.
 */
import { segmentsOf } from '@service/contract';

const OF_THE_API = ['/api', '/auth', '/admin/v2', '/docs', '/redoc', '/openapi.json', '/metrics', '/manual'];
/** Forms of API addresses that only the client's own calls have. */
const PROXIED = ['/api/admin', '/api/auth'];
/** Pages among the addresses of the API, and what Kit asks for when it opens them. */
const PAGES = /^\/auth\/login(\/oauth2)?(\/__data\.json)?$/;
/** With a slash it is the API's. */
const LOGOUT = '/auth/token/logout';

const isBelow = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`);

/**
 * `target` is what stands in the first line of the request; `others` are addresses that neither of both has. What can be read in more than one way no page has.
 */
export function isOfTheClient(method: string, target: string, others: readonly string[] = []): boolean {
  const written = target.split('?', 1)[0]!;
  const segments = segmentsOf(written);
  if (segments === undefined) return false;
  const path = `/${segments.join('/')}`;
  if (PAGES.test(path) || (path === LOGOUT && method === 'POST' && !written.endsWith('/'))) return true;
  if (PROXIED.some((prefix) => isBelow(path, prefix))) return true;
  return ![...OF_THE_API, ...others].some((prefix) => isBelow(path, prefix));
}
