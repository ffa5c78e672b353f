/** The OpenAPI 3.1 description of a list of operations. */
import { z } from 'zod';

import type { Access, Operation } from './operation.ts';

type Json = Record<string, unknown>;

const ACCESS: Record<Access, string> = {
  anonymous: 'Anyone may call this.',
  active: 'Needs a token of an active account.',
  verified: 'Needs a token of a verified account.',
  reader: 'Needs a verified account with a profile. Guest accounts may call it.',
  member: 'Needs a verified account with a profile that is not a guest account.',
  superuser: 'Needs the token of an administrator.',
};

const DETAIL = (description: string): Json => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
});

const REFUSAL_SCHEMAS: Json = {
  Refusal: {
    title: 'Refusal',
    type: 'object',
    required: ['detail'],
    properties: { detail: { description: 'What to do about it, in words, or a code that clients know.' } },
  },
  ValidationEntry: {
    title: 'ValidationEntry',
    type: 'object',
    required: ['type', 'loc', 'msg'],
    properties: {
      type: { type: 'string' },
      loc: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'integer' }] } },
      msg: { type: 'string' },
    },
  },
  ValidationRefusal: {
    title: 'ValidationRefusal',
    type: 'object',
    required: ['detail'],
    properties: {
      detail: {
        anyOf: [{ type: 'array', items: { $ref: '#/components/schemas/ValidationEntry' } }, { type: 'string' }],
      },
    },
  },
};

/** An answer that takes another form on request is described by the form that every client knows. */
function describeFirst(jsonSchema: Json): void {
  if (jsonSchema['describedBy'] !== 'first') return;
  const [first] = jsonSchema['anyOf'] as Json[];
  delete jsonSchema['anyOf'];
  delete jsonSchema['describedBy'];
  Object.assign(jsonSchema, first);
}

/**
 * Named schemas (`.meta({ id })`) become components. What a request takes and what an answer gives are two views of a
 * schema, so requests get a component name of their own where both exist.
 */
function schemaWriter() {
  const components: Json = { ...REFUSAL_SCHEMAS };
  return {
    components,
    write(schema: z.ZodType, io: 'input' | 'output'): Json {
      const written = z.toJSONSchema(schema, {
        io,
        unrepresentable: 'any',
        reused: 'inline',
        // zod leaves defaults out where a value is transformed
        override: ({ zodSchema, jsonSchema }) => {
          if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue;
          describeFirst(jsonSchema);
        },
      }) as Json;
      const { $schema: _, $defs, ...root } = written;
      const name = (key: string) => (io === 'input' ? `${key}Request` : key);
      const relink = (node: unknown): unknown => {
        if (Array.isArray(node)) return node.map(relink);
        if (typeof node !== 'object' || node === null) return node;
        const { id, ...rest } = node as Json;
        return Object.fromEntries(
          Object.entries(typeof id === 'string' ? { title: id, ...rest } : (node as Json)).map(([key, value]) =>
            key === '$ref'
              ? [key, `#/components/schemas/${name(String(value).split('/').at(-1)!)}`]
              : [key, relink(value)],
          ),
        );
      };
      for (const [key, value] of Object.entries(($defs as Json) ?? {})) components[name(key)] ??= relink(value);
      const id = root['id'];
      if (typeof id !== 'string') return relink(root) as Json;
      components[name(id)] ??= relink(root);
      return { $ref: `#/components/schemas/${name(id)}` };
    },
  };
}

type Writer = ReturnType<typeof schemaWriter>;

function parametersOf(writer: Writer, schema: z.ZodType, place: 'path' | 'query'): Json[] {
  const shape = schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {};
  return Object.entries(shape).map(([name, field]) => {
    const written = writer.write(field, 'input');
    const fallback = field instanceof z.ZodDefault ? field.def.defaultValue : undefined;
    const optional = field.safeParse(undefined).success;
    return {
      name,
      in: place,
      required: place === 'path' || !optional,
      schema: fallback === undefined || fallback === null ? written : { ...written, default: fallback },
    };
  });
}

function bodyOf(writer: Writer, operation: Operation): Json | undefined {
  if (!operation.body) return undefined;
  const schema = writer.write(operation.body.schema, 'input');
  const types = operation.body.form
    ? ['application/x-www-form-urlencoded', 'multipart/form-data']
    : ['application/json'];
  return {
    required: !operation.body.optional,
    content: Object.fromEntries(types.map((type) => [type, { schema }])),
  };
}

function answersOf(writer: Writer, operation: Operation): Json {
  const { status, schema, mediaType } = operation.answer;
  const takesInput = operation.body !== undefined || parametersCount(operation) > 0;
  const standard: Json = {
    [status]: {
      description: 'Done.',
      ...(status === 204 || !schema ? {} : { content: { [mediaType]: { schema: writer.write(schema, 'output') } } }),
    },
    ...(operation.access === 'anonymous' ? {} : { 401: DETAIL('No valid token.') }),
    ...(operation.access === 'anonymous' || operation.access === 'active' ? {} : { 403: DETAIL('Not allowed.') }),
    ...(operation.body
      ? { 400: DETAIL('The body cannot be read.'), 413: DETAIL('The body is larger than the settings allow.') }
      : {}),
    ...(takesInput
      ? {
          422: {
            description: 'The request is not valid, or a rule refuses it.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/ValidationRefusal' } } },
          },
        }
      : {}),
  };
  const own = Object.entries(operation.refusals).map(([code, text]) => [code, DETAIL(text)] as const);
  return { ...standard, ...Object.fromEntries(own) };
}

function parametersCount(operation: Operation): number {
  const count = (schema: z.ZodType) => (schema instanceof z.ZodObject ? Object.keys(schema.shape).length : 0);
  return count(operation.params) + count(operation.query);
}

function describe(writer: Writer, operation: Operation): Json {
  const parameters = [
    ...parametersOf(writer, operation.params, 'path'),
    ...parametersOf(writer, operation.query, 'query'),
  ];
  const requestBody = bodyOf(writer, operation);
  return {
    operationId: operation.id,
    summary: operation.summary,
    description: [operation.description, ACCESS[operation.access]].filter(Boolean).join('\n\n'),
    tags: [operation.tag],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: answersOf(writer, operation),
    ...(operation.access === 'anonymous' ? {} : { security: [{ bearer: [] }, { cookie: [] }] }),
  };
}

export function openapiDocument(operations: readonly Operation[], info: { title: string; version: string }): Json {
  const writer = schemaWriter();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = describe(writer, operation);
  }
  const tags = [...new Set(operations.map((operation) => operation.tag))].map((name) => ({ name }));
  return {
    openapi: '3.1.0',
    info,
    tags,
    paths,
    components: {
      schemas: writer.components,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'fastapiusersauth' },
      },
    },
  };
}
