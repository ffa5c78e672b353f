/** The rows of a table as the page has them: typed arrays, the images that they are of, and groups of rows. */
import type { ColumnArray, ColumnsHeader } from '@service/contract';

import { counted } from '../format.ts';
import { cellName, readWell } from '../images/plates/plate.ts';
import type { Numbers } from './statistics.ts';

export interface ImageRows {
  zarr_url: string;
  attributes: ColumnsHeader['images'][number]['attributes'];
  /** Its rows: from here to before there. */
  from: number;
  to: number;
}

export interface Rows {
  count: number;
  /** The column that names the objects. */
  index: string | null;
  images: ImageRows[];
  header: ColumnsHeader;
  arrays: Map<string, ColumnArray>;
}

export function rowsOf({ header, arrays }: { header: ColumnsHeader; arrays: Map<string, ColumnArray> }): Rows {
  let from = 0;
  const images = header.images.map(({ zarr_url, attributes, rows }) => {
    const image = { zarr_url, attributes, from, to: from + rows };
    from = image.to;
    return image;
  });
  return { count: header.rows, index: header.index, images, header, arrays };
}

/** Undefined for a column of texts, or one that was not asked for. */
export function numbersOf({ arrays, header }: Rows, column: string | undefined): Numbers | undefined {
  const facts = header.columns.find(({ name }) => name === column);
  return facts && facts.type !== 'text' ? arrays.get(facts.name) : undefined;
}

/** The image of a row: found by halving, there may be thousands. */
export function imageOf({ images }: Pick<Rows, 'images'>, row: number): ImageRows {
  let [low, high] = [0, images.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (images[middle]!.to <= row) low = middle + 1;
    else high = middle;
  }
  return images[low]!;
}

/** What an object is called in its image: a number where it is one of a label image. */
export type Label = string | number;

/** Objects by their image, as the service names them. */
export type Objects = { zarr_url: string; labels: Label[] }[];

/** The name of the object of each row; undefined where the table names none. */
export function labelsOf(table: Rows): ((row: number) => Label) | undefined {
  const facts = table.header.columns.find(({ name }) => name === table.index);
  const values = facts && table.arrays.get(facts.name);
  if (!values) return undefined;
  return facts.type === 'text' ? (row) => facts.texts![values[row]!] ?? '' : (row) => values[row]!;
}

/** Undefined where the table does not name its objects. */
export function objectsOf(table: Rows, rows: Iterable<number>): Objects | undefined {
  const labelOf = labelsOf(table);
  if (!labelOf) return undefined;
  const found = new Map<string, Label[]>();
  for (const row of rows) {
    const { zarr_url } = imageOf(table, row);
    const before = found.get(zarr_url);
    if (before) before.push(labelOf(row));
    else found.set(zarr_url, [labelOf(row)]);
  }
  return Array.from(found, ([zarr_url, of]) => ({ zarr_url, labels: of }));
}

/** `B03`; undefined where an image says no well. */
export function wellOf({ attributes }: Pick<ImageRows, 'attributes'>): string | undefined {
  const cell = readWell(attributes['well']);
  return cell && cellName(cell);
}

/** One for each row that the reader keeps: all, or those of chosen wells. */
export function keptRows({ count, images }: Rows, wells: ReadonlySet<string>): Uint8Array {
  const kept = new Uint8Array(count);
  for (const image of images) {
    if (wells.size === 0 || wells.has(wellOf(image) ?? '')) kept.fill(1, image.from, image.to);
  }
  return kept;
}

export interface Group {
  name: string;
  rows: Uint32Array;
}

const MOST_GROUPS = 12;
const NONE = '(none)';
const words = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** The value of each row, as text. */
function namesOf(rows: Rows, key: string): (row: number, image: ImageRows) => string {
  const facts = rows.header.columns.find(({ name }) => name === key);
  if (!facts) return (_, { attributes }) => (Object.hasOwn(attributes, key) ? String(attributes[key]) : NONE);
  const values = rows.arrays.get(key)!;
  if (facts.type === 'text') return (row) => facts.texts![values[row]!] ?? NONE;
  if (facts.type === 'boolean') return (row) => (Number.isNaN(values[row]!) ? NONE : String(values[row] !== 0));
  return (row) => (Number.isNaN(values[row]!) ? NONE : String(values[row]));
}

/** Rows that are kept, by an attribute of their image or a column; without either all are one group. */
export function groupsOf(rows: Rows, key: string | undefined, kept: Uint8Array): Group[] {
  const found = new Map<string, number[]>();
  const nameOf = key === undefined ? () => 'All objects' : namesOf(rows, key);
  for (const image of rows.images) {
    for (let row = image.from; row < image.to; row++) {
      if (kept[row] === 0) continue;
      const name = nameOf(row, image);
      const list = found.get(name);
      if (list) list.push(row);
      else found.set(name, [row]);
    }
  }
  const bySize = [...found].sort(([, one], [, other]) => other.length - one.length);
  const shown = bySize.length > MOST_GROUPS ? bySize.slice(0, MOST_GROUPS - 1) : bySize;
  const rest = bySize.slice(shown.length);
  const groups = shown.sort(([one], [other]) => words.compare(one, other));
  if (rest.length > 0) groups.push([counted(rest.length, 'other'), rest.flatMap(([, list]) => list)]);
  return groups.map(([name, list]) => ({ name, rows: Uint32Array.from(list) }));
}
