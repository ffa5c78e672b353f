/** The calls of pages to the API. No check here: the API refuses what it must. */
import { AUTH_COOKIE_NAME, BODY_SIZE_LIMIT, SERVICE_SERVER_HOST } from '$app/env/private';
import { json } from '@sveltejs/kit';

import { causeOf, logFailure } from '#lib/server/api.ts';
import { log } from '#lib/server/log.ts';
import { onBehalfOf, service } from '#lib/server/mounted.ts';
import { forward } from '#lib/server/proxy.ts';
import { apiPath, blocked, requestHeaders } from '#lib/server/proxy-rules.ts';

import type { RequestHandler } from './$types';

export const trailingSlash = 'ignore';

const isTooLarge = (reason: unknown): boolean =>
  reason instanceof Error && ((reason as { status?: unknown }).status === 413 || isTooLarge(reason.cause));

const refuseLarge = (message: string) => json({ message }, { status: 413, headers: { connection: 'close' } });

const pass: RequestHandler = async ({ request, url, isSubRequest, getClientAddress }) => {
  const { method } = request;
  const path = apiPath(url.pathname);
  const address = SERVICE_SERVER_HOST + path;
  const began = new Date();
  if (!isSubRequest) log.info(`${method} ${url.pathname}`);

  const reason = blocked(method, path);
  if (reason !== undefined) return json({ detail: reason, message: reason }, { status: 403 });
  const length = Number(request.headers.get('content-length') ?? 0);
  const limit = BODY_SIZE_LIMIT ?? Infinity;
  if (length > limit) return refuseLarge(`${length} bytes are more than the ${limit} that can be sent here.`);

  try {
    const answer = await forward({
      url: address + url.search,
      method,
      headers: {
        ...requestHeaders(request.headers, AUTH_COOKIE_NAME),
        ...(service === undefined ? {} : onBehalfOf(getClientAddress())),
      },
      body: request.body,
      signal: request.signal,
    });
    if (answer.status >= 400) logFailure(method, address, answer.status, began);
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
