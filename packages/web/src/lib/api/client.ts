/**
 * Calls the API through the web server, by the name of an operation.
 *
 *     const job = await call('jobs.getJob', { params: { project_id: 1, job_id: 2 } });
 *
 * What an operation takes and gives is known from the contract. A refusal is thrown as an `ApiProblem`, with words to show.
 */
import operations from 'virtual:operations';
import type { accounts, AnswerOf, CallOf, jobs, projects, tasks } from '@service/contract';

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

type Fetch = typeof fetch;

export interface CallOptions {
  /** Kit's own fetch inside a load function. */
  fetch?: Fetch;
  signal?: AbortSignal;
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

/** Where an operation is, seen from the browser. */
function addressOf(name: OperationName, { params = {}, query = {} }: Given = {}): string {
  const [, path] = operations[name]!;
  const filled = path.replace(/\{(\w+)\}/g, (_, key: string) =>
    encodeURIComponent(String((params as Record<string, unknown>)[key])),
  );
  return proxied(filled) + queryOf(query);
}

export async function call<Name extends OperationName>(
  name: Name,
  given: CallOf<OperationNamed<Name>>,
  options: CallOptions = {},
): Promise<AnswerOf<OperationNamed<Name>>> {
  const parts: Given = given;
  const { body } = parts;
  const [method] = operations[name]!;
  const isForm = body instanceof FormData;
  let response: Response;
  try {
    response = await (options.fetch ?? fetch)(addressOf(name, parts), {
      method,
      ...(options.signal ? { signal: options.signal } : {}),
      ...(body === undefined ? {} : isForm ? { body } : { body: JSON.stringify(body), headers: JSON_HEADERS }),
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiProblem(0, 'The service does not answer. Look at your connection and try again.');
  }
  if (!response.ok) throw await problemOf(response);
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as AnswerOf<OperationNamed<Name>>;
}

const JSON_HEADERS = { 'content-type': 'application/json' };
