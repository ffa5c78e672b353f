/** Arrays of Zarr as columns: one value for each row. */
import { openNumbers, type Numbers, problemWith } from '../../zarr/arrays.ts';
import { bytesPerValue } from '../../zarr/codecs.ts';
import { eachAtOnce } from '../../zarr/each-at-once.ts';
import type { Reading } from '../../zarr/store.ts';
import { unreadable } from '../../zarr/unreadable.ts';
import { type Column, type ColumnType, isInteger, MOST_ROWS, textColumn, wideColumn } from './columns.ts';

const LARGEST_CHUNK_BYTES = 128 * 2 ** 20;
const MOST_CHUNKS = 20_000;
const CHUNKS_AT_ONCE = 4;
const BYTES_OF_TEXT = 4;
/** Of an array that belongs to a table, whatever it is: rows, or what a sparse matrix holds. */
const MOST_VALUES = 8 * MOST_ROWS;

export interface ArrayFacts {
  array: Numbers;
  path: string;
  shape: readonly number[];
  dtype: string;
}

const isSize = (size: unknown) => Number.isSafeInteger(size) && (size as number) >= 0;

/** An array whose shape and chunks can be believed. */
export async function arrayFacts(path: string, version: 2 | 3, reading: Reading): Promise<ArrayFacts> {
  try {
    const at = path.lastIndexOf('/');
    const array = await openNumbers(path.slice(0, at), path.slice(at + 1), version, reading);
    const { shape, chunks, dtype } = array;
    if (!shape.every(isSize)) throw unreadable(`${path} is damaged: its shape is no list of sizes.`);
    if (chunks.length !== shape.length || !chunks.every((size) => isSize(size) && size > 0)) {
      throw unreadable(`${path} is damaged: its chunks do not fit to its shape.`);
    }
    if (chunks.reduce((product, size) => product * size, bytesPerValue(dtype) ?? BYTES_OF_TEXT) > LARGEST_CHUNK_BYTES) {
      throw unreadable(`${path} has chunks of more than 128 MiB each.`);
    }
    if (shape.reduce((product, size, axis) => product * Math.ceil(size / chunks[axis]!), 1) > MOST_CHUNKS) {
      throw unreadable(`${path} has more than ${MOST_CHUNKS} chunks.`);
    }
    return { array, path, shape, dtype };
  } catch (error) {
    throw problemWith(path, error);
  }
}

export function typeOfArray({ dtype }: ArrayFacts): ColumnType {
  if (dtype === 'bool') return 'boolean';
  if (dtype.startsWith('float')) return 'number';
  return /^u?int/.test(dtype) ? 'integer' : 'text';
}

export interface Chunk {
  data: ArrayLike<unknown>;
  shape: readonly number[];
  stride: readonly number[];
}

/** zarrita has lists of its own for flags and texts of a fixed length. */
const plainList = (data: unknown): ArrayLike<unknown> =>
  Array.isArray(data) || ArrayBuffer.isView(data)
    ? (data as unknown as ArrayLike<unknown>)
    : [...(data as Iterable<unknown>)];

export async function readChunk({ array, path }: ArrayFacts, coords: number[]): Promise<Chunk> {
  const name = `${path}, chunk ${coords.join('/')},`;
  try {
    const { data, shape, stride } = await array.getChunk(coords);
    const list = plainList(data);
    const length = array.chunks.reduce((product, size) => product * size, 1);
    if (list.length !== length) {
      throw unreadable(`${name} is damaged: it holds ${list.length} values and should hold ${length}.`);
    }
    return { data: list, shape, stride };
  } catch (error) {
    throw problemWith(name, error);
  }
}

/** All values of an array with one axis, in one list. */
async function readList(facts: ArrayFacts, reading: Reading): Promise<ArrayLike<unknown>> {
  const { shape, array, path } = facts;
  if (shape.length !== 1) throw unreadable(`${path} is damaged: it has ${shape.length} axes instead of one.`);
  const [length] = shape as [number];
  if (length > MOST_VALUES)
    throw unreadable(`${path} holds ${length} values. The service reads at most ${MOST_VALUES}.`);
  const [size] = array.chunks as [number];
  const count = Math.ceil(length / size);
  const parts = new Array<ArrayLike<unknown>>(count);
  await eachAtOnce(
    Array.from({ length: count }, (_, at) => at),
    CHUNKS_AT_ONCE,
    async (at) => {
      reading.signal.throwIfAborted();
      parts[at] = (await readChunk(facts, [at])).data;
    },
  );
  return joined(parts, length, size);
}

/** In the kind of list that its first part is. */
function joined(parts: ArrayLike<unknown>[], length: number, size: number): ArrayLike<unknown> {
  const [first] = parts;
  if (first === undefined) return [];
  if (!ArrayBuffer.isView(first)) return parts.flatMap((part) => Array.from(part)).slice(0, length);
  if (parts.length === 1) return (first as unknown as Float64Array).subarray(0, length);
  const all = new (first.constructor as Float64ArrayConstructor)(length);
  parts.forEach((part, at) =>
    all.set((part as Float64Array).subarray(0, Math.min(size, length - at * size)), at * size),
  );
  return all;
}

/** Numbers with the fewest bytes that keep them exact. */
export const roomFor = (dtype: string, length: number) =>
  /^(float(16|32)|u?int(8|16)|bool)$/.test(dtype) ? new Float32Array(length) : new Float64Array(length);

function columnOf(values: ArrayLike<unknown>, facts: ArrayFacts): Column {
  const type = typeOfArray(facts);
  if (type === 'text') {
    if (values.length > 0 && typeof values[0] !== 'string')
      throw unreadable(`${facts.path} holds values of the type ${facts.dtype}, which is no kind of column.`);
    return textColumn(values as ArrayLike<string>);
  }
  if (facts.dtype.endsWith('64') && type === 'integer') return wideColumn(values as ArrayLike<bigint>);
  if (values instanceof Float64Array || values instanceof Float32Array) return { type, values };
  const room = roomFor(facts.dtype, values.length);
  for (let row = 0; row < room.length; row++) room[row] = Number(values[row]);
  return { type, values: room };
}

/** Labels that had to be written as texts: numbers at once, without a list of the different texts. Undefined for others. */
export async function readWhole(path: string, version: 2 | 3, reading: Reading): Promise<Column | undefined> {
  const facts = await arrayFacts(path, version, reading);
  if (typeOfArray(facts) !== 'text') return undefined;
  const texts = (await readList(facts, reading)) as ArrayLike<string>;
  const values = new Float64Array(texts.length);
  for (let row = 0; row < values.length; row++) {
    if (!isInteger.test(texts[row]!)) return undefined;
    values[row] = Number(texts[row]);
  }
  return { type: 'integer', values };
}

export async function readValues(path: string, version: 2 | 3, reading: Reading): Promise<Column> {
  const facts = await arrayFacts(path, version, reading);
  try {
    return columnOf(await readList(facts, reading), facts);
  } catch (error) {
    throw problemWith(path, error);
  }
}

export async function readTexts(path: string, version: 2 | 3, reading: Reading): Promise<string[]> {
  const facts = await arrayFacts(path, version, reading);
  return Array.from(await readList(facts, reading), String);
}
