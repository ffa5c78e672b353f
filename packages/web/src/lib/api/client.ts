/**
 * Calls the API through the web server, by the name of an operation.
 *
 *     const job = await call('jobs.getJob', { params: { project_id: 1, job_id: 2 } });
 *
 * What an operation takes and gives is known from the contract. A refusal is thrown as an `ApiProblem`, with words to show.
 */
import operations from 'virtual:operations';
import type { accounts, AnswerOf, CallOf, jobs, projects, tasks } from '@service/contract';

import { parseJson, writeJson } from '../json.ts';
import { clean } from './clean.ts';
import { listeners } from './listeners.ts';
import { ApiProblem, problemOf } from './problem.ts';

interface Areas {
  accounts: typeof accounts;
  jobs: typeof jobs;
  projects: typeof projects;
  tasks: typeof tasks;
}

export type OperationName = {
  [Area in keyof Areas]: `${Area}.${keyof Areas[Area] & string}`;
}[keyof Areas];

type OperationNamed<Name> = Name extends `${infer Area extends keyof Areas}.${infer Key}`
  ? Key extends keyof Areas[Area]
    ? Areas[Area][Key]
    : never
  : never;

export type Answer<Name extends OperationName> = AnswerOf<OperationNamed<Name>>;

type Fetch = typeof fetch;

/** Which dataset: parameters of most operations on images. */
export interface DatasetIds {
  project_id: number;
  dataset_id: number;
}

export interface CallOptions {
  /** Kit's own fetch inside a load function. */
  fetch?: Fetch;
  signal?: AbortSignal;
  /** Numbers stay as they were written, for arguments of tasks and what else is given back (json.ts). */
  exact?: boolean;
  /** Asked in the background: a session that is over is left to those who did something. */
  quiet?: boolean;
}

const proxied = (path: string) => path.replace(/^\/(auth|admin)\//, '/api/$1/').replace(/\/$/, '');

function queryOf(query: object): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, unknown][]) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

interface Given {
  params?: object;
  query?: object;
  body?: unknown;
}

/** Where an operation is, seen from the browser: for links to downloads and for event streams. */
export function addressOf(name: OperationName, { params = {}, query = {} }: Given = {}): string {
  const [, path] = operations[name]!;
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) =>
    encodeURIComponent(String((params as Record<string, unknown>)[key])),
  );
  return proxied(filled) + queryOf(query);
}

const JSON_HEADERS = { 'content-type': 'application/json' };

function encode(body: unknown): RequestInit {
  if (body === undefined) return {};
  if (body instanceof FormData) return { body };
  const { value, changed } = clean(body);
  if (changed.length > 0) listeners.cleaned?.(changed);
  return { body: writeJson(value), headers: JSON_HEADERS };
}

async function ask(address: string, request: RequestInit, options: CallOptions): Promise<Response> {
  try {
    const response = await (options.fetch ?? fetch)(address, {
      ...request,
      ...(options.signal ? { signal: options.signal } : {}),
    });
    if (response.status >= 500) listeners.noAnswer?.();
    return response;
  } catch (error) {
    if (options.signal?.aborted) throw error;
    listeners.noAnswer?.();
    throw new ApiProblem(0, 'Can’t reach the server. Check your connection and try again.');
  }
}

/** For answers that are no JSON, such as downloads. Whose session has ended is asked to sign in again, as in `call`. */
export async function answered(
  address: string,
  request: RequestInit = {},
  options: CallOptions = {},
): Promise<Response> {
  const response = await ask(address, request, options);
  const end = listeners.sessionEnd;
  if (response.status !== 401 || end === undefined || options.quiet) return response;
  if (options.fetch && end.isOnTheWay()) end.leave();
  await end.signInAgain();
  return ask(address, request, options);
}

export async function call<Name extends OperationName>(
  name: Name,
  given: CallOf<OperationNamed<Name>>,
  options: CallOptions = {},
): Promise<Answer<Name>> {
  const parts: Given = given;
  const [method] = operations[name]!;
  const response = await answered(addressOf(name, parts), { method, ...encode(parts.body) }, options);
  if (!response.ok) throw await problemOf(response);
  const text = await response.text();
  return (text === '' ? undefined : options.exact ? parseJson(text) : JSON.parse(text)) as Answer<Name>;
}
