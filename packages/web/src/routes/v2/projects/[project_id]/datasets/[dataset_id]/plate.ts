/**
 * A plate as a grid of wells: which images lie in which well, the worst that happened there, or the value of an attribute.
 *
 *     const plate = layOut(images);           // 16 rows, 24 columns, wells by their name
 *     plate.wells.get('F16')?.look            // 'warning'
 */
import { type ListedImage, valueWords } from '#lib/images/filters.ts';
import { imageState, worse } from '#lib/images/image-state.ts';
import type { State } from '#lib/ui/status.ts';

export interface Cell {
  row: number;
  column: number;
}

export interface Well extends Cell {
  /** `F16` */
  name: string;
  /** As the images write it: `F16`, `F/16`. */
  values: string[];
  images: ListedImage[];
  /** Undefined where no task is chosen. */
  look: State['look'] | undefined;
}

export interface Plate {
  rows: number;
  columns: number;
  wells: Map<string, Well>;
}

const WELL = /^([A-Z]{1,2})[/_ -]?0*(\d{1,2})$/i;

const letterRow = (letters: string): number =>
  [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;

/** `A`, …, `Z`, `AA`, …, `AF` */
export const rowName = (row: number): string =>
  row < 26 ? String.fromCharCode(65 + row) : rowName(Math.floor(row / 26) - 1) + rowName(row % 26);

export const cellName = ({ row, column }: Cell): string => `${rowName(row)}${String(column + 1).padStart(2, '0')}`;

/** Row letters and a column number; undefined for anything else. */
export function readWell(value: unknown): Cell | undefined {
  const [, letters, number] = typeof value === 'string' ? (WELL.exec(value.trim()) ?? []) : [];
  if (letters === undefined || number === undefined) return undefined;
  const cell = { row: letterRow(letters), column: Number(number) - 1 };
  return cell.column < 0 ? undefined : cell;
}

/** Plates as they are made: 6, 12, 24, 48, 96, 384 and 1536 wells. */
const FORMATS = [
  [2, 3],
  [3, 4],
  [4, 6],
  [6, 8],
  [8, 12],
  [16, 24],
  [32, 48],
] as const;

function formatFor(cells: readonly Cell[]): { rows: number; columns: number } {
  const rows = Math.max(0, ...cells.map(({ row }) => row + 1));
  const columns = Math.max(0, ...cells.map(({ column }) => column + 1));
  const [most, wide] = FORMATS.find(([high, across]) => rows <= high && columns <= across) ?? [rows, columns];
  return { rows: most, columns: wide };
}

export function layOut(images: readonly ListedImage[], hasStatus: boolean): Plate {
  const wells = new Map<string, Well>();
  for (const image of images) {
    const value = image.attributes['well'];
    const cell = readWell(value);
    if (!cell) continue;
    const name = cellName(cell);
    const look = hasStatus ? imageState(image).look : undefined;
    const well = wells.get(name);
    if (!well) {
      wells.set(name, { ...cell, name, values: [value as string], images: [image], look });
      continue;
    }
    well.images.push(image);
    if (!well.values.includes(value as string)) well.values.push(value as string);
    if (look && well.look) well.look = worse(look, well.look);
  }
  return { ...formatFor([...wells.values()]), wells };
}

/** Wells by what is the worst in them. */
export function countLooks(wells: Iterable<Well>): Map<State['look'], number> {
  const counts = new Map<State['look'], number>();
  for (const { look } of wells) if (look) counts.set(look, (counts.get(look) ?? 0) + 1);
  return counts;
}

/* values of an attribute */

/** Mean of numbers; of texts the one that all images have, or nothing when they differ. */
export function wellValue(well: Well, key: string): number | string | undefined {
  const values = well.images.flatMap(({ attributes }) => (attributes[key] === undefined ? [] : [attributes[key]]));
  if (values.length === 0) return undefined;
  const numbers = values.map((value) =>
    typeof value === 'string' || typeof value === 'boolean' ? NaN : asNumber(value),
  );
  if (numbers.every(Number.isFinite)) return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  const words = new Set(values.map(valueWords));
  return words.size === 1 ? [...words][0] : undefined;
}

const asNumber = (value: unknown): number => Number(valueWords(value));

export const COLOURS = ['v0', 'v1', 'v2', 'v3', 'v4', 'v5', 'v6'] as const;
export type Colour = (typeof COLOURS)[number];

export type Scale =
  | { kind: 'numbers'; least: number; most: number }
  | { kind: 'words'; values: { value: string; colour: Colour }[] }
  | { kind: 'nothing' };

/** Few categories lie far apart on the scale. */
const APART = [0, 4, 2, 6, 1, 3, 5];

function colourOfCategory(index: number, count: number): Colour {
  if (count <= COLOURS.length) return COLOURS[[...APART.slice(0, count)].sort((one, other) => one - other)[index]!]!;
  return COLOURS[Math.floor((index / (count - 1)) * (COLOURS.length - 1))]!;
}

export function scaleOf(wells: Iterable<Well>, key: string): Scale {
  const values = [...wells].flatMap((well) => wellValue(well, key) ?? []);
  const numbers = values.filter((value) => typeof value === 'number');
  if (values.length === 0) return { kind: 'nothing' };
  if (numbers.length === values.length)
    return { kind: 'numbers', least: Math.min(...numbers), most: Math.max(...numbers) };
  const words = [...new Set(values.map(String))].sort((one, other) =>
    one.localeCompare(other, 'en', { numeric: true }),
  );
  return {
    kind: 'words',
    values: words.map((value, index) => ({ value, colour: colourOfCategory(index, words.length) })),
  };
}

export function colourOf(scale: Scale, value: number | string | undefined): Colour | undefined {
  if (value === undefined || scale.kind === 'nothing') return undefined;
  if (scale.kind === 'words') return scale.values.find((one) => one.value === String(value))?.colour;
  const range = scale.most - scale.least;
  const part = range === 0 ? 0.5 : (Number(value) - scale.least) / range;
  return COLOURS[Math.min(COLOURS.length - 1, Math.floor(part * COLOURS.length))];
}

/** Five digits at most: `1 212.5`, `0.325`. */
export const shortNumber = (value: number): string => String(Number(value.toPrecision(5)));

/* choosing */

const STEPS: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** Where a key leads; undefined for keys that do not walk. */
export function walk({ row, column }: Cell, key: string, { rows, columns }: Pick<Plate, 'rows' | 'columns'>) {
  if (key === 'Home') return { row, column: 0 };
  if (key === 'End') return { row, column: columns - 1 };
  const step = STEPS[key];
  if (!step) return undefined;
  const within = (value: number, size: number) => Math.min(Math.max(value, 0), size - 1);
  return { row: within(row + step[0], rows), column: within(column + step[1], columns) };
}

/** All wells of the rectangle between two, as far as they hold images. */
export function between({ wells }: Plate, one: Cell, other: Cell): Well[] {
  const [top, bottom] = [Math.min(one.row, other.row), Math.max(one.row, other.row)];
  const [left, right] = [Math.min(one.column, other.column), Math.max(one.column, other.column)];
  return [...wells.values()].filter(
    ({ row, column }) => row >= top && row <= bottom && column >= left && column <= right,
  );
}
