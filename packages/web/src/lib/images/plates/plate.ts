/**
 * A plate as a grid of wells: how many images lie in which well, and the worst that happened there.
 *
 *     const plate = layOut(groups);           // 16 rows, 24 columns, wells by their name
 *     plate.wells.get('F16')?.look            // 'warning'
 */
import type { ImageGroup } from '@service/contract';

import type { State } from '../../ui/status.ts';
import { worse } from '../image-state.ts';

export interface Cell {
  row: number;
  column: number;
}

export interface Well extends Cell {
  /** `F16` */
  name: string;
  /** As the images write it: `F16`, `F/16`. */
  values: string[];
  /** How many there are, and how many of them failed. */
  images: number;
  failed: number;
  /** Undefined where no task is chosen. */
  look: State['look'] | undefined;
  /** What was counted. */
  groups: ImageGroup[];
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

/** The loudest of what happened with some images; undefined where no task is known. */
export function lookOf(group: ImageGroup): State['look'] | undefined {
  const { counts, num_running, num_stopped, num_with_warnings } = group;
  if (!counts) return undefined;
  if (counts.failed > num_stopped) return 'failed';
  if (num_stopped > 0) return 'stopped';
  if (num_running > 0) return 'running';
  if (counts.submitted > 0) return 'waiting';
  if (num_with_warnings > 0) return 'warning';
  return counts.done > 0 ? 'done' : 'unset';
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

function wellOf(cell: Cell, groups: ImageGroup[]): Well {
  const looks = groups.map(lookOf);
  return {
    ...cell,
    name: cellName(cell),
    values: [...new Set(groups.map(({ values }) => values['well'] as string))],
    images: sum(groups.map(({ num_images }) => num_images)),
    failed: sum(groups.map(({ counts, num_stopped }) => (counts?.failed ?? 0) - num_stopped)),
    look: looks.reduce((one, other) => (one && other ? worse(one, other) : undefined)),
    groups,
  };
}

/** Groups by well, and perhaps by the values of an attribute too. */
export function layOut(groups: readonly ImageGroup[]): Plate {
  const found = new Map<string, { cell: Cell; groups: ImageGroup[] }>();
  for (const group of groups) {
    const cell = readWell(group.values['well']);
    if (!cell) continue;
    const there = found.get(cellName(cell));
    if (there) there.groups.push(group);
    else found.set(cellName(cell), { cell, groups: [group] });
  }
  const wells = new Map([...found].map(([name, well]) => [name, wellOf(well.cell, well.groups)]));
  return { ...formatFor([...wells.values()]), wells };
}

/** Wells by what is the worst in them. */
export function countLooks(wells: Iterable<Well>): Map<State['look'], number> {
  const counts = new Map<State['look'], number>();
  for (const { look } of wells) if (look) counts.set(look, (counts.get(look) ?? 0) + 1);
  return counts;
}

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

/** A cell in the middle of the eight around it, line by line. */
export const around = ({ row, column }: Cell): Cell[] =>
  [-1, 0, 1].flatMap((down) => [-1, 0, 1].map((across) => ({ row: row + down, column: column + across })));

/** All wells of the rectangle between two, as far as they hold images. */
export function between({ wells }: Plate, one: Cell, other: Cell): Well[] {
  const [top, bottom] = [Math.min(one.row, other.row), Math.max(one.row, other.row)];
  const [left, right] = [Math.min(one.column, other.column), Math.max(one.column, other.column)];
  return [...wells.values()].filter(
    ({ row, column }) => row >= top && row <= bottom && column >= left && column <= right,
  );
}
