/** Around every request: whose it is, whether it may, and the headers of its answer. */
import { dev } from '$app/env';
import { AUTH_COOKIE_NAME, ORIGIN } from '$app/env/private';
import { PUBLIC_HELP_LINKS_BASE_URL, PUBLIC_SERVICE_DATA_URL } from '$app/env/public';
import { error, redirect } from '@sveltejs/kit';
import type { Handle, HandleServerError, ServerInit } from '@sveltejs/kit/hooks';
import { randomUUID } from 'node:crypto';

import { ApiProblem } from '#lib/api/problem.ts';
import { area, endpoint, isBelow, route } from '#lib/route.ts';
import { refusalOfForeignPage, withSmallBody } from '#lib/server/entrance.ts';
import { guard, refusalForScripts } from '#lib/server/guard.ts';
import { headersFor, isOfTheApi, withCompanions } from '#lib/server/headers.ts';
import { markInUse } from '#lib/server/in-use.ts';
import { log, logStart } from '#lib/server/log.ts';
import { service } from '#lib/server/mounted.ts';
import { readSession, takeNotice } from '#lib/server/session.ts';
import { isTheme, THEME_COOKIE } from '#lib/ui/theme.ts';

const ASSETS = '/_app/';
const FOR_SCRIPTS = area.demo;
const COMPANIONS = { data: PUBLIC_SERVICE_DATA_URL, help: PUBLIC_HELP_LINKS_BASE_URL };
const NO_SESSION_NEEDED = new Set([endpoint.alive, endpoint.signOut]);

export const init: ServerInit = () => {
  if (dev) return;
  logStart();
  if (service === undefined) return;
  markInUse(service.build);
  service.client = { headers: headersFor, origin: ORIGIN, sessionCookie: AUTH_COOKIE_NAME };
};

/** A built server gives the headers to everything, files and redirects too; in development it is pages alone. */
function secure(response: Response): Response {
  if (dev) for (const [name, value] of Object.entries(headersFor('/', false))) response.headers.set(name, value);
  const policy = response.headers.get('content-security-policy');
  if (policy !== null) response.headers.set('content-security-policy', withCompanions(policy, COMPANIONS));
  return response;
}

/** The session of the request; throws where the page guard turns it away. */
async function enter(event: Parameters<Handle>[0]['event']): Promise<void> {
  const { pathname, search } = event.url;
  if (pathname.startsWith(ASSETS) || NO_SESSION_NEEDED.has(event.route.id ?? '')) return;
  Object.assign(event.locals, await readSession(event));
  if (pathname === route.home() && event.request.method === 'GET') event.locals.notice = takeNotice(event);
  // an address that is not there is not there for anybody
  if (event.route.id === null) return;
  const reads = event.request.method === 'GET' || event.request.method === 'HEAD';
  const turnedAway = guard({ ...event.locals, pathname, address: reads ? pathname + search : undefined });
  if (turnedAway === undefined) return;
  if ('redirect' in turnedAway && isBelow(pathname, FOR_SCRIPTS)) error(...refusalForScripts(event.locals));
  if ('redirect' in turnedAway) redirect(302, turnedAway.redirect);
  // pages are refused by their layout, which can show it properly
  if (!reads) error(403, turnedAway.refused);
}

export const handle: Handle = async ({ event: sent, resolve }) => {
  const { pathname } = sent.url;
  Object.assign(sent.locals, { user: undefined, apiAlive: true, impersonating: false } satisfies App.Locals);
  const refusal = sent.isSubRequest ? undefined : refusalOfForeignPage(sent.request, sent.url);
  if (refusal !== undefined) return refusal;
  if (isOfTheApi(pathname)) return resolve(sent);
  if (pathname.startsWith(ASSETS)) log.trace(`${sent.request.method} ${pathname}`);
  else log.info(`${sent.request.method} ${pathname}`);
  const request = await withSmallBody(sent.request);
  if (request instanceof Response) return secure(request);
  const event = { ...sent, request };
  await enter(event);
  const theme = event.cookies.get(THEME_COOKIE);
  const chosen = isTheme(theme) ? theme : '';
  const transformPageChunk = ({ html }: { html: string }) => html.replace('%theme%', chosen);
  const filterSerializedResponseHeaders = (name: string) => name === 'x-request-id';
  return secure(await resolve(event, { transformPageChunk, filterSerializedResponseHeaders }));
};

const DEFECT = 'Something went wrong on our side. Try again; if it keeps happening, contact your administrator.';

export const handleError: HandleServerError = (caught) => {
  if (caught.kind === 'unknown' && caught.error instanceof ApiProblem) {
    const { status, message, requestId } = caught.error;
    return { status: status || 503, message, ...(requestId === undefined ? {} : { id: requestId }) };
  }
  if (caught.kind !== 'unknown') return {};
  const id = randomUUID();
  const { error: reason, event } = caught;
  const text = reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);
  log.error(`${event.request.method} ${event.url.pathname} failed (${id}): ${text}`);
  return { message: DEFECT, id };
};
