/**
 * Binds the operations of the contract to the functions that do them.
 *
 *     api.serve(accounts.getGroup, ({ params }) => groups.read(params.group_id));
 *
 * For every request the order is: JSON syntax, token and access level, page numbers, then path, query and body together,
 * then the function. Handlers see values that are valid and typed. Who calls is asked before a body is read, since it
 * decides how much of it is.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { z } from 'zod';

import { type Operation, pageProblem, pageQuery, readWithBody } from '@service/contract';

import { type Caller, callerProblem } from './access.ts';
import { checkAnswer, sendAnswer } from './answer.ts';
import type { Pack, Packed } from './bodies/pack.ts';
import type { Bodies } from './bodies/take.ts';
import { createLongAnswers } from './long-answers.ts';
import { type Acting, actingOf } from './origin.ts';
import { invalid, refuse, type Refusal } from './refusal.ts';
import { foreignPageProblem, type Site } from './same-site.ts';
import { Streamed, whileTokenStands } from './streamed.ts';
import type { Written } from './written.ts';

interface Call<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  request: FastifyRequest;
  reply: FastifyReply;
}

interface Called {
  user: Caller['user'];
  caller: Caller;
  /** For functions that have it written down. */
  by: Acting;
}

type Given<Answer> = Answer | Written<Answer> | Streamed;
type Answered<Answer> = Promise<Given<Answer>> | Given<Answer>;

type Handler<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A, Extra> = (
  call: Call<z.output<P>, z.output<Q>, z.output<B>> & Extra,
) => Answered<A>;

export interface Api {
  /** An operation that needs a caller. */
  serve<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A>(
    operation: Operation<P, Q, B, A>,
    handler: Handler<P, Q, B, A, Called>,
  ): void;
  /** An operation that anyone may call. */
  serveAnyone<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A>(
    operation: Operation<P, Q, B, A>,
    handler: Handler<P, Q, B, A, object>,
  ): void;
  /** An operation whose long lists come as texts for the database (bodies/pack.ts). */
  servePacked<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A, Rest>(
    operation: Operation<P, Q, B, A>,
    pack: Pack<z.output<B>, Rest>,
    handler: (call: Call<z.output<P>, z.output<Q>, Packed<Rest>> & Called) => Answered<A>,
  ): void;
  /** What has been bound so far. */
  operations: Operation[];
}

export interface ApiOptions {
  bodies: Bodies;
  authenticate(headers: FastifyRequest['headers']): Promise<Caller | undefined>;
  /** Calls `end` when the token of a caller has ended; gives back what lets go. */
  hold(caller: Caller, end: () => void): () => void;
  /** Lets work be the person's, where people take turns. */
  forPerson<T>(person: number, work: () => T): T;
  /** Called when somebody has changed something as somebody else, before it is answered. */
  noteActing(by: Acting, operation: Operation, params: object): Promise<void>;
  /** Tests let every answer be compared with its schema. */
  checkAnswers?: boolean;
  site: Site;
}

interface Admission {
  caller?: Caller | undefined;
  problem?: Refusal | undefined;
}

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation;
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

const PageQuery = z.object(pageQuery);

/** Page numbers are judged before the rest, in words. */
function pageRefusal(query: Record<string, unknown>): Refusal | undefined {
  const page = PageQuery.safeParse(query);
  const problem = page.success ? pageProblem(page.data) : undefined;
  return problem === undefined ? undefined : refuse(422, problem);
}

export function createApi(app: FastifyInstance, options: ApiOptions): Api {
  const operations: Operation[] = [];
  const longAnswers = createLongAnswers();

  /** Who calls, and what keeps them from what they ask for. */
  async function admit(operation: Operation, request: FastifyRequest): Promise<Admission> {
    const caller = operation.access === 'anonymous' ? undefined : await options.authenticate(request.headers);
    const problem =
      callerProblem(operation, caller) ??
      (caller?.via === 'header' ? undefined : foreignPageProblem(operation, request, options.site));
    return { caller, problem };
  }

  /** Does the work for as long as the token stands. What ends tokens is short, and answers where it ends its own, too. */
  function held(operation: Operation, caller: Caller | undefined, reply: FastifyReply, work: () => unknown): unknown {
    if (!caller || operation.scope === 'session') return work();
    return whileTokenStands(
      (end) => options.hold(caller, end),
      work,
      () => reply.raw.destroy(),
    );
  }

  const changes = ({ method, unsafeGet, scope }: Operation) => (method !== 'GET' || unsafeGet) && scope !== 'read';

  function bind(operation: Operation, handler: (call: never) => unknown, isPacked: boolean): void {
    operations.push(operation);
    const lists = listParameters(operation);
    app.route({
      method: operation.method,
      url: operation.path.replace(/\{(\w+)\}/g, ':$1'),
      config: { operation },
      handler: async (request, reply) => {
        const { caller, problem } = await admit(operation, request);
        const taken = await options.bodies.take(operation, request, caller?.user.id, problem);
        let working: Promise<unknown> = Promise.resolve();
        try {
          const query = queryValues(request.query as URLSearchParams, lists);
          const pageTrouble = operation.paginated ? pageRefusal(query) : undefined;
          if (pageTrouble) throw pageTrouble;
          const read = readWithBody(operation, { params: request.params, query }, taken.body);
          if ('entries' in read) throw invalid(read.entries);
          const { body, ...rest } = read.value;
          const by = actingOf(caller, request);
          const call = { ...rest, body: isPacked ? body : body.rest, request, reply, caller, user: caller?.user, by };
          const work = async () => {
            const answer = await longAnswers.within(operation, caller?.user.id, async () => handler(call as never));
            if (by?.actor !== undefined && changes(operation)) {
              await options.noteActing(by, operation, rest.params as object);
            }
            return answer;
          };
          const begin = () => (working = caller ? options.forPerson(caller.user.id, work) : work());
          const answered = await held(operation, caller, reply, begin);
          if (options.checkAnswers && !(answered instanceof Streamed)) checkAnswer(operation, answered);
          return sendAnswer(operation, request, reply, answered);
        } finally {
          // who was refused meanwhile does not wait for the function, which may still read the files that came
          void working
            .catch(() => undefined)
            .then(taken.release)
            .catch(() => undefined);
        }
      },
    });
  }

  return {
    operations,
    serve: (operation, handler) => bind(operation, handler, false),
    serveAnyone: (operation, handler) => bind(operation, handler, false),
    servePacked(operation, pack, handler) {
      if (!options.bodies.packsWith(operation, pack)) throw new Error(`${operation.id} is packed in another way`);
      bind(operation, handler, true);
    },
  };
}

const matcher = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`);

/** Answers 405 where a path exists with other methods. Call it when everything is bound. */
export function refuseOtherMethods(app: FastifyInstance, paths: Map<string, Set<string>>): void {
  const matchers = [...paths.keys()].map((path) => [path, matcher(path)] as const);
  for (const [path, allowed] of paths) {
    // `…/workflow/import/` is also a `…/workflow/{workflow_id}/`, which answers for the methods that import has not.
    const covered = matchers.some(([other, matches]) => other !== path && matches.test(path));
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
