/** The calls of pages to the API. No check here: the API refuses what it must. */
import { AUTH_COOKIE_NAME, BODY_SIZE_LIMIT, SERVICE_SERVER_HOST } from '$app/env/private';
import { json } from '@sveltejs/kit';

import { causeOf, logFailure } from '#lib/server/api.ts';
import { log } from '#lib/server/log.ts';
import { onBehalfOf, service } from '#lib/server/mounted.ts';
import { forward } from '#lib/server/proxy.ts';
import { LOGIN_COOKIE, passedTo, requestHeaders } from '#lib/server/proxy-rules.ts';
import { cookieSetTo } from '#lib/server/session-cookie.ts';
import { renewSession } from '#lib/server/session.ts';

import type { RequestEvent, RequestHandler } from './$types';

export const trailingSlash = 'ignore';

const isTooLarge = (reason: unknown): boolean =>
  reason instanceof Error && ((reason as { status?: unknown }).status === 413 || isTooLarge(reason.cause));

const refuseLarge = (message: string) => json({ message }, { status: 413, headers: { connection: 'close' } });

/** A session that the API has renewed goes into our cookie, with the name and attributes that it has here. */
function takeRenewedSession(visit: Pick<RequestEvent, 'cookies' | 'url'>, answer: Response): void {
  const lines = answer.headers.getSetCookie();
  const token = cookieSetTo(lines, LOGIN_COOKIE);
  if (token === undefined || !renewSession(visit, token)) return;
  answer.headers.delete('set-cookie');
  for (const line of lines.filter((one) => !one.startsWith(`${LOGIN_COOKIE}=`)))
    answer.headers.append('set-cookie', line);
}

/** What the API needs to know of the browser. The user agent tells one on plain http, and only with the pass. */
function headersOf(event: RequestEvent): Record<string, string> {
  const { headers } = event.request;
  const userAgent = service === undefined || event.isSubRequest ? null : headers.get('user-agent');
  return {
    ...requestHeaders(headers, AUTH_COOKIE_NAME),
    ...onBehalfOf(event),
    ...(userAgent === null ? {} : { 'user-agent': userAgent }),
  };
}

const pass: RequestHandler = async (event) => {
  const { request, url } = event;
  const { method } = request;
  const began = new Date();
  if (!event.isSubRequest) log.info(`${method} ${url.pathname}`);

  const passed = passedTo(method, url.pathname);
  if ('reason' in passed) return json({ detail: passed.reason, message: passed.reason }, { status: passed.status });
  const address = SERVICE_SERVER_HOST + passed.path;
  const length = Number(request.headers.get('content-length') ?? 0);
  const limit = BODY_SIZE_LIMIT ?? Infinity;
  if (length > limit) return refuseLarge(`${length} bytes are more than the ${limit} that can be sent here.`);

  try {
    const answer = await forward({
      url: address + url.search,
      method,
      headers: headersOf(event),
      body: request.body,
      signal: request.signal,
    });
    if (answer.status >= 400) logFailure(method, address, answer.status, began);
    else takeRenewedSession(event, answer);
    return answer;
  } catch (failure) {
    if (isTooLarge(failure)) return refuseLarge(`This is more than the ${limit} bytes that can be sent here.`);
    const message = causeOf(failure);
    if (!request.signal.aborted)
      log.error(`${method} ${address} has no answer, began ${began.toISOString()}: ${message}`);
    return json({ message }, { status: 500 });
  }
};

export const GET = pass;
export const POST = pass;
export const PUT = pass;
export const PATCH = pass;
export const DELETE = pass;
