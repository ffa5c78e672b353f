/** Tables as JSON: the attributes of a group `table` are the columns, `{"label": [1, 2], "area": [1.5, NaN]}`. */
import { readWhole } from '../../zarr/store.ts';
import { unreadable } from '../../zarr/unreadable.ts';
import { type Column, type ColumnType, MOST_ROWS, textColumn } from './columns.ts';
import type { Content, TableSource } from './source.ts';

/** Python writes numbers that JSON does not have. */
const TEXTS_AND_ODD_NUMBERS = /"(?:[^"\\]|\\.)*"|-?Infinity|NaN/g;
const ODD: Record<string, string> = { NaN: 'null', Infinity: '1e999', '-Infinity': '-1e999' };

function parsed(bytes: Uint8Array, path: string): Record<string, unknown> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value = JSON.parse(text.replace(TEXTS_AND_ODD_NUMBERS, (part) => ODD[part] ?? part)) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // said below
  }
  throw unreadable(`${path} is damaged: it is no JSON object. It may be being written.`);
}

function typeOf(values: readonly unknown[]): ColumnType {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return 'number';
  if (known.every((value) => typeof value === 'boolean')) return 'boolean';
  if (known.every((value) => typeof value === 'number')) return known.every(Number.isInteger) ? 'integer' : 'number';
  return 'text';
}

const asText = (value: unknown): string | null =>
  value === null ? null : typeof value === 'string' ? value : JSON.stringify(value);

function columnOf(values: readonly unknown[]): Column {
  const type = typeOf(values);
  if (type === 'text') return textColumn(values.map(asText));
  return { type, values: Float64Array.from(values, (value) => (value === null ? NaN : Number(value))) };
}

export async function openJson({ path, version, reading }: TableSource): Promise<Content> {
  const file = `${path}/table/${version === 2 ? '.zattrs' : 'zarr.json'}`;
  const bytes = await readWhole(file, reading);
  if (!bytes) throw unreadable(`${file} is missing.`);
  const whole = parsed(bytes, file);
  const columns = version === 2 ? whole : (whole['attributes'] as Record<string, unknown> | undefined);
  const lists = Object.entries(columns ?? {}).map(([name, values]): [string, unknown[]] => {
    if (typeof values !== 'object' || values === null) throw unreadable(`${file} is damaged: ${name} is no column.`);
    return [name, Array.isArray(values) ? (values as unknown[]) : Object.values(values)];
  });
  const rows = lists[0]?.[1].length ?? 0;
  if (rows > MOST_ROWS) throw unreadable(`${path} has ${rows} rows. Tables of an image have at most ${MOST_ROWS}.`);
  const byName = new Map(lists);
  return {
    columns: lists.map(([name, values]) => ({ name, type: typeOf(values) })),
    rows,
    read: (names) => Promise.resolve(new Map(names.map((name) => [name, columnOf(byName.get(name)!)]))),
  };
}
