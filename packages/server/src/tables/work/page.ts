/**
 * A page of rows as JSON. First only the columns that conditions and the order need are read, of all images; then everything
 * of the rows that are shown, of the few images that have them.
 */
import type { TablePage } from '@service/contract';

import type { Reading } from '../../zarr/store.ts';
import { Unreadable } from '../../zarr/unreadable.ts';
import type { PageAsk, Value } from '../ask.ts';
import { type Cell, cellsOf, type Column, type ColumnFacts, pick } from '../reading/columns.ts';
import { createGathered, createRoom } from './gathered.ts';
import { attributeColumns, type ShownColumn, wireCell } from './shown.ts';
import { type ImageWithTable, noneLeft, type OpenSelection, openSelection, readParts, shownColumns } from './parts.ts';

interface Counted {
  image: ImageWithTable;
  rows: number;
  kept: Uint32Array | undefined;
}

/** Rows as numbers from 0 on, over all images. */
function orderOf(column: Column, total: number, descending: boolean): Uint32Array {
  const order = Uint32Array.from({ length: total }, (_, row) => row);
  const sign = descending ? -1 : 1;
  let ranks: ArrayLike<number>;
  if (column.type === 'text') {
    const sorted = column.texts.map((text, code) => ({ text, code }));
    sorted.sort((one, other) => (one.text < other.text ? -1 : one.text > other.text ? 1 : 0));
    const places = new Int32Array(sorted.length);
    sorted.forEach(({ code }, place) => (places[code] = place));
    ranks = Float64Array.from(column.codes, (code) => places[code] ?? NaN);
  } else ranks = column.values;
  // what is missing comes last, and equal rows stay as they were
  return order.sort((one, other) => {
    const [left, right] = [ranks[one]!, ranks[other]!];
    if (Number.isNaN(left) || Number.isNaN(right)) {
      return Number(Number.isNaN(left)) - Number(Number.isNaN(right)) || one - other;
    }
    return left < right ? -sign : left > right ? sign : one - other;
  });
}

/** An attribute of an image as a column of its rows. */
function constant(value: Value | undefined, rows: number): Column {
  if (typeof value === 'string') return { type: 'text', codes: new Int32Array(rows), texts: [value] };
  return { type: 'number', values: new Float64Array(rows).fill(value === undefined ? NaN : Number(value)) };
}

/** Counts the rows that pass, and brings them in order. */
async function count(open: OpenSelection, sort: PageAsk['sort'], notes: boolean) {
  const counted: Counted[] = [];
  const gathered = createGathered(createRoom());
  const isOfTable = sort !== undefined && open.columns.some(({ name }) => name === sort.column);
  for await (const { image, rows, kept, columns } of readParts(open, isOfTable ? [sort.column] : [], { notes })) {
    counted.push({ image, rows, kept });
    if (!sort) continue;
    const ofImage = sort.column === 'zarr_url' ? image.zarr_url : image.attributes[sort.column];
    gathered.add(isOfTable ? columns.get(sort.column) : constant(ofImage, rows), rows);
  }
  const total = counted.reduce((sum, { rows }) => sum + rows, 0);
  return { counted, total, order: sort && orderOf(gathered.column, total, sort.descending) };
}

interface Chosen {
  image: ImageWithTable;
  /** In the table of the image. */
  row: number;
}

function rowsOfPage(counted: Counted[], order: Uint32Array | undefined, from: number, to: number): Chosen[] {
  const starts: number[] = [];
  counted.reduce((start, { rows }) => (starts.push(start), start + rows), 0);
  const chosen: Chosen[] = [];
  for (let at = from; at < to; at++) {
    const row = order ? order[at]! : at;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= row) low = middle;
      else high = middle - 1;
    }
    const { image, kept } = counted[low]!;
    const inTable = row - starts[low]!;
    chosen.push({ image, row: kept ? kept[inTable]! : inTable });
  }
  return chosen;
}

const MOST_VALUES = 2 ** 22;
const MOST_ATTEMPTS = 20;

/** Everything of some rows of one image. Tables with many rows are read some columns at a time. */
async function readRows(image: ImageWithTable, rows: Uint32Array, shown: ColumnFacts[]) {
  const cells = new Map<string, (row: number) => Cell>();
  const atOnce = Math.max(1, Math.floor(MOST_VALUES / Math.max(1, image.table.rows ?? 100_000)));
  const names = shown.map(({ name }) => name);
  for (let at = 0; at < names.length; at += atOnce) {
    const { columns } = await image.table.read(names.slice(at, at + atOnce));
    for (const [name, column] of columns) cells.set(name, cellsOf(pick(column, rows)));
  }
  return cells;
}

/** The cells of the rows; images that cannot be read after all are given back instead. */
async function items(chosen: Chosen[], attributes: ShownColumn[], shown: ColumnFacts[], open: OpenSelection) {
  const found = new Map<Chosen, Cell[]>();
  const bad = new Set<ImageWithTable>();
  for (const [image, rows] of Map.groupBy(chosen, (one) => one.image)) {
    const numbers = Uint32Array.from(rows, ({ row }) => row);
    const cells = await readRows(image, numbers, shown).catch((error: unknown) => {
      open.reading.signal.throwIfAborted();
      if (!(error instanceof Unreadable)) throw error;
      const problem = {
        zarr_url: image.zarr_url,
        table: open.ask.table,
        kind: 'unreadable' as const,
        text: error.text,
      };
      open.problems.add(problem);
      bad.add(image);
    });
    if (!cells) continue;
    const ofImage = attributes.map(({ valueOf }) => valueOf(image));
    rows.forEach((one, at) =>
      found.set(one, [...ofImage, ...shown.map(({ name }) => wireCell(cells.get(name)?.(at) ?? null))]),
    );
  }
  return bad.size > 0 ? { bad } : { rows: chosen.map((one) => found.get(one)!) };
}

/** Chooses again without images that turned out to be unreadable. */
async function readPage(open: OpenSelection, ask: PageAsk, attributes: ShownColumn[], shown: ColumnFacts[]) {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    if (open.images.length === 0) break;
    const { counted, total, order } = await count(open, ask.sort, attempt === 0);
    const from = Math.min(total, (ask.page - 1) * ask.page_size);
    const chosen = rowsOfPage(counted, order, from, Math.min(total, from + ask.page_size));
    const { rows, bad } = await items(chosen, attributes, shown, open);
    if (rows) return { rows, total };
    open.images = open.images.filter((image) => !bad.has(image));
  }
  throw noneLeft(open.ask, open.problems);
}

export async function tablePage(ask: PageAsk, reading: Reading): Promise<TablePage> {
  const open = await openSelection(ask, reading);
  const shown = shownColumns(open);
  const attributes = attributeColumns(open);
  const { rows, total } = await readPage(open, ask, attributes, shown);
  return {
    current_page: ask.page,
    page_size: ask.page_size,
    total_count: total,
    columns: [
      ...attributes.map(({ name, type }) => ({ name, type, source: 'image' as const })),
      ...shown.map(({ name, type }) => ({ name, type, source: 'table' as const })),
    ],
    items: rows,
    ...open.problems.told(),
  };
}
