/**
 * What a task will make, by its arguments: channels, label images and tables that later tasks can work on.
 *
 *   madeBy({ schemas, values: { args_parallel: { output_label_name: 'nuclei' } } }, 2)  // [{ of: 'label image', name: 'nuclei', task: 2 }]
 *
 * A name with a part to be filled in (`{channel_identifier}_segmented`) is filled in where the arguments say it.
 */
import { isObject, type JsonObject } from '../json.ts';
import { type ArgumentValues, blocksOf, type TaskSchemas } from './blocks.ts';
import { fieldOf, schemaOfKey, variantByTag } from './field.ts';
import { type Meaning, meaningOfMade } from './meaning.ts';
import type { PreparedSchema, Schema } from './schema.ts';

export interface Made {
  of: Exclude<Meaning['of'], 'attribute' | 'value'>;
  name: string;
  /** Counted from 1. */
  task: number;
}

/** A text among the arguments. */
interface Leaf {
  names: string[];
  text: string;
  default: unknown;
  beside: JsonObject | undefined;
}

/** Where we are: the names that lead there, and the object around. */
type Place = Omit<Leaf, 'text' | 'default'>;

const MOST_DEPTH = 12;

const isLeaf = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Values that no schema describes. */
function plainLeaves(value: unknown, place: Place): Leaf[] {
  if (isLeaf(value)) return [{ ...place, text: value, default: undefined }];
  if (place.names.length > MOST_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((item) => plainLeaves(item, { ...place, beside: undefined }));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    plainLeaves(item, { names: [...place.names, key], beside: value }),
  );
}

/** With the defaults that the task uses for what is not set. */
function leaves(value: unknown, schema: Schema, prepared: PreparedSchema, place: Place): Leaf[] {
  const field = fieldOf(schema, prepared);
  const used = value ?? field.default;
  if (isLeaf(used)) return [{ ...place, text: used, default: field.default }];
  if (place.names.length > MOST_DEPTH) return [];
  if (field.kind === 'variants') {
    const variant = field.variants[variantByTag(field, used) ?? -1];
    return variant ? leaves(used, variant.schema, prepared, place) : plainLeaves(used, place);
  }
  if (field.kind === 'list' && Array.isArray(used))
    return used.flatMap((item) => leaves(item, field.items, prepared, { ...place, beside: undefined }));
  if (field.kind !== 'object' || !isObject(used)) return plainLeaves(used, place);
  const keys = new Set([...Object.keys(used), ...field.properties.map(({ key }) => key)]);
  return [...keys].flatMap((key) => {
    const part = schemaOfKey(field, key);
    const inner = { names: [...place.names, key], beside: used };
    return part ? leaves(used[key], part, prepared, inner) : plainLeaves(used[key], inner);
  });
}

/** Each `{part}` with the argument of that name; undefined where one is missing, or goes round in circles. */
function filled(text: string, all: readonly Leaf[], depth = 0): string | undefined {
  if (depth > 3) return undefined;
  let complete = true;
  const done = text.replace(/\{(\w+)\}/g, (_, part: string) => {
    const leaf = all.find(({ names }) => names.join('_') === part || names.at(-1) === part);
    const value = leaf && filled(leaf.text, all, depth + 1);
    complete &&= value !== undefined;
    return value ?? '';
  });
  return complete ? done : undefined;
}

function inBlocks(schemas: TaskSchemas, values: ArgumentValues): Leaf[] {
  return blocksOf(schemas, values).flatMap(({ name, view }) => {
    const place = { names: [], beside: undefined };
    return view.kind === 'form'
      ? leaves(values[name] ?? {}, view.prepared.root, view.prepared, place)
      : plainLeaves(values[name], place);
  });
}

export function madeBy({ schemas, values }: { schemas: TaskSchemas; values: ArgumentValues }, task: number): Made[] {
  const all = inBlocks(schemas, values);
  return all.flatMap(({ names, text, default: initial, beside }) => {
    const meaning = meaningOfMade(names, { default: initial, beside });
    if (meaning === undefined || meaning.of === 'attribute' || meaning.of === 'value') return [];
    const name = filled(text, all);
    return name === undefined ? [] : [{ of: meaning.of, name, task }];
  });
}
