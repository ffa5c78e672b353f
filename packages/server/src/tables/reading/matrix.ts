/** The matrix of an AnnData table, dense or sparse: some of its columns, each as a list of numbers. */
import { plural } from '@service/contract/plural';

import { readAttributes } from '../../zarr/attributes.ts';
import { eachAtOnce } from '../../zarr/each-at-once.ts';
import { type Reading, readWhole } from '../../zarr/store.ts';
import { unreadable } from '../../zarr/unreadable.ts';
import { type ArrayFacts, arrayFacts, readChunk, readValues, roomFor, typeOfArray } from './arrays.ts';
import { MOST_ROWS, type NumberColumn } from './columns.ts';

export interface Matrix {
  rows: number;
  columns: number;
  type: NumberColumn['type'];
  read(columns: readonly number[]): Promise<NumberColumn[]>;
}

const CHUNKS_AT_ONCE = 2;
const SPARSE = new Set(['csr_matrix', 'csc_matrix']);

function numberType(facts: ArrayFacts): NumberColumn['type'] {
  const type = typeOfArray(facts);
  if (type === 'text') throw unreadable(`${facts.path} holds values of the type ${facts.dtype} instead of numbers.`);
  return type;
}

function dense(facts: ArrayFacts, reading: Reading): Matrix {
  const { shape, array, path, dtype } = facts;
  if (shape.length !== 2)
    throw unreadable(
      `${path} is damaged: it has ${shape.length} ${plural(shape.length, 'axis', 'axes')} instead of two.`,
    );
  const [rows, columns] = shape as [number, number];
  const [height, width] = array.chunks as [number, number];
  const type = numberType(facts);

  async function read(wanted: readonly number[]): Promise<NumberColumn[]> {
    const lists = wanted.map(() => roomFor(dtype, rows));
    const across = [...new Set(wanted.map((column) => Math.floor(column / width)))];
    const coords = Array.from({ length: Math.ceil(rows / height) }, (_, at) => across.map((one) => [at, one])).flat();
    await eachAtOnce(coords, CHUNKS_AT_ONCE, async ([down, over]) => {
      reading.signal.throwIfAborted();
      const { data, stride } = await readChunk(facts, [down!, over!]);
      const first = down! * height;
      const count = Math.min(height, rows - first);
      wanted.forEach((column, at) => {
        if (Math.floor(column / width) !== over) return;
        const list = lists[at]!;
        let place = (column % width) * stride[1]!;
        for (let row = 0; row < count; row++, place += stride[0]!) list[first + row] = Number(data[place]);
      });
    });
    return lists.map((values) => ({ type, values }));
  }

  return { rows, columns, type, read };
}

interface Sparse {
  data: ArrayLike<number>;
  indices: NumberColumn['values'];
  starts: NumberColumn['values'];
}

/** What is there of each line, and where in the line, has to lie inside. */
function checkSparse(path: string, { data, indices, starts }: Sparse, [lines, across]: [number, number]): void {
  const fits = starts.length === lines + 1 && starts[0] === 0 && starts[lines] === data.length;
  if (!fits || indices.length !== data.length || starts.some((start, at) => at > 0 && start < starts[at - 1]!)) {
    throw unreadable(`${path} is damaged: its indptr does not fit to its data.`);
  }
  if (indices.some((index) => !(index >= 0 && index < across))) {
    throw unreadable(`${path} is damaged: an index is outside of its shape.`);
  }
}

async function sparse(path: string, attributes: object, version: 2 | 3, reading: Reading): Promise<Matrix> {
  const { shape, 'encoding-type': encoding } = attributes as { shape?: unknown; 'encoding-type'?: string };
  const [rows, columns] = (Array.isArray(shape) ? shape : []) as [number, number];
  if (![rows, columns].every((size) => Number.isSafeInteger(size) && size >= 0 && size <= MOST_ROWS)) {
    throw unreadable(`${path} is damaged: its shape is no pair of sizes.`);
  }
  const facts = await arrayFacts(`${path}/data`, version, reading);
  const type = numberType(facts);
  const isByRow = encoding === 'csr_matrix';

  async function numbersOf(name: string): Promise<NumberColumn['values']> {
    const column = await readValues(`${path}/${name}`, version, reading);
    if (column.type === 'text') throw unreadable(`${path}/${name} is damaged: it holds texts.`);
    return column.values;
  }

  async function read(wanted: readonly number[]): Promise<NumberColumn[]> {
    const [data, indices, starts] = await Promise.all([numbersOf('data'), numbersOf('indices'), numbersOf('indptr')]);
    checkSparse(path, { data, indices, starts }, isByRow ? [rows, columns] : [columns, rows]);
    const lines = isByRow ? rows : columns;
    const places = new Map(wanted.map((column, at) => [column, at]));
    const lists = wanted.map(() => new Float64Array(rows));
    for (let line = 0; line < lines; line++) {
      if (!isByRow && !places.has(line)) continue;
      for (let at = starts[line]!; at < starts[line + 1]!; at++) {
        const [row, column] = isByRow ? [line, indices[at]!] : [indices[at]!, line];
        const place = places.get(column);
        // what is there twice counts together
        if (place !== undefined) lists[place]![row]! += data[at]!;
      }
    }
    return lists.map((values) => ({ type, values }));
  }

  return { rows, columns, type, read };
}

/** Undefined where a table has none. */
export async function openMatrix(table: string, version: 2 | 3, reading: Reading): Promise<Matrix | undefined> {
  const path = `${table}/X`;
  const attributes = (await readAttributes(path, reading))?.values as Record<string, unknown> | null | undefined;
  // an array of Zarr 2 may have no attributes
  if (!attributes && !(version === 2 && (await readWhole(`${path}/.zarray`, reading)))) return undefined;
  const encoding = attributes?.['encoding-type'];
  if (SPARSE.has(String(encoding))) return sparse(path, attributes!, version, reading);
  if (encoding === 'null') return undefined;
  return dense(await arrayFacts(path, version, reading), reading);
}
