/** Tables beside images, written by hand, so that they can be as wrong as a test wants. */
import { join } from 'node:path';

import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';

import { arrayOf, put } from './ome-zarr.ts';

type Json = Record<string, unknown>;
export type Values = (number | string | boolean | null)[];

/** The tables that a group names, and what one of them says of itself. */
function writeGroup(image: string, name: string, attributes: Json, names = [name]): string {
  const path = join(image, 'tables', name);
  put(join(image, '.zattrs'), {});
  put(join(image, 'tables/.zgroup'), { zarr_format: 2 });
  put(join(image, 'tables/.zattrs'), { tables: names });
  put(join(path, '.zgroup'), { zarr_format: 2 });
  put(join(path, '.zattrs'), {
    type: 'feature_table',
    table_version: '1',
    index_key: 'label',
    index_type: 'int',
    ...attributes,
  });
  return path;
}

export function writeNumbers(path: string, values: number[], shape = [values.length], more: Json = {}): void {
  put(
    join(path, '.zarray'),
    arrayOf(
      shape,
      shape.map((size) => Math.max(1, size)),
      { dtype: '<f8', dimension_separator: '.', ...more },
    ),
  );
  put(join(path, '.zattrs'), { 'encoding-type': 'array' });
  put(join(path, shape.map(() => 0).join('.')), Buffer.from(Float64Array.from(values).buffer));
}

export function textChunk(texts: string[]): Buffer {
  const parts = [Buffer.alloc(4)];
  parts[0]!.writeUInt32LE(texts.length);
  for (const text of texts) {
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    parts.push(length, bytes);
  }
  return Buffer.concat(parts);
}

export function writeTexts(path: string, texts: string[]): void {
  const facts = { dtype: '|O', fill_value: '', filters: [{ id: 'vlen-utf8' }], dimension_separator: '.' };
  put(join(path, '.zarray'), arrayOf([texts.length], [Math.max(1, texts.length)], facts));
  put(join(path, '.zattrs'), { 'encoding-type': 'string-array' });
  put(join(path, '0'), textChunk(texts));
}

interface TableOptions {
  name?: string;
  attributes?: Json;
  names?: string[];
}

/** Labels, and features as the columns of X. */
export function writeAnnData(
  image: string,
  labels: number[],
  features: Record<string, number[]>,
  { name = 'nuclei', attributes = {}, names }: TableOptions = {},
): string {
  const path = writeGroup(image, name, { 'encoding-type': 'anndata', backend: 'anndata', ...attributes }, names);
  const columns = Object.keys(features);
  put(join(path, 'obs/.zgroup'), { zarr_format: 2 });
  put(join(path, 'obs/.zattrs'), { _index: 'label', 'column-order': [], 'encoding-type': 'dataframe' });
  writeTexts(join(path, 'obs/label'), labels.map(String));
  put(join(path, 'var/.zgroup'), { zarr_format: 2 });
  put(join(path, 'var/.zattrs'), { _index: '_index', 'column-order': [], 'encoding-type': 'dataframe' });
  writeTexts(join(path, 'var/_index'), columns);
  const rows = labels.flatMap((_, row) => columns.map((column) => features[column]![row]!));
  writeNumbers(join(path, 'X'), rows, [labels.length, columns.length]);
  return path;
}

export function writeCsv(
  image: string,
  text: string,
  { name = 'nuclei', attributes = {}, names }: TableOptions = {},
): string {
  const path = writeGroup(image, name, { backend: 'csv', ...attributes }, names);
  put(join(path, 'table.csv'), text);
  return path;
}

/** Python's JSON: `NaN` is written as it is. */
export function writeJson(
  image: string,
  text: string,
  { name = 'nuclei', attributes = {}, names }: TableOptions = {},
): string {
  const path = writeGroup(image, name, { backend: 'json', ...attributes }, names);
  put(join(path, 'table/.zgroup'), { zarr_format: 2 });
  put(join(path, 'table/.zattrs'), text);
  return path;
}

export function writeParquet(
  image: string,
  columns: ColumnSource[],
  { name = 'nuclei', attributes = {}, names }: TableOptions = {},
): string {
  const path = writeGroup(image, name, { backend: 'parquet', ...attributes }, names);
  put(join(path, 'table.parquet'), Buffer.from(parquetWriteBuffer({ columnData: columns })));
  return path;
}
