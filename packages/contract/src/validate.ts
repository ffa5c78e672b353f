/** Reads the parts of a request with an operation's schemas, and collects everything that is wrong in one list. */
import type { z } from 'zod';

import type { Operation } from './operation.ts';
import { entriesOf, type ValidationEntry } from './wire/entries.ts';

export interface RequestParts {
  params: unknown;
  query: unknown;
  body: unknown;
}

export interface ReadParts<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
}

interface TaggedUnion {
  _zod: { def: { discriminator?: string; options: z.ZodObject[] } };
}

function discriminatorOf(schema: z.ZodType): string | undefined {
  return (schema as unknown as TaggedUnion)._zod.def.discriminator;
}

/**
 * A body that is one of several objects, told apart by a tag: errors name the tag (`["body", "slurm_ssh", "host"]`),
 * as clients expect.
 */
function readTaggedUnion(schema: z.ZodType, tag: string, input: unknown, at: string) {
  const value = typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[tag] : undefined;
  if (value === undefined || value === null) {
    return {
      entries: [{ type: 'union_tag_not_found', loc: [at], msg: `Say which kind this is: "${tag}" is missing.` }],
    };
  }
  const options = (schema as unknown as TaggedUnion)._zod.def.options;
  const valuesOf = (option: z.ZodObject) => [...(option._zod.propValues?.[tag] ?? [])];
  const option = options.find((one) => valuesOf(one).includes(value as string));
  if (!option) {
    const known = options.flatMap(valuesOf).join(', ');
    return { entries: [{ type: 'union_tag_invalid', loc: [at], msg: `"${tag}" must be one of: ${known}.` }] };
  }
  return read(option, input, [at, value as string]);
}

export type Outcome<T> = { value: T } | { entries: ValidationEntry[] };

/** Nobody reads more of them, and a body of millions of wrong values would be answered with millions. */
const MOST_ENTRIES = 1000;

function read<T>(schema: z.ZodType<T>, input: unknown, at: (string | number)[]): Outcome<T> {
  const result = schema.safeParse(input, { reportInput: true });
  return result.success ? { value: result.data } : { entries: entriesOf(result.error.issues, at) };
}

/** Reads a value with a schema, outside of any request: `readValue(ResourceWrite, json, 'resource')`. */
export function readValue<T>(schema: z.ZodType<T>, input: unknown, at: string): Outcome<T> {
  const tag = discriminatorOf(schema);
  return tag === undefined ? read(schema, input, [at]) : (readTaggedUnion(schema, tag, input, at) as Outcome<T>);
}

/** Reads the body alone, as `readRequest` does. */
export function readBody<B extends z.ZodType>(
  { body }: Pick<Operation<z.ZodType, z.ZodType, B>, 'body'>,
  input: unknown,
): Outcome<z.output<B>> {
  if (!body) return { value: undefined as z.output<B> };
  if (input === undefined || input === null) {
    return body.optional
      ? { value: undefined as z.output<B> }
      : { entries: [{ type: 'missing', loc: ['body'], msg: 'This request needs a JSON body.' }] };
  }
  const outcome = readValue(body.schema, input, 'body') as Outcome<z.output<B>>;
  return 'entries' in outcome ? { entries: outcome.entries.slice(0, MOST_ENTRIES) } : outcome;
}

/** Reads path and query, and puts what is wrong with a body that was read elsewhere into the same list. */
export function readWithBody<P extends z.ZodType, Q extends z.ZodType, Body>(
  operation: Pick<Operation<P, Q>, 'params' | 'query'>,
  parts: Omit<RequestParts, 'body'>,
  body: Outcome<Body>,
): Outcome<ReadParts<z.output<P>, z.output<Q>, Body>> {
  const params = read(operation.params, parts.params, ['path']) as Outcome<z.output<P>>;
  const query = read(operation.query, parts.query, ['query']) as Outcome<z.output<Q>>;
  if ('value' in params && 'value' in query && 'value' in body) {
    return { value: { params: params.value, query: query.value, body: body.value } };
  }
  const entries = [params, query, body].flatMap((outcome) => ('entries' in outcome ? outcome.entries : []));
  return { entries: entries.slice(0, MOST_ENTRIES) };
}

export const readRequest = <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  operation: Operation<P, Q, B>,
  parts: RequestParts,
): Outcome<ReadParts<z.output<P>, z.output<Q>, z.output<B>>> =>
  readWithBody(operation, parts, readBody(operation, parts.body));
