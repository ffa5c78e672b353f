/** Tables as Parquet: `table.parquet`, read by row group and column. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';

import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  type SchemaElement,
  snappyUncompress,
} from 'hyparquet';
import { compressors as others } from 'hyparquet-compressors';

import { bytesOf, openFile, type Reading } from '../../zarr/store.ts';
import { unpackLz4 } from '../../zarr/lz4.ts';
import { unreadable, Unreadable } from '../../zarr/unreadable.ts';
import { type Column, type ColumnFacts, type ColumnType, MOST_ROWS, textColumn, wideColumn } from './columns.ts';
import type { Content, TableSource } from './source.ts';

const MEBIBYTE = 2 ** 20;
const LARGEST_PART = 128 * MEBIBYTE;
const MOST_GROUPS = 10_000;
const LONGEST_METADATA = 16 * MEBIBYTE;

const checked = (length: number) => {
  if (!(length >= 0 && length <= LARGEST_PART)) throw new Error('a page says that it unpacks to more than 128 MiB');
  return length;
};

/** With bounds, into room that nobody else's bytes were in before. */
const COMPRESSORS: Compressors = {
  GZIP: (bytes, length) => gunzipSync(bytes, { maxOutputLength: checked(length) + 1 }),
  ZSTD: (bytes, length) => zstdDecompressSync(bytes, { maxOutputLength: checked(length) + 1 }),
  BROTLI: (bytes, length) => brotliDecompressSync(bytes, { maxOutputLength: checked(length) + 1 }),
  SNAPPY(bytes, length) {
    const room = new Uint8Array(checked(length));
    snappyUncompress(bytes, room);
    return room;
  },
  LZ4_RAW(bytes, length) {
    const room = new Uint8Array(checked(length));
    unpackLz4(bytes, room);
    return room;
  },
  LZ4: (bytes, length) => others.LZ4!(bytes, checked(length)),
};

/** A file whose parts are read when they are needed, each time by the same rules. */
async function sourceOf(path: string, reading: Reading): Promise<AsyncBuffer> {
  const opened = await openFile(path, reading);
  if (!opened) throw unreadable(`${path} is missing.`);
  const size = Number(opened.stats.size);
  await opened.file.close();
  return {
    byteLength: size,
    async slice(start, end = size) {
      if (!(start >= 0 && end >= start && end <= size && end - start <= LARGEST_PART))
        throw new Error('it names a place outside of itself');
      const again = await openFile(path, reading);
      if (!again) throw unreadable(`${path} is missing.`);
      try {
        const bytes = await bytesOf(again, path, start, end - start);
        return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
      } finally {
        await again.file.close();
      }
    },
  };
}

const CONVERTED: Partial<Record<string, ColumnType>> = {
  ...{ UTF8: 'text', ENUM: 'text', JSON: 'text', DATE: 'text', TIME_MILLIS: 'text', TIME_MICROS: 'text' },
  ...{ TIMESTAMP_MILLIS: 'text', TIMESTAMP_MICROS: 'text', DECIMAL: 'number' },
};
const LOGICAL: Partial<Record<string, ColumnType>> = {
  ...{ STRING: 'text', ENUM: 'text', JSON: 'text', DATE: 'text', TIME: 'text', TIMESTAMP: 'text', UUID: 'text' },
  ...{ DECIMAL: 'number', FLOAT16: 'number', NULL: 'number' },
};
const PLAIN: Partial<Record<string, ColumnType>> = {
  ...{ BOOLEAN: 'boolean', INT32: 'integer', INT64: 'integer', INT96: 'text', FLOAT: 'number', DOUBLE: 'number' },
};

/** Undefined for what is no plain column: lists, maps, bytes. */
const typeOf = ({ type, converted_type, logical_type, repetition_type }: SchemaElement): ColumnType | undefined =>
  repetition_type === 'REPEATED'
    ? undefined
    : (LOGICAL[logical_type?.type ?? ''] ?? CONVERTED[converted_type ?? ''] ?? PLAIN[type ?? '']);

/** Columns that are not made of others. */
function flatColumns({ schema }: FileMetaData): (ColumnFacts & { isSingle: boolean })[] {
  const found: (ColumnFacts & { isSingle: boolean })[] = [];
  for (let at = 1; at < schema.length;) {
    const element = schema[at]!;
    let inside = element.num_children ?? 0;
    at++;
    const type = inside === 0 ? typeOf(element) : undefined;
    if (type) found.push({ name: element.name, type, isSingle: element.type === 'FLOAT' });
    for (; inside > 0 && at < schema.length; inside--, at++) inside += schema[at]!.num_children ?? 0;
  }
  return found;
}

function checkMetadata(metadata: FileMetaData): number {
  const rows = Number(metadata.num_rows);
  if (!(rows >= 0 && rows <= MOST_ROWS)) throw new Error(`it has ${rows} rows, and the service reads ${MOST_ROWS}`);
  if (metadata.row_groups.length > MOST_GROUPS) throw new Error('it has too many row groups');
  const counted = metadata.row_groups.reduce((sum, { num_rows }) => sum + Number(num_rows), 0);
  if (counted !== rows || metadata.row_groups.some(({ num_rows }) => num_rows < 0)) {
    throw new Error('its row groups have another number of rows than it says');
  }
  for (const { columns, num_rows } of metadata.row_groups) {
    for (const { meta_data: facts, file_path } of columns) {
      // a column may lie in another file, which would be one that nobody asked for
      if (file_path !== undefined) throw new Error('it names other files');
      if (!facts || facts.num_values > num_rows * 1000n || Number(facts.total_uncompressed_size) > LARGEST_PART) {
        throw new Error('a column says that it holds more than its rows');
      }
    }
  }
  return rows;
}

const asText = (value: unknown): string | null => {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : `${value as number}`;
};

type Parts = readonly ArrayLike<unknown>[];

const lengthOf = (parts: Parts) => parts.reduce((sum, part) => sum + part.length, 0);

function listOf<T>(parts: Parts, valueOf: (value: unknown) => T): T[] {
  const list = new Array<T>(lengthOf(parts));
  let at = 0;
  for (const part of parts) for (let row = 0; row < part.length; row++) list[at++] = valueOf(part[row]);
  return list;
}

/** Whole numbers of 64 bits come as such, and among nothing where some are missing. */
function isWide(parts: Parts): boolean {
  if (parts.some((part) => part instanceof BigInt64Array || part instanceof BigUint64Array)) return true;
  return parts.some((part) => Array.isArray(part) && part.some((value) => typeof value === 'bigint'));
}

const asNumber = (value: unknown) => (value === null || value === undefined ? NaN : Number(value));

function numbersOf(parts: Parts, isSingle: boolean): Float32Array | Float64Array {
  const values = isSingle ? new Float32Array(lengthOf(parts)) : new Float64Array(lengthOf(parts));
  let at = 0;
  for (const part of parts) {
    if (part instanceof Float64Array || part instanceof Float32Array || part instanceof Int32Array)
      values.set(part, at);
    else for (let row = 0; row < part.length; row++) values[at + row] = asNumber(part[row]);
    at += part.length;
  }
  return values;
}

/** The parts of a column, in order, as one. */
function joined(parts: Parts, { type, isSingle }: ColumnFacts & { isSingle: boolean }): Column {
  if (type === 'text') return textColumn(listOf(parts, asText));
  if (isWide(parts)) return wideColumn(listOf(parts, (value) => (value ?? null) as bigint | null));
  return { type, values: numbersOf(parts, isSingle) };
}

/** What is wrong with a file, in words. */
async function guardedRead<T>(path: string, reading: Reading, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    reading.signal.throwIfAborted();
    if (error instanceof Unreadable) throw error;
    const reason = error instanceof Error ? error.message.replaceAll('\n', ' ').slice(0, 200) : 'unknown';
    throw unreadable(`${path} is damaged or no Parquet file (${reason}). It may be being written.`);
  }
}

export async function openParquet({ path: folder, reading }: TableSource): Promise<Content> {
  const path = `${folder}/table.parquet`;
  const file = await sourceOf(path, reading);
  return guardedRead(path, reading, async () => {
    const metadata = await parquetMetadataAsync(bounded(file), { geoparquet: false });
    const rows = checkMetadata(metadata);
    const columns = flatColumns(metadata);

    async function read(names: readonly string[]): Promise<Map<string, Column>> {
      const parts = new Map(names.map((name): [string, ArrayLike<unknown>[]] => [name, []]));
      let rowStart = 0;
      for (const { num_rows } of metadata.row_groups) {
        const rowEnd = rowStart + Number(num_rows);
        reading.signal.throwIfAborted();
        const onChunk = ({
          columnName,
          columnData,
          rowStart: at,
        }: {
          columnName: string;
          columnData: ArrayLike<unknown>;
          rowStart: number;
        }) => {
          if (at < rowEnd) parts.get(columnName)!.push(columnData);
        };
        if (rowEnd > rowStart)
          await parquetRead({
            file,
            metadata,
            columns: [...names],
            rowStart,
            rowEnd,
            compressors: COMPRESSORS,
            onChunk,
          });
        rowStart = rowEnd;
      }
      const found = columns.filter(({ name }) => parts.has(name));
      return new Map(found.map((facts) => [facts.name, joined(parts.get(facts.name)!, facts)]));
    }

    return {
      columns: columns.map(({ name, type }) => ({ name, type })),
      rows,
      read: (names) => guardedRead(path, reading, () => read(names)),
    };
  });
}

/** Metadata is short: what says otherwise is not read. */
const bounded = (file: AsyncBuffer): AsyncBuffer => ({
  byteLength: file.byteLength,
  slice(start, end = file.byteLength) {
    if (end - start > LONGEST_METADATA) throw new Error('its metadata is longer than 16 MiB');
    return file.slice(start, end);
  },
});
