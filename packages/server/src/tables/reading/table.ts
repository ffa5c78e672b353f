/**
 * One table of an image or a plate: what its metadata says, and its columns, read when they are needed. Task packages write
 * them as AnnData in Zarr, Parquet, CSV or JSON; the attribute `backend` says which.
 */
import { readAttributes } from '../../zarr/attributes.ts';
import { problemWith } from '../../zarr/arrays.ts';
import type { Reading } from '../../zarr/store.ts';
import { missing, unreadable } from '../../zarr/unreadable.ts';
import { openAnnData } from './anndata.ts';
import { asIntegers, type Column, type ColumnFacts, lengthOf, MOST_COLUMNS } from './columns.ts';
import { openCsv } from './csv.ts';
import { openJson } from './json.ts';
import { isName } from '../../zarr/names.ts';
import { openParquet } from './parquet.ts';

interface TableFacts {
  type: string | null;
  backend: 'anndata' | 'parquet' | 'csv' | 'json';
  version: string | null;
  /** The column that names the objects: their label, mostly. */
  index: string | null;
  /** The label image whose objects are measured. */
  label: string | null;
}

export interface OpenTable extends TableFacts {
  path: string;
  columns: ColumnFacts[];
  rows: number | undefined;
  /** Columns that it does not have are left out. */
  read(names: readonly string[]): Promise<{ rows: number; columns: Map<string, Column> }>;
}

const LONGEST_TEXT = 200;
/** 64 MiB of numbers. */
const MOST_VALUES_AT_ONCE = 2 ** 23;

type Attributes = Record<string, unknown>;

const textOf = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, LONGEST_TEXT) : null;

function backendOf(attributes: Attributes, path: string): TableFacts['backend'] {
  const { backend: said } = attributes;
  if (said === undefined) return 'anndata';
  const backend = textOf(said) ?? 'something without a name';
  const known = (['anndata', 'parquet', 'csv', 'json'] as const).find((one) =>
    new RegExp(`^(experimental_)?${one}(_v\\d+)?$`).test(backend),
  );
  if (known) return known;
  throw unreadable(`${path} is stored as ${backend}. The service reads tables in AnnData, Parquet, CSV and JSON.`);
}

/** `../labels/nuclei` is the label image nuclei. */
function labelOf({ region }: Attributes): string | null {
  const place = (region as { path?: unknown } | null | undefined)?.path;
  return typeof place === 'string' ? (place.split('/').findLast(isName) ?? null) : null;
}

function factsOf(attributes: Attributes, path: string): TableFacts {
  return {
    type: textOf(attributes['type']),
    backend: backendOf(attributes, path),
    version: textOf(attributes['table_version'] ?? attributes['fractal_table_version']),
    index: textOf(attributes['index_key'] ?? attributes['instance_key']),
    label: labelOf(attributes),
  };
}

const OPEN = { anndata: openAnnData, parquet: openParquet, csv: openCsv, json: openJson };

/** Whether the index is of whole numbers, whatever it had to be written as. */
const hasWholeIndex = (attributes: Attributes) =>
  attributes['index_type'] === 'int' ||
  (attributes['index_type'] === undefined && attributes['instance_key'] !== undefined);

/** Every column has as many rows, and there are as many as was said. */
function checkRows(columns: Map<string, Column>, rows: number | undefined, path: string): number {
  let count = rows;
  for (const [name, column] of columns) {
    count ??= lengthOf(column);
    if (lengthOf(column) !== count) {
      throw unreadable(`${path} is damaged: its column ${name} has ${lengthOf(column)} rows and should have ${count}.`);
    }
  }
  return count ?? 0;
}

async function named<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw problemWith(path, error);
  }
}

export async function openTable(path: string, reading: Reading): Promise<OpenTable> {
  const found = await readAttributes(path, reading);
  if (!found) throw missing(`${path} is missing.`);
  const attributes = (found.values ?? {}) as Attributes;
  const facts = factsOf(attributes, path);
  const isWhole = hasWholeIndex(attributes);
  const content = await named(path, () =>
    OPEN[facts.backend]({ path, version: found.version, index: facts.index, isWhole, reading }),
  );
  if (content.columns.length > MOST_COLUMNS) throw unreadable(`${path} has more than ${MOST_COLUMNS} columns.`);
  const index = facts.index ?? null;
  const isIndex = (name: string) => isWhole && name === index;
  return {
    ...facts,
    index: content.columns.some(({ name }) => name === index) ? index : null,
    path,
    columns: content.columns.map((one) => (isIndex(one.name) ? { ...one, type: 'integer' } : one)),
    rows: content.rows,
    read: (names) =>
      named(path, async () => {
        const known = new Set(content.columns.map(({ name }) => name));
        // a table without any of them has rows all the same
        const wanted = names.filter((name) => known.has(name));
        if ((content.rows ?? 0) * wanted.length > MOST_VALUES_AT_ONCE) {
          throw unreadable(`${path} has ${content.rows} rows, too many to read ${wanted.length} columns at once.`);
        }
        const columns = await content.read(
          wanted.length === 0 && content.rows === undefined
            ? content.columns.slice(0, 1).map(({ name }) => name)
            : wanted,
        );
        const rows = checkRows(columns, content.rows, path);
        for (const [name, column] of columns) if (isIndex(name)) columns.set(name, asIntegers(column));
        return { rows, columns };
      }),
  };
}
