/**
 * One operation of the API: where it is, who may call it, what it takes and what it answers.
 *
 *     export const getGroup = operation({
 *       id: 'get_group', method: 'GET', path: '/auth/group/{group_id}/', access: 'superuser', tag: 'groups',
 *       summary: 'One group with its members', params: z.object({ group_id: id() }), answer: [200, UserGroup],
 *     });
 *
 * The server binds a handler to it, the web client calls it, the OpenAPI description lists it. Nothing says it again.
 */
import { z } from 'zod';

/** Who may call, each level stricter than the one before, except that a superuser needs neither verification nor profile. */
export type Access = 'anonymous' | 'active' | 'verified' | 'reader' | 'member' | 'superuser';

/** What a token that a person made for a program may do, each scope more than the one before. */
export const TOKEN_SCOPES = ['read', 'run', 'everything'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** What a caller's token must allow. `session`: no such token is enough, the person has to sign in. */
export type NeededScope = TokenScope | 'session';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** How large a body may be; the sizes are settings. */
export type BodySize = 'ordinary' | 'images' | 'upload';

export interface Operation<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer = unknown,
> {
  id: string;
  method: Method;
  path: string;
  access: Access;
  scope: NeededScope;
  tag: string;
  summary: string;
  description?: string;
  params: Params;
  query: Query;
  body: { schema: Body; form: boolean; optional: boolean; size: BodySize } | undefined;
  answer: { status: number; schema: z.ZodType<Answer> | undefined; mediaType: string };
  /** Refusals beyond those every operation can give, for the description. */
  refusals: Record<number, string>;
  /** A GET that changes something: refused when a browser sends it by navigation or from another site. */
  unsafeGet: boolean;
  /** Lists with `page` and `page_size`. */
  paginated: boolean;
  /** The answer is a file: the browser may keep it, and asks whether it is still the same. Nothing else is kept. */
  file: boolean;
}

const none = z.object({});
type None = typeof none;

interface Definition<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType, Answer> {
  id: string;
  method: Method;
  path: string;
  access: Access;
  /** Left out: a GET that changes nothing reads, and all else needs a token for everything. */
  scope?: NeededScope;
  tag: string;
  summary: string;
  description?: string;
  params?: Params;
  query?: Query;
  body?: Body;
  form?: boolean;
  optionalBody?: boolean;
  bodySize?: BodySize;
  answer: [status: number, schema?: z.ZodType<Answer>];
  mediaType?: string;
  refusals?: Record<number, string>;
  unsafeGet?: boolean;
  paginated?: boolean;
  file?: boolean;
}

/** Whoever changes something says which scope it needs; else it needs all. */
const usualScope = ({
  method,
  unsafeGet,
}: Pick<Definition<z.ZodType, z.ZodType, z.ZodType, unknown>, 'method' | 'unsafeGet'>) =>
  method === 'GET' && !unsafeGet ? 'read' : 'everything';

export function operation<
  Params extends z.ZodType = None,
  Query extends z.ZodType = None,
  Body extends z.ZodType = z.ZodUndefined,
  Answer = void,
>(definition: Definition<Params, Query, Body, Answer>): Operation<Params, Query, Body, Answer> {
  const { params, query, body, form, optionalBody, bodySize, answer, mediaType, refusals, ...rest } = definition;
  return {
    ...rest,
    scope: definition.scope ?? usualScope(definition),
    params: params ?? (none as unknown as Params),
    query: query ?? (none as unknown as Query),
    body: body && { schema: body, form: form ?? false, optional: optionalBody ?? false, size: bodySize ?? 'ordinary' },
    answer: { status: answer[0], schema: answer[1], mediaType: mediaType ?? 'application/json' },
    refusals: refusals ?? {},
    unsafeGet: definition.unsafeGet ?? false,
    paginated: definition.paginated ?? false,
    file: definition.file ?? false,
  };
}

/** What a caller of an operation gives; parts that may be left out are optional. */
export type CallOf<O> =
  O extends Operation<infer Params, infer Query, infer Body, unknown>
    ? Part<'params', Given<Params>> & Part<'query', Given<Query>> & BodyPart<Body>
    : never;

/** What an operation answers. */
export type AnswerOf<O> = O extends Operation<z.ZodType, z.ZodType, z.ZodType, infer Answer> ? Answer : never;

/**
 * Readers take anything and say what is wrong with it, so that their input has no type. Callers give what comes out of them,
 * and may leave out what has a default.
 */
type Given<S extends z.ZodType> =
  z.output<S> extends readonly unknown[]
    ? z.output<S>
    : z.output<S> extends object
      ? string extends keyof z.output<S>
        ? object
        : Flat<
            { [K in Required<S>]: z.output<S>[K] } & {
              [K in Exclude<keyof z.output<S>, Required<S>>]?: z.output<S>[K] | undefined;
            }
          >
      : z.output<S>;
type Required<S extends z.ZodType> = {
  [K in keyof z.output<S>]: K extends keyof z.input<S> ? (object extends Pick<z.input<S>, K> ? never : K) : never;
}[keyof z.output<S>];
type Flat<T> = { [K in keyof T]: T[K] };
type Part<Name extends string, Value> = object extends Value ? { [N in Name]?: Value } : { [N in Name]: Value };
type BodyPart<Body extends z.ZodType> = Body extends z.ZodUndefined ? object : Part<'body', Given<Body>>;
