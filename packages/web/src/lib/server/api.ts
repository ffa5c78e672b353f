/** The web server's own calls to the API. The browser never calls the API itself; its calls go through `proxy.ts`. */
import { SERVICE_SERVER_HOST } from '$app/env/private';
import { accounts, type User } from '@service/contract';

import { log } from './log.ts';
import { LOGIN_COOKIE } from './proxy-rules.ts';

const ANSWER_WITHIN_MS = 30_000;
const ALIVE_WITHIN_MS = 3000;
const EXPECTED = new Set([401, 404, 422]);

/** How a failed call is written down: what happens every day is not an error. */
export function logFailure(method: string, url: string, status: number, began: Date): void {
  const line = `${method} ${url} was answered with ${status}, began ${began.toISOString()}`;
  if (EXPECTED.has(status)) log.info(line);
  else log.error(line);
}

export interface ApiCall {
  method?: string;
  token?: string | undefined;
  headers?: Record<string, string>;
  body?: URLSearchParams;
  withinMs?: number;
  /** An answer that tells something and is no failure. */
  expected?: number;
}

/** One call. Throws when there is no answer. */
export async function askApi(path: string, call: ApiCall = {}): Promise<Response> {
  const { method = 'GET', token, headers, body, withinMs = ANSWER_WITHIN_MS, expected } = call;
  const began = new Date();
  const url = SERVICE_SERVER_HOST + path;
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(token === undefined ? {} : { cookie: `${LOGIN_COOKIE}=${token}` }) },
    ...(body === undefined ? {} : { body }),
    redirect: 'manual',
    signal: AbortSignal.timeout(withinMs),
  });
  if (!response.ok && response.status !== expected)
    logFailure(method, SERVICE_SERVER_HOST + path.split('?')[0]!, response.status, began);
  return response;
}

/** The text of a refusal, if there is one. */
export async function detailOf(response: Response): Promise<string | undefined> {
  const body = (await response.json().catch(() => undefined)) as { detail?: unknown } | undefined;
  return typeof body?.detail === 'string' ? body.detail : undefined;
}

/** The version of the API, or undefined when the API does not answer as it should. */
export async function apiVersion(): Promise<string | undefined> {
  const { path, answer } = accounts.alive;
  try {
    const response = await askApi(path, { withinMs: ALIVE_WITHIN_MS });
    if (response.status !== answer.status) throw new Error(`status ${response.status}`);
    const alive = answer.schema?.parse(await response.json());
    return alive?.alive ? alive.version : undefined;
  } catch (reason) {
    log.error(`No proper answer from ${SERVICE_SERVER_HOST + path}: ${causeOf(reason)}`);
    return undefined;
  }
}

/** Whose token this is. An API that fails to say so counts as not there: the token may well be right. */
export async function currentUser(token: string): Promise<{ alive: boolean; user: User | undefined }> {
  const path = `${accounts.currentUser.path}?group_ids_names=false`;
  try {
    const response = await askApi(path, { token });
    if (response.ok) return { alive: true, user: (await response.json()) as User };
    return { alive: response.status < 500, user: undefined };
  } catch (reason) {
    log.error(`No answer from ${SERVICE_SERVER_HOST + path}: ${causeOf(reason)}`);
    return { alive: false, user: undefined };
  }
}

/** The deepest cause, which is the one that tells something. */
export function causeOf(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason);
  if (reason.cause !== undefined) return causeOf(reason.cause);
  const { code } = reason as { code?: unknown };
  return reason.message || (typeof code === 'string' ? code : reason.name);
}

/** The version of the API for the foot of every page: asked once in a while, and never waited for twice. */
const KEPT_MS = 300_000;
let known: string | undefined;
let askedAt = -Infinity;
let asking: Promise<void> | undefined;

async function ask(): Promise<void> {
  known = (await apiVersion()) ?? known;
  askedAt = Date.now();
  asking = undefined;
}

export async function knownApiVersion(): Promise<string | undefined> {
  if (Date.now() - askedAt > KEPT_MS) asking ??= ask();
  if (known === undefined) await asking;
  return known;
}
