/** All rows as typed arrays, for plots. */
import { type ColumnArray, type ColumnOfFile, writeColumns } from '@service/contract';

import type { Made } from '../../studio/order.ts';
import type { Reading } from '../../zarr/store.ts';
import type { ColumnsAsk } from '../ask.ts';
import type { Column } from '../reading/columns.ts';
import { createGathered, createRoom } from './gathered.ts';
import { openSelection, readParts, shownColumns } from './parts.ts';

const LARGEST_INT32 = 2 ** 31;

/** Whole numbers that fit take half of the room, and so do others, where that is exact enough. */
function arrayOf(column: Column, precision: ColumnsAsk['precision']): ColumnArray {
  if (column.type === 'text') return column.codes;
  const { values, type } = column;
  if (type !== 'number' && values.every((value) => Math.abs(value) < LARGEST_INT32)) return Int32Array.from(values);
  return precision === 'single' && type === 'number' ? Float32Array.from(values) : values;
}

const kindOf = (array: ColumnArray): ColumnOfFile['array'] =>
  array instanceof Int32Array ? 'int32' : array instanceof Float32Array ? 'float32' : 'float64';

export async function columnsFile(ask: ColumnsAsk, reading: Reading): Promise<Made> {
  const open = await openSelection(ask, reading);
  const shown = shownColumns(open).map(({ name }) => name);
  // what a dot means has to be known, whatever is shown of it
  const names = open.index === null || shown.includes(open.index) ? shown : [open.index, ...shown];
  const room = createRoom();
  const gathered = names.map(() => createGathered(room));
  const images: { zarr_url: string; attributes: Record<string, string | number | boolean>; rows: number }[] = [];
  for await (const { image, rows, columns } of readParts(open, names)) {
    names.forEach((name, at) => gathered[at]!.add(columns.get(name), rows));
    images.push({ zarr_url: image.zarr_url, attributes: image.attributes, rows });
  }
  const columns = gathered.map(({ column }) => column);
  const arrays = columns.map((column) => arrayOf(column, ask.precision));
  const problems = open.problems.told();
  const header = {
    rows: images.reduce((sum, { rows }) => sum + rows, 0),
    index: open.index,
    columns: columns.map((column, at): ColumnOfFile => {
      const facts = { name: names[at]!, type: column.type, array: kindOf(arrays[at]!) };
      return column.type === 'text' ? { ...facts, texts: column.texts } : facts;
    }),
    images,
    ...problems,
  };
  const content = (async function* () {
    yield* writeColumns(header, arrays);
  })();
  return {
    content,
    facts: { 'content-type': 'application/octet-stream', 'x-table-problems': String(problems.num_problems) },
  };
}
