/** Which other origins may read with a person's session: viewers that an administrator listed, and nobody else. */
import type { IncomingHttpHeaders } from 'node:http';

const EXPOSED = 'Content-Range, ETag, Content-Length, Last-Modified, Accept-Ranges';
const ONE_DAY = '86400';

/** For every answer, refusals too: a viewer shows why it gets nothing. */
export function crossOriginHeaders(
  origins: readonly string[],
  { origin }: IncomingHttpHeaders,
): Record<string, string> {
  if (origins.length === 0) return {};
  if (origin === undefined || !origins.includes(origin)) return { vary: 'Origin' };
  return {
    vary: 'Origin',
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': EXPOSED,
  };
}

/** What a browser asks before it sends a request with these headers. */
export const PREFLIGHT = {
  'access-control-allow-methods': 'GET, HEAD, OPTIONS',
  'access-control-allow-headers': 'Range, Authorization, If-None-Match, If-Modified-Since, If-Range',
  'access-control-max-age': ONE_DAY,
};
