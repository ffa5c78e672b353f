/**
 * Schemas of arguments, made ready for form and validator.
 *
 *   prepareSchema(task.args_schema_parallel, 'pydantic_v2')
 *
 * References are not inlined but followed when a field is looked at (field.ts), so recursive ones do no harm. What no
 * validator knows is left out; what cannot be understood at all is a SchemaProblem, and the value is edited as JSON.
 */
import { dereference } from '@cfworker/json-schema';

import { isObject, type JsonObject, keysOf, plainJson } from '../json.ts';

export type Dialect = 'pydantic_v1' | 'pydantic_v2' | 'fractal_schema_v1';

const DIALECTS: readonly string[] = ['pydantic_v1', 'pydantic_v2', 'fractal_schema_v1'];

/** The dialect of a task's schemas, or undefined when arguments are free-form. */
export const dialectOf = (version: string | null | undefined): Dialect | undefined =>
  DIALECTS.includes(version ?? '') ? (version as Dialect) : undefined;

/** The service fills these arguments itself. */
const FILLED_BY_THE_SERVICE = ['zarr_url', 'zarr_urls', 'init_args', 'zarr_dir'];

export type Schema = JsonObject;

/** Which property tells variants apart, and which variant a value of it means. */
interface Discriminator {
  property: string | undefined;
  mapping: Map<string, number>;
}

export interface PreparedSchema {
  root: Schema;
  dialect: Dialect;
  /** Null, empty text and empty containers mean "not set" and are left out of what is sent. */
  legacy: boolean;
  discriminators: WeakMap<Schema, Discriminator>;
  /** What the validator finds references with. */
  lookup: Record<string, Schema | boolean>;
}

export class SchemaProblem extends Error {
  readonly at: string;

  constructor(at: string, text: string) {
    super(`The schema of these arguments has a mistake at ${at}: ${text}.`);
    this.at = at;
  }
}

const ONE = ['additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else', 'contains', 'unevaluatedItems'];
const SCHEMA = new Set([...ONE, 'additionalItems', 'items', 'unevaluatedProperties']);
const LIST_OF_SCHEMAS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
const MAP_OF_SCHEMAS = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);
const LIMITS = ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum', 'multipleOf', 'maxLength', 'minLength'];
const COUNTS = ['maxItems', 'minItems', 'maxProperties', 'minProperties', 'minContains', 'maxContains'];
const NUMBERS = new Set([...LIMITS, ...COUNTS]);
const AS_IT_IS = new Set(['title', 'description', 'default', 'const', 'format', 'uniqueItems', 'dependentRequired']);
const TYPES: unknown[] = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'];

/** Where a local reference points to, or undefined. */
export function target(root: Schema, reference: string): Schema | undefined {
  let found: unknown = root;
  for (const key of keysOf(decodeURIComponent(reference.slice(1)))) {
    if (Array.isArray(found)) found = (found as unknown[])[Number(key)];
    else found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return isObject(found) ? found : undefined;
}

const usable = (pattern: unknown): boolean => {
  try {
    return typeof pattern === 'string' && new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    return false;
  }
};

/** What is left of a keyword that is neither a schema nor holds schemas; undefined: leave it out. */
function plainKeyword(key: string, value: unknown, at: string): unknown {
  if (AS_IT_IS.has(key)) return value;
  if (key === '$ref') return localReference(value, at);
  if (NUMBERS.has(key)) return typeof plainJson(value) === 'number' ? plainJson(value) : undefined;
  if (key === 'pattern') return usable(value) ? value : undefined;
  if (key === 'type') return [value].flat().every((type) => TYPES.includes(type)) ? value : undefined;
  if (key === 'enum' || key === 'required') {
    if (!Array.isArray(value)) throw new SchemaProblem(at, `${key} is not a list`);
    return key === 'enum' ? plainJson(value) : value;
  }
  return undefined;
}

function localReference(value: unknown, at: string): string {
  if (typeof value === 'string' && value.startsWith('#')) return value;
  throw new SchemaProblem(at, `${JSON.stringify(value)} points to another document`);
}

/** Writes the two spellings of tuples the way the validator's draft knows them. */
function spellTuples(schema: Schema, dialect: Dialect): Schema {
  if (dialect === 'pydantic_v1') {
    if (!Array.isArray(schema['prefixItems'])) return schema;
    const { prefixItems, items, ...rest } = schema;
    return { ...rest, items: prefixItems, ...(items === undefined ? {} : { additionalItems: items }) };
  }
  if (!Array.isArray(schema['items'])) return schema;
  const { items, additionalItems, ...rest } = schema;
  return { ...rest, prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) };
}

function readDiscriminator(schema: Schema): Discriminator | undefined {
  const { discriminator, oneOf } = schema;
  if (!isObject(discriminator) || !Array.isArray(oneOf)) return undefined;
  const { propertyName, mapping } = discriminator;
  const references = oneOf.map((variant: unknown) => (isObject(variant) ? variant['$ref'] : undefined));
  const indexes = Object.entries(isObject(mapping) ? mapping : {})
    .map(([tag, reference]) => [tag, references.indexOf(reference)] as const)
    .filter(([, index]) => index >= 0);
  return { property: typeof propertyName === 'string' ? propertyName : undefined, mapping: new Map(indexes) };
}

/** Leaves out what the service fills; the root may be a reference, whose target is then taken apart here. */
function visible(root: Schema): Schema {
  const seen = new Set<unknown>();
  let shown = root;
  while (typeof shown['$ref'] === 'string' && !seen.has(shown['$ref'])) {
    seen.add(shown['$ref']);
    const { $ref, ...siblings } = shown;
    shown = { ...target(root, $ref), ...siblings };
  }
  const { properties, required } = shown;
  const kept = Object.entries(isObject(properties) ? properties : {}).filter(
    ([key]) => !FILLED_BY_THE_SERVICE.includes(key),
  );
  const names = (required as string[] | undefined)?.filter((key) => !FILLED_BY_THE_SERVICE.includes(key));
  return {
    ...shown,
    ...(properties === undefined ? {} : { properties: Object.fromEntries(kept) }),
    ...(names === undefined ? {} : { required: names }),
  };
}

/** Throws a SchemaProblem when neither form nor validator can work with the schema. */
export function prepareSchema(raw: unknown, dialect: Dialect): PreparedSchema {
  const discriminators = new WeakMap<Schema, Discriminator>();
  const references: [string, string][] = [];

  function clean(schema: unknown, at: string): Schema | boolean {
    if (typeof schema === 'boolean') return schema;
    if (!isObject(schema)) throw new SchemaProblem(at, 'a schema is expected here');
    const cleaned = Object.fromEntries(
      Object.entries(spellTuples(schema, dialect))
        .map(([key, value]) => [key, keyword(key, value, `${at}/${key}`)] as const)
        .filter(([, value]) => value !== undefined),
    );
    const discriminator = readDiscriminator(schema);
    if (discriminator !== undefined) discriminators.set(cleaned, discriminator);
    return cleaned;
  }

  function keyword(key: string, value: unknown, at: string): unknown {
    if (Array.isArray(value) && LIST_OF_SCHEMAS.has(key)) return value.map((part, i) => clean(part, `${at}/${i}`));
    if (SCHEMA.has(key)) return clean(value, at);
    if (LIST_OF_SCHEMAS.has(key)) throw new SchemaProblem(at, 'a list of schemas is expected here');
    if (MAP_OF_SCHEMAS.has(key)) {
      if (!isObject(value)) throw new SchemaProblem(at, 'named schemas are expected here');
      return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, clean(part, `${at}/${name}`)]));
    }
    const kept = plainKeyword(key, value, at);
    if (key === '$ref') references.push([kept as string, at]);
    return kept;
  }

  const cleaned = clean(raw, '#');
  if (typeof cleaned === 'boolean') throw new SchemaProblem('#', 'it describes no arguments');
  for (const [reference, at] of references) {
    if (target(cleaned, reference) === undefined) throw new SchemaProblem(at, `nothing is at ${reference}`);
  }
  const root = visible(cleaned);
  const lookup = dereference(root) as PreparedSchema['lookup'];
  return { root, dialect, legacy: dialect !== 'fractal_schema_v1', discriminators, lookup };
}
