/**
 * What a schema looks like in a form: which kind of field, with which parts.
 *
 *   fieldOf({ anyOf: [{ type: 'integer' }, { type: 'null' }] }, prepared) // { kind: 'number', nullable: true, … }
 *
 * Parts are schemas, not fields: they are looked at when they are shown, so a recursive schema is as good as any other.
 */
import { isObject, plainJson, sameJson } from '../json.ts';
import { resolved, type Trail } from './merge.ts';
import { type PreparedSchema, type Schema } from './schema.ts';

interface Property {
  key: string;
  schema: Schema;
  required: boolean;
}

interface Variant {
  schema: Schema;
  title: string;
  /** The values of the tag that mean this variant. */
  tags: unknown[];
}

interface Common {
  schema: Schema;
  title: string | undefined;
  description: string | undefined;
  /** undefined: no default; null is one. */
  default: unknown;
  nullable: boolean;
  trail: Trail;
}

type Shape =
  | { kind: 'text' }
  | { kind: 'number'; whole: boolean }
  | { kind: 'boolean' }
  | { kind: 'constant'; constant: unknown }
  | { kind: 'choice'; options: unknown[] }
  | { kind: 'object'; properties: Property[]; additional: Schema | boolean; patterns: [RegExp, Schema][] }
  /** Where items may be anything, no form fits them better than the list as JSON. */
  | { kind: 'list'; items: Schema; min: number; max: number; anything: boolean }
  | { kind: 'tuple'; positions: Schema[] }
  | { kind: 'variants'; variants: Variant[]; tag: string | undefined }
  | { kind: 'unsupported' };

export type Field = Common & Shape;
export type FieldOf<K extends Field['kind']> = Extract<Field, { kind: K }>;

/** Kinds whose value is an object or a list: they fold, and being unset differs from being empty. */
const CONTAINERS: readonly Field['kind'][] = ['object', 'list', 'tuple', 'variants'];

export const isContainer = (field: Field): boolean => CONTAINERS.includes(field.kind);

/** A list of one length gets that many inputs, up to here. */
const MOST_POSITIONS = 100;

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
const asSchema = (value: unknown): Schema => (isObject(value) ? value : {});
const isNull = (schema: unknown) => isObject(schema) && schema['type'] === 'null';

const known = new WeakMap<PreparedSchema, WeakMap<Schema, Field>>();

export function fieldOf(schema: Schema, prepared: PreparedSchema): Field {
  let fields = known.get(prepared);
  if (fields === undefined) known.set(prepared, (fields = new WeakMap()));
  let field = fields.get(schema);
  if (field === undefined) fields.set(schema, (field = look(schema, prepared)));
  return field;
}

function look(raw: Schema, prepared: PreparedSchema): Field {
  const found = resolved(raw, prepared);
  const common = {
    schema: raw,
    title: text(raw['title']),
    description: text(raw['description']),
    default: raw['default'],
    nullable: false,
    trail: [],
  };
  if (found === undefined) return { ...common, kind: 'unsupported' };
  const { schema, trail } = found;
  const own = {
    schema,
    title: text(schema['title']),
    description: text(schema['description']),
    default: schema['default'],
    nullable: false,
    trail,
  };
  const inner = withoutNull(schema, prepared);
  if (inner === undefined) return { ...own, ...shapeOf(schema, prepared) };
  const field = fieldOf(inner, prepared);
  return {
    ...field,
    title: own.title ?? field.title,
    description: own.description ?? field.description,
    default: own.default === undefined ? field.default : own.default,
    nullable: true,
    trail: [...trail, ...field.trail],
  };
}

/** The schema T of "T or null", in its different spellings; undefined when null is not one of the possibilities. */
function withoutNull(schema: Schema, prepared: PreparedSchema): Schema | undefined {
  for (const key of ['anyOf', 'oneOf']) {
    const parts = schema[key];
    if (!Array.isArray(parts) || !parts.some(isNull)) continue;
    const others = parts.filter((part) => !isNull(part)) as Schema[];
    if (others.length === 1) return others[0];
    const { [key]: _, ...rest } = schema;
    const narrowed: Schema = { ...rest, [key]: others };
    const discriminator = prepared.discriminators.get(schema);
    if (discriminator !== undefined) prepared.discriminators.set(narrowed, discriminator);
    return narrowed;
  }
  const { type, enum: options } = schema;
  if (Array.isArray(options) && options.includes(null) && options.length > 1) {
    return { ...schema, enum: options.filter((option) => option !== null) };
  }
  if (!Array.isArray(type) || !type.includes('null') || type.length < 2) return undefined;
  const types = type.filter((name) => name !== 'null') as string[];
  return { ...schema, type: types.length === 1 ? types[0] : types };
}

function shapeOf(schema: Schema, prepared: PreparedSchema): Shape {
  const { type, oneOf, anyOf, properties } = schema;
  if (schema['const'] !== undefined) return { kind: 'constant', constant: schema['const'] };
  if (Array.isArray(schema['enum'])) return { kind: 'choice', options: schema['enum'] as unknown[] };
  if (Array.isArray(oneOf) && properties === undefined) return variants(schema, oneOf as unknown[], prepared);
  if (Array.isArray(anyOf) && type === undefined && properties === undefined) {
    return { kind: 'unsupported' };
  }
  return shapeOfType(typeof type === 'string' ? type : guessedType(schema), schema);
}

function guessedType(schema: Schema): string | undefined {
  if (schema['type'] !== undefined) return undefined;
  if (schema['properties'] !== undefined || isObject(schema['additionalProperties'])) return 'object';
  return schema['items'] === undefined && schema['prefixItems'] === undefined ? undefined : 'array';
}

function shapeOfType(type: string | undefined, schema: Schema): Shape {
  if (type === 'string') return { kind: 'text' };
  if (type === 'integer' || type === 'number') return { kind: 'number', whole: type === 'integer' };
  if (type === 'boolean') return { kind: 'boolean' };
  if (type === 'object') return objectShape(schema);
  return type === 'array' ? arrayShape(schema) : { kind: 'unsupported' };
}

function objectShape(schema: Schema): Shape {
  const required = (schema['required'] ?? []) as string[];
  const additional = schema['additionalProperties'] ?? true;
  return {
    kind: 'object',
    properties: Object.entries(asSchema(schema['properties'])).map(([key, part]) => ({
      key,
      schema: asSchema(part),
      required: required.includes(key),
    })),
    additional: typeof additional === 'boolean' ? additional : asSchema(additional),
    patterns: Object.entries(asSchema(schema['patternProperties'])).map(([pattern, part]) => [
      new RegExp(pattern, 'u'),
      asSchema(part),
    ]),
  };
}

/** Keywords that leave every value possible. */
const SAYS_NOTHING = new Set(['title', 'description', 'default']);

function arrayShape(schema: Schema): Shape {
  const positions = Array.isArray(schema['items']) ? (schema['items'] as unknown[]) : schema['prefixItems'];
  if (Array.isArray(positions)) return { kind: 'tuple', positions: positions.map(asSchema) };
  const items = asSchema(schema['items']);
  const min = (schema['minItems'] ?? 0) as number;
  const max = (schema['maxItems'] ?? Infinity) as number;
  if (min === max && min > 0 && min <= MOST_POSITIONS) {
    return { kind: 'tuple', positions: Array.from({ length: min }, () => items) };
  }
  return { kind: 'list', items, min, max, anything: Object.keys(items).every((key) => SAYS_NOTHING.has(key)) };
}

/** The values a property may have when it tells variants apart. */
function tagValues(variant: Schema, property: string, prepared: PreparedSchema): unknown[] {
  const part = asSchema(asSchema(resolved(variant, prepared)?.schema['properties'])[property]);
  const { const: constant, enum: options } = resolved(part, prepared)?.schema ?? {};
  if (constant !== undefined) return [constant];
  return Array.isArray(options) ? (options as unknown[]) : [];
}

/** Without a discriminator: a property that has values of its own in every variant. */
function commonTag(parts: Schema[], prepared: PreparedSchema): string | undefined {
  const keys = Object.keys(asSchema(resolved(parts[0] ?? {}, prepared)?.schema['properties']));
  return keys.find((key) => {
    const values = parts.map((part) => tagValues(part, key, prepared));
    const all = values.flat();
    return values.every(({ length }) => length > 0) && new Set(all).size === all.length;
  });
}

function variants(schema: Schema, oneOf: unknown[], prepared: PreparedSchema): Shape {
  const parts = oneOf.map(asSchema);
  const discriminator = prepared.discriminators.get(schema);
  const tag = discriminator?.property ?? commonTag(parts, prepared);
  return {
    kind: 'variants',
    tag,
    variants: parts.map((part, index) => {
      const mapped = [...(discriminator?.mapping ?? [])].filter(([, i]) => i === index).map(([value]) => value);
      const tags = tag === undefined ? [] : tagValues(part, tag, prepared);
      return {
        schema: part,
        title: fieldOf(part, prepared).title ?? `Variant ${index + 1}`,
        tags: tags.length > 0 ? tags : mapped,
      };
    }),
  };
}

/** The schema of a property, declared or not; undefined: any value may be there; null: none may. */
export function schemaOfKey(field: FieldOf<'object'>, key: string): Schema | null | undefined {
  const declared = field.properties.find((property) => property.key === key)?.schema;
  const matching = declared ?? field.patterns.find(([pattern]) => pattern.test(key))?.[1];
  if (matching !== undefined) return matching;
  if (typeof field.additional === 'boolean') return field.additional ? undefined : null;
  return field.additional;
}

/** The variant a value says it is, by its tag. */
export function variantByTag({ tag, variants }: FieldOf<'variants'>, value: unknown): number | undefined {
  if (tag === undefined || !isObject(value)) return undefined;
  const index = variants.findIndex(({ tags }) => tags.some((known) => sameJson(known, plainJson(value[tag]))));
  return index < 0 ? undefined : index;
}
