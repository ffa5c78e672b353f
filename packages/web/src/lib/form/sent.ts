/**
 * What goes back to the service. In the legacy dialects null, empty texts and empty containers mean
 * "not set" and are left out; elsewhere null is a value and everything goes as it is.
 */
import { fieldOf, schemaOfKey, variantByTag } from './field.ts';
import { isObject, under } from '../json.ts';
import { type PreparedSchema, type Schema } from './schema.ts';

/** For every list that lost items: which of the form's items are left. Keys are paths in what is sent. */
export type KeptItems = Map<string, number[]>;

export interface Sent {
  data: unknown;
  keptItems: KeptItems;
}

export function dataToSend(prepared: PreparedSchema, data: unknown): Sent {
  const keptItems: KeptItems = new Map();
  if (!prepared.legacy) return { data, keptItems };
  return { data: strip(data, prepared.root, '', { prepared, keptItems }) ?? (isObject(data) ? {} : data), keptItems };
}

interface Context {
  prepared: PreparedSchema;
  keptItems: KeptItems;
}

/** The value without what is not set; undefined when nothing is left. */
function strip(value: unknown, schema: Schema | undefined, path: string, context: Context): unknown {
  if (value === null || value === undefined || value === '') return undefined;
  if (Array.isArray(value)) return stripList(value, schema, path, context);
  if (!isObject(value)) return value;
  const entries = Object.entries(value)
    .map(
      ([key, item]) => [key, strip(item, partSchema(value, key, schema, context), under(path, key), context)] as const,
    )
    .filter(([, item]) => item !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function stripList(list: unknown[], schema: Schema | undefined, path: string, context: Context): unknown {
  const field = schema && fieldOf(schema, context.prepared);
  // A position that is not set stays as null: without it the others would move.
  if (field?.kind === 'tuple') {
    const items = list.map((item, index) => strip(item, field.positions[index], under(path, index), context) ?? null);
    return items.every((item) => item === null) ? undefined : items;
  }
  const kept: number[] = [];
  const items: unknown[] = [];
  for (const [index, item] of list.entries()) {
    const left = strip(item, field?.kind === 'list' ? field.items : undefined, under(path, items.length), context);
    if (left === undefined) continue;
    kept.push(index);
    items.push(left);
  }
  if (kept.length < list.length) context.keptItems.set(path, kept);
  return items.length === 0 ? undefined : items;
}

function partSchema(value: object, key: string, schema: Schema | undefined, context: Context): Schema | undefined {
  if (schema === undefined) return undefined;
  const field = fieldOf(schema, context.prepared);
  if (field.kind === 'object') return schemaOfKey(field, key) ?? undefined;
  if (field.kind !== 'variants') return undefined;
  const variant = field.variants[variantByTag(field, value) ?? -1];
  return variant && partSchema(value, key, variant.schema, context);
}
