/**
 * Binds the operations of the contract to the functions that do them.
 *
 *     api.serve(accounts.getGroup, ({ params }) => groups.read(params.group_id));
 *
 * For every request the order is: JSON syntax, token and access level, page numbers, then path, query and body together,
 * then the function. Handlers see values that are valid and typed.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { Readable } from 'node:stream';
import { z } from 'zod';

import { type BodySize, type Operation, pageProblem, pageQuery, readRequest } from '@service/contract';

import { accessProblem, type Caller } from './access.ts';
import { parseMultipart } from './form-body.ts';
import { unstorableText } from './json-body.ts';
import { type Acting, actingOf } from './origin.ts';
import { invalid, refuse, type Refusal } from './refusal.ts';
import { browserProblem, cookieProblem, unsafeGetProblem } from './same-site.ts';

interface Call<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** An answer that is written while it is read, for what is too large to hold at once. */
export class Streamed {
  readonly body: Readable;
  readonly headers: Record<string, string>;

  constructor(body: Readable, headers: Record<string, string> = {}) {
    this.body = body;
    this.headers = headers;
  }
}

type Answered<Answer> = Promise<Answer | Streamed> | Answer | Streamed;

type Handler<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A, Extra> = (
  call: Call<z.output<P>, z.output<Q>, z.output<B>> & Extra,
) => Answered<A>;

export interface Api {
  /** An operation that needs a caller. */
  serve<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A>(
    operation: Operation<P, Q, B, A>,
    handler: Handler<P, Q, B, A, Pick<Caller, 'user' | 'expires'> & { by: Acting }>,
  ): void;
  /** An operation that anyone may call. */
  serveAnyone<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A>(
    operation: Operation<P, Q, B, A>,
    handler: Handler<P, Q, B, A, object>,
  ): void;
  /** What has been bound so far. */
  operations: Operation[];
}

export interface ApiOptions {
  bodyLimits: Record<BodySize, number>;
  authenticate(headers: FastifyRequest['headers']): Promise<Caller | undefined>;
  /** Tests let every answer be compared with its schema. */
  checkAnswers?: boolean;
  /** Pages are on the same origin, so that a script in one of them could call what only forms of the client may. */
  besidePages?: boolean;
}

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation;
  }
  interface FastifyRequest {
    /** The JSON body may hold text that cannot be stored. */
    doubtful: boolean;
  }
}

/** Which query parameters take every value, not only the last one. */
function listParameters(operation: Operation): Set<string> {
  const shape = operation.query instanceof z.ZodObject ? (operation.query.shape as Record<string, z.ZodType>) : {};
  const isList = (schema: z.ZodType): boolean =>
    schema instanceof z.ZodArray ||
    ((schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) && isList(schema.unwrap() as z.ZodType));
  return new Set(Object.keys(shape).filter((name) => isList(shape[name]!)));
}

function queryValues(search: URLSearchParams, lists: Set<string>): Record<string, unknown> {
  const values: Record<string, unknown> = Object.fromEntries(search);
  for (const name of lists) if (search.has(name)) values[name] = search.getAll(name);
  return values;
}

async function bodyOf(operation: Operation, request: FastifyRequest): Promise<unknown> {
  if (!operation.body?.form) return request.body;
  if (request.isMultipart()) return parseMultipart(request);
  return request.body ?? {};
}

const PageQuery = z.object(pageQuery);

/** Page numbers are judged before the rest, in words. */
function pageRefusal(query: Record<string, unknown>): Refusal | undefined {
  const page = PageQuery.safeParse(query);
  const problem = page.success ? pageProblem(page.data) : undefined;
  return problem === undefined ? undefined : refuse(422, problem);
}

function checkAnswer(operation: Operation, answer: unknown): void {
  const schema = operation.answer.schema;
  if (!schema) {
    if (answer !== undefined) throw new Error(`${operation.id} answers a body that its contract does not know`);
    return;
  }
  const strict = schema instanceof z.ZodObject ? schema.strict() : schema;
  const result = strict.safeParse(answer);
  if (!result.success) throw new Error(`${operation.id} breaks its contract: ${z.prettifyError(result.error)}`);
}

export function createApi(app: FastifyInstance, options: ApiOptions): Api {
  const operations: Operation[] = [];

  async function authorise(operation: Operation, request: FastifyRequest): Promise<Caller | undefined> {
    if (operation.access === 'anonymous') return undefined;
    const caller = await options.authenticate(request.headers);
    const problem =
      accessProblem(operation.access, caller) ??
      (operation.unsafeGet ? unsafeGetProblem(request.headers) : undefined) ??
      (operation.unsafeGet && options.besidePages && caller?.via === 'cookie'
        ? browserProblem(request.headers)
        : undefined) ??
      (operation.method !== 'GET' && caller?.via === 'cookie' ? cookieProblem(request.headers) : undefined);
    if (problem) throw problem;
    return caller;
  }

  function bind(operation: Operation, handler: (call: never) => unknown): void {
    operations.push(operation);
    const lists = listParameters(operation);
    app.route({
      method: operation.method,
      url: operation.path.replace(/\{(\w+)\}/g, ':$1'),
      bodyLimit: options.bodyLimits[operation.body?.size ?? 'ordinary'],
      config: { operation },
      handler: async (request, reply) => {
        const caller = await authorise(operation, request);
        const query = queryValues(request.query as URLSearchParams, lists);
        const pageTrouble = operation.paginated ? pageRefusal(query) : undefined;
        if (pageTrouble) throw pageTrouble;
        const body = await bodyOf(operation, request);
        const bad = request.doubtful ? unstorableText(body) : undefined;
        if (bad) {
          const msg = 'Value error, Remove the characters that cannot be stored: U+0000, or half of a surrogate pair.';
          throw invalid([{ type: 'value_error', loc: ['body', ...bad], msg }]);
        }
        const read = readRequest(operation, { params: request.params, query, body });
        if ('entries' in read) throw invalid(read.entries);
        // a large body is held once, in its validated form
        request.body = undefined;
        const by = actingOf(caller, request);
        const call = { ...read.value, request, reply, user: caller?.user, expires: caller?.expires, by };
        const answer = await handler(call as never);
        const { status, mediaType } = operation.answer;
        if (answer instanceof Streamed) {
          reply.code(status).headers({ 'content-type': mediaType, ...answer.headers });
          return reply.send(answer.body);
        }
        if (options.checkAnswers) checkAnswer(operation, answer);
        if (answer === undefined) return reply.code(status).send();
        reply.code(status).header('content-type', mediaType === 'text/csv' ? 'text/csv; charset=utf-8' : mediaType);
        return reply.send(
          typeof answer === 'string' && mediaType !== 'application/json' ? answer : JSON.stringify(answer),
        );
      },
    });
  }

  return { operations, serve: bind, serveAnyone: bind };
}

const matcher = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);

/** Answers 405 where a path exists with other methods. Call it when everything is bound. */
export function refuseOtherMethods(app: FastifyInstance, paths: Map<string, Set<string>>): void {
  for (const [path, allowed] of paths) {
    // `…/workflow/import/` is also a `…/workflow/{workflow_id}/`, which answers for the methods that import has not.
    const covered = [...paths.keys()].some((other) => other !== path && matcher(other).test(path));
    if (covered) continue;
    app.route({
      method: METHODS.filter((method) => !allowed.has(method)),
      url: path.replace(/\{(\w+)\}/g, ':$1'),
      onRequest: () => {
        throw refuse(405, 'Method Not Allowed', { allow: [...allowed].join(', ') });
      },
      handler: () => undefined,
    });
  }
}
