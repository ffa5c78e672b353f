/** A table over many images: each opened, read and filtered, in the order of the images. What is wrong with one is noted. */
import { readAttributes } from '../../zarr/attributes.ts';
import type { Reading } from '../../zarr/store.ts';
import { unreadable, Unreadable } from '../../zarr/unreadable.ts';
import type { AskedImage, Selection, Value } from '../ask.ts';
import { type Column, type ColumnFacts, pick } from '../reading/columns.ts';
import { type OpenTable, openTable } from '../reading/table.ts';
import { type Conditions, createConditions } from './conditions.ts';
import { inOrder } from './in-order.ts';
import { createProblems, type Problems } from './problems.ts';

const AHEAD = 4;
/** Of tables that are larger, the next is read when one is done with. */
const LARGE_VALUES = 500_000;

export interface ImageWithTable {
  zarr_url: string;
  attributes: Record<string, Value>;
  table: OpenTable;
}

/** The rows of one image that pass. */
export interface Part {
  image: ImageWithTable;
  rows: number;
  /** Which rows of its table they are; undefined: all. */
  kept: Uint32Array | undefined;
  columns: Map<string, Column>;
}

export interface OpenSelection {
  ask: Selection;
  reading: Reading;
  images: ImageWithTable[];
  /** Of all images, in the order in which they were found. */
  columns: ColumnFacts[];
  /** Of the images, and from condition tables. */
  attributes: string[];
  index: string | null;
  problems: Problems;
}

/** Two kinds of numbers are numbers; anything else together is texts. */
export function commonType(one: ColumnFacts['type'], other: ColumnFacts['type']): ColumnFacts['type'] {
  if (one === other) return one;
  return one === 'text' || other === 'text' ? 'text' : 'number';
}

async function openOne(
  image: AskedImage,
  { table: name }: Selection,
  conditions: Conditions,
  problems: Problems,
  reading: Reading,
): Promise<ImageWithTable | undefined> {
  const { zarr_url } = image;
  try {
    const [table, attributes] = await Promise.all([
      openTable(`${zarr_url}/tables/${name}`, reading),
      conditions.of(image),
    ]);
    return { zarr_url, attributes, table };
  } catch (error) {
    reading.signal.throwIfAborted();
    if (!(error instanceof Unreadable)) throw error;
    if (!error.isMissing) problems.add({ zarr_url, table: name, kind: 'unreadable', text: error.text });
    else if (await readAttributes(zarr_url, reading).catch(() => true))
      problems.add({ zarr_url, table: name, kind: 'no_table', text: `This image has no table ${name}.` });
    else problems.add({ zarr_url, table: name, kind: 'no_image', text: `There is no image at ${zarr_url}.` });
    return undefined;
  }
}

/** Only the objects that were asked for, where some were. */
function chosenImages({ images, objects }: Selection): AskedImage[] {
  if (!objects) return images;
  const wanted = new Set(objects.map(({ zarr_url }) => zarr_url));
  return images.filter(({ zarr_url }) => wanted.has(zarr_url));
}

/** Where there is nothing to show, it is said why of one image. */
export function noneLeft({ table }: Selection, problems: Problems): Unreadable {
  const first = problems.told().problems.find(({ kind }) => kind === 'unreadable' || kind === 'no_image');
  return unreadable(`None of these images has a readable table ${table}.${first ? ` ${first.text}` : ''}`);
}

export async function openSelection(ask: Selection, reading: Reading): Promise<OpenSelection> {
  const problems = createProblems(ask.problems);
  const conditions = createConditions(reading);
  const images: ImageWithTable[] = [];
  const opened = inOrder(chosenImages(ask), 4 * AHEAD, (image) => openOne(image, ask, conditions, problems, reading));
  for await (const image of opened) if (image) images.push(image);
  if (images.length === 0) throw noneLeft(ask, problems);
  const types = new Map<string, ColumnFacts['type']>();
  for (const { table } of images) {
    for (const { name, type } of table.columns) types.set(name, commonType(types.get(name) ?? type, type));
  }
  noteOthers(images, types, problems);
  return {
    ask,
    reading,
    images,
    columns: Array.from(types, ([name, type]) => ({ name, type })),
    attributes: [...new Set(images.flatMap(({ attributes }) => Object.keys(attributes)))],
    index: images.find(({ table }) => table.index !== null)?.table.index ?? null,
    problems,
  };
}

const MOST_NAMED = 5;

/** Images whose table has fewer columns than others. */
function noteOthers(images: ImageWithTable[], types: Map<string, unknown>, problems: Problems): void {
  for (const { zarr_url, table } of images) {
    if (table.columns.length === types.size) continue;
    const own = new Set(table.columns.map(({ name }) => name));
    const lacking = [...types.keys()].filter((name) => !own.has(name));
    const more = lacking.length > MOST_NAMED ? ` and ${lacking.length - MOST_NAMED} more` : '';
    const text = `This table has no ${lacking.slice(0, MOST_NAMED).join(', ')}${more}, which other images have.`;
    problems.add({ zarr_url, table: table.path.split('/').at(-1)!, kind: 'other_columns', text });
  }
}

type Test = (row: number) => boolean;

function rangeTest(column: Column | undefined, from = -Infinity, to = Infinity): Test {
  if (column === undefined || column.type === 'text') return () => false;
  const { values } = column;
  return (row) => values[row]! >= from && values[row]! <= to;
}

function valuesTest(column: Column | undefined, wanted: ReadonlySet<Value>): Test {
  if (column === undefined) return () => false;
  if (column.type === 'text') {
    const passes = column.texts.map((text) => wanted.has(text));
    return (row) => passes[column.codes[row]!] ?? false;
  }
  const { values, type } = column;
  return type === 'boolean' ? (row) => wanted.has(values[row] !== 0) : (row) => wanted.has(values[row]!);
}

/** Columns that conditions need. */
const conditionColumns = ({ ask, index }: OpenSelection): string[] => [
  ...ask.ranges.map(({ column }) => column),
  ...ask.values.map(({ column }) => column),
  ...(ask.objects && index !== null ? [index] : []),
];

/** Attributes and columns are named alike; a condition on an attribute holds for all rows of an image, or none. */
function passesAsWhole({ attributes, table }: ImageWithTable, { ranges, values }: Selection): boolean {
  const own = new Set(table.columns.map(({ name }) => name));
  const isOfImage = (name: string) => !own.has(name) && Object.hasOwn(attributes, name);
  return (
    values.every(({ column, values: wanted }) => !isOfImage(column) || wanted.includes(attributes[column]!)) &&
    ranges.every(({ column, from = -Infinity, to = Infinity }) => {
      const value = attributes[column];
      return !isOfImage(column) || (typeof value === 'number' && value >= from && value <= to);
    })
  );
}

function testsOf(image: ImageWithTable, columns: Map<string, Column>, open: OpenSelection, labels: Labels): Test[] {
  const { ask, index } = open;
  const isOfImage = (name: string) => !columns.has(name) && Object.hasOwn(image.attributes, name);
  const tests = [
    ...ask.ranges
      .filter(({ column }) => !isOfImage(column))
      .map(({ column, from, to }) => rangeTest(columns.get(column), from, to)),
    ...ask.values
      .filter(({ column }) => !isOfImage(column))
      .map(({ column, values }) => valuesTest(columns.get(column), new Set(values))),
  ];
  if (labels) tests.push(valuesTest(columns.get(index ?? ''), labels.get(image.zarr_url) ?? new Set()));
  return tests;
}

type Labels = Map<string, Set<Value>> | undefined;

function passing(rows: number, tests: Test[]): Uint32Array | undefined {
  if (tests.length === 0) return undefined;
  const kept = new Uint32Array(rows);
  let count = 0;
  for (let row = 0; row < rows; row++) if (tests.every((test) => test(row))) kept[count++] = row;
  return count === rows ? undefined : kept.slice(0, count);
}

/** Two rows of one image with the same label: an object that was measured twice. */
function noteDuplicates(image: ImageWithTable, index: Column | undefined, problems: Problems): void {
  if (!index) return;
  const values = index.type === 'text' ? index.codes : index.values;
  const different = new Set(values).size;
  if (different === values.length) return;
  const text = `${values.length - different} rows have a label that another row of this image has, too.`;
  problems.add({
    zarr_url: image.zarr_url,
    table: image.table.path.split('/').at(-1)!,
    kind: 'duplicate_labels',
    text,
  });
}

export interface PartOptions {
  /** Only of these images. */
  images?: ImageWithTable[];
  /** Labels are looked at once, though a table may be read twice. */
  notes?: boolean;
}

/** The columns of all images, one image after the other. An image that turns out to be unreadable is noted. */
export async function* readParts(
  open: OpenSelection,
  names: readonly string[],
  { images = open.images, notes = true }: PartOptions = {},
): AsyncGenerator<Part> {
  const { ask, reading, problems, index } = open;
  const labels: Labels =
    ask.objects && new Map(ask.objects.map(({ zarr_url, labels: wanted }) => [zarr_url, new Set(wanted)]));
  const wanted = [...new Set([...names, ...conditionColumns(open)])];
  let failed = 0;

  async function readOne(image: ImageWithTable): Promise<Part | undefined> {
    reading.signal.throwIfAborted();
    if (!passesAsWhole(image, ask)) return undefined;
    try {
      const { rows, columns } = await image.table.read(wanted);
      if (notes && index !== null) noteDuplicates(image, columns.get(index), problems);
      const kept = passing(rows, testsOf(image, columns, open, labels));
      if (!kept) return { image, rows, kept, columns };
      const picked = Array.from(columns, ([name, column]): [string, Column] => [name, pick(column, kept)]);
      return { image, rows: kept.length, kept, columns: new Map(picked) };
    } catch (error) {
      reading.signal.throwIfAborted();
      if (!(error instanceof Unreadable)) throw error;
      failed++;
      if (notes) problems.add({ zarr_url: image.zarr_url, table: ask.table, kind: 'unreadable', text: error.text });
      return undefined;
    }
  }

  // chunks hold all columns, whichever are wanted
  const sizeOf = ({ table }: ImageWithTable) => (table.rows ?? LARGE_VALUES) * table.columns.length;
  const largest = images.reduce((most, image) => Math.max(most, sizeOf(image)), 0);
  let isAny = false;
  for await (const part of inOrder(images, largest > LARGE_VALUES ? 1 : AHEAD, readOne)) {
    if (!part) continue;
    isAny = true;
    yield part;
  }
  if (!isAny && failed > 0) throw noneLeft(ask, problems);
}

/** Which of the columns are shown. */
export function shownColumns({ ask, columns }: OpenSelection): ColumnFacts[] {
  if (!ask.columns) return columns;
  const unknown = ask.columns.filter((name) => !columns.some((column) => column.name === name));
  if (unknown.length > 0) throw unreadable(`The table ${ask.table} has no column ${unknown[0]!.slice(0, 100)}.`);
  return ask.columns.map((name) => columns.find((column) => column.name === name)!);
}
