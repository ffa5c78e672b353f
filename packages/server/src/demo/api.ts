/**
 * The service's own API, called from inside its process for one person. Everything that a request is checked for is
 * checked here too.
 *
 *     const api = apiFor({ app, token }, user.id);
 *     const projects = await api(contract.projects.listProjects);
 */
import { ServiceError } from '@service/contract/errors';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';

import type { Operation } from '@service/contract';

const TOKEN_SECONDS = 300;

/** What stands in the way of a demo; the message is for people. */
export class DemoProblem extends ServiceError {
  readonly kind = 'demo-problem';
}

export interface ServiceAtWork {
  app: Pick<FastifyInstance, 'inject'>;
  /** A token of an account for a short while. */
  token(userId: number, seconds: number): Promise<string>;
}

type Values = Record<string, string | number | boolean>;

interface Given {
  params?: Values;
  query?: Values;
  /** A form, or what becomes JSON. */
  body?: unknown;
}

type AnyOperation<Answer> = Operation<z.ZodType, z.ZodType, z.ZodType, Answer>;

export type Api = <Answer>(operation: AnyOperation<Answer>, given?: Given) => Promise<Answer>;

async function payloadOf(body: unknown): Promise<{ payload?: Buffer; headers: Record<string, string> }> {
  if (body === undefined) return { headers: {} };
  const encoded = body instanceof FormData ? new Response(body) : Response.json(body);
  const payload = Buffer.from(await encoded.arrayBuffer());
  return { payload, headers: { 'content-type': encoded.headers.get('content-type')! } };
}

const pathOf = (template: string, params: Values) =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name]!));

const textQuery = (query: Values) =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, `${value}`]));

function reasonOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail: unknown };
    return typeof detail === 'string' ? detail : JSON.stringify(detail);
  } catch {
    return text;
  }
}

export function apiFor({ app, token }: ServiceAtWork, userId: number): Api {
  return async (operation, { params = {}, query = {}, body } = {}) => {
    const { headers, payload } = await payloadOf(body);
    // a token for each call: the waiting between two of them may outlast any
    const authorization = `Bearer ${await token(userId, TOKEN_SECONDS)}`;
    const answer = await app.inject({
      method: operation.method,
      url: pathOf(operation.path, params),
      query: textQuery(query),
      headers: { ...headers, authorization },
      ...(payload === undefined ? {} : { payload }),
    });
    if (answer.statusCode === operation.answer.status) return answer.json();
    throw new DemoProblem(reasonOf(answer.body));
  };
}
