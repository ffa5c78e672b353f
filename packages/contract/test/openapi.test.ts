/** The description of the API that /openapi.json serves: complete and consistent for every accounts operation. */
import { describe, expect, it } from 'vitest';

import { accounts, openapiDocument, type Operation } from '../src/index.ts';

/** The OAuth operations are made for the name of a provider. */
const operations = Object.values(accounts).map((one) =>
  typeof one === 'function' ? one('github') : one,
) as Operation[];

interface Described {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters?: { name: string; in: string; required: boolean; schema: Json }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Json }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Json }> }>;
  security?: unknown[];
}
type Json = Record<string, unknown>;

const INFO = { title: 'Service', version: '1.2.3' };
/** As clients get it: through JSON, where `undefined` and functions would be lost. */
const document = JSON.parse(JSON.stringify(openapiDocument(operations, INFO))) as Json & {
  paths: Record<string, Record<string, Described>>;
  tags: { name: string }[];
  components: { schemas: Record<string, Json>; securitySchemes: Json };
};

const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, one]) => ({ path, method, one, title: `${method.toUpperCase()} ${path}` })),
);
const find = (method: string, path: string) => document.paths[path]![method]!;

/** Every value of this key, however deep. */
function valuesOf(key: string, node: unknown): unknown[] {
  if (Array.isArray(node)) return node.flatMap((item) => valuesOf(key, item));
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) => [...(name === key ? [value] : []), ...valuesOf(key, value)]);
}

function resolve(ref: string): unknown {
  return ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>((node, step) => (node as Json | undefined)?.[step], document);
}

describe('the document', () => {
  it('says what it is', () => {
    expect(document).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./), info: INFO });
  });

  it('has every operation once', () => {
    expect(described).toHaveLength(operations.length);
    expect(new Set(operations.map(({ method, path }) => `${method} ${path}`)).size).toBe(operations.length);
  });

  it('gives every operation an id of its own', () => {
    const ids = described.map(({ one }) => one.operationId);
    expect(ids.every(Boolean)).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('refers only to what it has', () => {
    const refs = [...new Set(valuesOf('$ref', document) as string[])];
    expect(refs.length).toBeGreaterThan(10);
    expect(refs.filter((ref) => !ref.startsWith('#/') || resolve(ref) === undefined)).toEqual([]);
  });

  it('has no component that nothing refers to', () => {
    const used = new Set(valuesOf('$ref', document).map((ref) => String(ref).split('/').at(-1)));
    expect(Object.keys(document.components.schemas).filter((name) => !used.has(name))).toEqual([]);
  });

  it('keeps definitions in one place', () => {
    expect([...valuesOf('$defs', document), ...valuesOf('$schema', document)]).toEqual([]);
  });

  it('declares the tags and the ways to sign in that operations use', () => {
    expect(document.tags.map(({ name }) => name).sort()).toEqual(
      [...new Set(described.flatMap(({ one }) => one.tags))].sort(),
    );
    const ways = described.flatMap(({ one }) => (one.security ?? []).flatMap((way) => Object.keys(way as Json)));
    expect([...new Set(ways)].sort()).toEqual(Object.keys(document.components.securitySchemes).sort());
  });
});

describe.each(described)('$title', ({ path, one }) => {
  const operation = operations.find(({ id }) => id === one.operationId)!;
  const inPath = (one.parameters ?? []).filter((parameter) => parameter.in === 'path');

  it('has a summary, a tag and a path with its final slash', () => {
    expect(one.summary).toMatch(/\S/);
    expect(one.tags).toEqual([expect.stringMatching(/\S/)]);
    expect(path).toMatch(/^\/(api|auth|admin\/v2)\/.*\/$/);
  });

  it('describes exactly the parameters in its path', () => {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(inPath.map(({ name }) => name)).toEqual(names);
    expect(inPath.every(({ required, schema }) => required && schema['type'] === 'integer')).toBe(true);
  });

  it('describes what it answers', () => {
    const success = one.responses[operation.answer.status];
    expect(Object.values(one.responses).every(({ description }) => /\S/.test(description))).toBe(true);
    expect(success).toBeDefined();
    // An answer of 204 has no body; all others do.
    expect(Object.keys(success?.content ?? {})).toEqual(
      operation.answer.status === 204 ? [] : [operation.answer.mediaType],
    );
  });

  it('says whom it refuses', () => {
    const anonymous = operation.access === 'anonymous';
    expect('401' in one.responses).toBe(!anonymous);
    expect(one.security === undefined).toBe(anonymous);
    const takesInput = one.parameters !== undefined || one.requestBody !== undefined;
    expect('422' in one.responses).toBe(takesInput);
    expect(Object.keys(one.responses)).toEqual(expect.arrayContaining(Object.keys(operation.refusals)));
  });
});

describe('what requests take', () => {
  it('says which fields of a body are required', () => {
    const body = find('post', '/auth/register/').requestBody!;
    const schema = resolve(String(body.content['application/json']!.schema['$ref'])) as Json;
    expect(body.required).toBe(true);
    expect(schema['required']).toEqual(['email', 'password', 'project_dirs']);
    expect(schema['properties']).toMatchObject({ email: { format: 'email' }, is_guest: { type: 'boolean' } });
  });

  it('shows what the optional fields of a body are unless given', () => {
    const { schema } = find('post', '/auth/register/').requestBody!.content['application/json']!;
    expect((resolve(String(schema['$ref'])) as Json)['properties']).toMatchObject({ is_guest: { default: false } });
  });

  it('shows login as a form, in both encodings', () => {
    expect(Object.keys(find('post', '/auth/token/login/').requestBody!.content).sort()).toEqual([
      'application/x-www-form-urlencoded',
      'multipart/form-data',
    ]);
  });

  it('shows the three kinds of resource and profile', () => {
    for (const path of ['/admin/v2/resource/', '/admin/v2/resource/{resource_id}/profile/']) {
      const { schema } = find('post', path).requestBody!.content['application/json']!;
      const kinds = (valuesOf('$ref', schema) as string[]).map((ref) => resolve(ref) as { properties: Json });
      expect(kinds).toHaveLength(3);
      for (const { properties } of kinds) expect(Object.keys(properties)).toContain('name');
    }
  });

  it.each([
    ['get', '/auth/current-user/', 'group_ids_names', false],
    ['get', '/auth/users/{user_id}/', 'group_ids_names', true],
    ['get', '/auth/group/', 'user_ids', false],
    ['get', '/auth/current-user/allowed-viewer-paths/', 'include_shared_projects', true],
    ['get', '/admin/v2/users-csv/', 'exclude_zero_jobs', false],
  ])('%s %s: %s is %s unless given', (method, path, name, fallback) => {
    expect(find(method, path).parameters).toContainEqual(
      expect.objectContaining({
        name,
        in: 'query',
        required: false,
        schema: expect.objectContaining({ type: 'boolean', default: fallback }),
      }),
    );
  });
});
