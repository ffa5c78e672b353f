/** What a form begins with: defaults for new arguments, stored ones completed with null. */
import { fieldOf, type Field, type FieldOf, isContainer, schemaOfKey, variantByTag } from './field.ts';
import { inWords, isObject, type JsonObject } from '../json.ts';
import { type PreparedSchema, type Schema } from './schema.ts';

/** Where in the schema we are: whether the value is required, and the references above (a recursive one ends in null). */
interface SchemaPosition {
  required: boolean;
  open: readonly string[];
}

const TOP: SchemaPosition = { required: true, open: [] };

/** Arguments that nobody saved yet: they are shown as the defaults of the schema. */
export const isUnsaved = (stored: unknown): boolean =>
  stored === null || stored === undefined || (isObject(stored) && Object.keys(stored).length === 0);

export function initialData(prepared: PreparedSchema, stored: unknown): unknown {
  if (isUnsaved(stored)) return startValue(prepared.root, prepared, { ...TOP });
  return completed(stored, prepared.root, prepared);
}

/**
 * What stands in the place of a value that is not set: the default, where the task will use it. Where null is a value of its
 * own, it is sent, and the default plays no part.
 */
export function unsetWords(field: Field, prepared: PreparedSchema): string | undefined {
  const used = prepared.legacy && field.default !== undefined && field.default !== null && field.default !== '';
  return used ? inWords(field.default) : undefined;
}

/** The value of something new: its default, else what an empty one looks like. */
export function startValue(schema: Schema, prepared: PreparedSchema, position: SchemaPosition = TOP): unknown {
  const field = fieldOf(schema, prepared);
  if (field.kind === 'constant') return field.constant;
  if (field.default !== undefined) return completed(field.default, schema, prepared);
  return field.nullable && !isContainer(field) ? null : emptyValue(field, prepared, position);
}

/** The value of a container that is switched on: its default unless that is null, else an empty one with inner defaults. */
export function switchedOn(schema: Schema, prepared: PreparedSchema): unknown {
  const field = fieldOf(schema, prepared);
  const usable = field.default !== undefined && field.default !== null;
  return usable ? completed(field.default, schema, prepared) : emptyValue(field, prepared, TOP);
}

function emptyValue(field: Field, prepared: PreparedSchema, { required, open }: SchemaPosition): unknown {
  if (field.trail.some((reference) => open.includes(reference))) return null;
  const inside = [...open, ...field.trail];
  const part = (schema: Schema, partRequired = true) =>
    startValue(schema, prepared, { required: partRequired, open: inside });
  switch (field.kind) {
    case 'constant':
      return field.constant;
    case 'object':
      return Object.fromEntries(
        field.properties.map((property) => [property.key, part(property.schema, property.required)]),
      );
    case 'list':
      return required ? Array.from({ length: field.min }, () => part(field.items)) : [];
    case 'tuple':
      return required || !prepared.legacy ? field.positions.map((position) => part(position)) : [];
    case 'variants':
      return field.variants.length === 0 ? null : variantValue(field, 0, prepared, inside);
    default:
      return null;
  }
}

/** A new value of one variant, with its tag set. */
export function variantValue(
  field: FieldOf<'variants'>,
  index: number,
  prepared: PreparedSchema,
  open: readonly string[] = [],
): unknown {
  const { schema, tags } = field.variants[index]!;
  const value = startValue(schema, prepared, { required: true, open });
  const tagged = field.tag !== undefined && tags.length === 1 && isObject(value);
  return tagged ? { ...value, [field.tag!]: tags[0] } : value;
}

/** A stored value with null for what is declared and missing. What is there stays, whatever it is. */
export function completed(value: unknown, schema: Schema, prepared: PreparedSchema): unknown {
  const field = fieldOf(schema, prepared);
  if (field.kind === 'constant' && (value === null || value === undefined) && !field.nullable) return field.constant;
  if (field.kind === 'object' && isObject(value)) return completedObject(value, field, prepared);
  if (field.kind === 'list' && Array.isArray(value)) {
    return value.map((item) => completed(item, field.items, prepared));
  }
  if (field.kind === 'tuple' && Array.isArray(value)) return completedTuple(value, field, prepared);
  if (field.kind === 'variants') {
    const variant = field.variants[variantByTag(field, value) ?? -1];
    return variant === undefined ? value : completed(value, variant.schema, prepared);
  }
  return value;
}

function completedObject(value: JsonObject, field: FieldOf<'object'>, prepared: PreparedSchema): JsonObject {
  const missing = field.properties.filter(({ key }) => !Object.hasOwn(value, key));
  return Object.fromEntries([
    ...Object.entries(value).map(([key, item]) => {
      const schema = schemaOfKey(field, key);
      return [key, schema ? completed(item, schema, prepared) : item] as const;
    }),
    ...missing.map(({ key, schema }) => [key, completed(null, schema, prepared)] as const),
  ]);
}

function completedTuple(value: unknown[], field: FieldOf<'tuple'>, prepared: PreparedSchema): unknown[] {
  if (value.length === 0 && prepared.legacy) return value;
  const length = Math.max(value.length, field.positions.length);
  return Array.from({ length }, (_, index) => {
    const item = index < value.length ? value[index] : null;
    const schema = field.positions[index];
    return schema === undefined ? item : completed(item, schema, prepared);
  });
}
