/**
 * What is selected in the scatter plot: lassos and boxes in the values of both axes, one after the other. They stand in the
 * address, so that a link shows a colleague the same objects.
 *
 *     const shapes = readShapes(['lasso,12,40,18,44,15,60', '+box,0,5,100,200']);
 *     selectRows({ xs, ys, kept, kinds }, shapes)   // { flags, count }
 */
import { flat, type ScaleKind } from './scale.ts';
import type { Numbers } from './statistics.ts';

/** Instead of what was selected, added to it, or taken from it. */
export type Way = '' | '+' | '-';

export type Point = readonly [x: number, y: number];

export interface Shape {
  kind: 'lasso' | 'box';
  way: Way;
  /** Corners of the lasso; of a box two that lie opposite each other. */
  points: Point[];
}

const MOST_POINTS = 500;

const short = (value: number) => String(Number(value.toPrecision(6)));

export const writeShape = ({ kind, way, points }: Shape): string =>
  `${way}${kind},${points.flatMap((point) => point.map(short)).join(',')}`;

function readShape(text: string): Shape | undefined {
  const [, way, kind, list] = /^([+-]?)(lasso|box),([^a-z]*)$/.exec(text.replaceAll('e', 'E')) ?? [];
  if (kind === undefined) return undefined;
  const numbers = list!.split(',').map((part) => (part === '' ? NaN : Number(part)));
  const points = Array.from({ length: Math.floor(numbers.length / 2) }, (_, at): Point => [
    numbers[2 * at]!,
    numbers[2 * at + 1]!,
  ]);
  const isWhole = numbers.length % 2 === 0 && numbers.every(Number.isFinite) && points.length <= MOST_POINTS;
  if (!isWhole || (kind === 'box' ? points.length !== 2 : points.length < 3)) return undefined;
  return { kind: kind as Shape['kind'], way: way as Way, points };
}

/** What cannot be read is left out. */
export const readShapes = (texts: readonly string[]): Shape[] => texts.flatMap((text) => readShape(text) ?? []);

/** A new one, after those before it; one that stands for itself takes their place. */
export const withShape = (before: readonly Shape[], shape: Shape): Shape[] =>
  shape.way === '' || before.length === 0 ? [{ ...shape, way: shape.way === '-' ? '-' : '' }] : [...before, shape];

/** Fewer corners, none of which was farther than `far` from the line without it. */
export function simplified(points: readonly Point[], far: number): Point[] {
  if (points.length < 3) return [...points];
  const [first, last] = [points[0]!, points.at(-1)!];
  const [dx, dy] = [last[0] - first[0], last[1] - first[1]];
  const length = Math.hypot(dx, dy);
  let [most, at] = [0, 0];
  for (let index = 1; index < points.length - 1; index++) {
    const [x, y] = points[index]!;
    const away =
      length === 0
        ? Math.hypot(x - first[0], y - first[1])
        : Math.abs(dx * (first[1] - y) - dy * (first[0] - x)) / length;
    if (away > most) [most, at] = [away, index];
  }
  if (most <= far) return [first, last];
  return [...simplified(points.slice(0, at + 1), far).slice(0, -1), ...simplified(points.slice(at), far)];
}

interface Bounds {
  left: number;
  right: number;
  low: number;
  high: number;
}

function boundsOf(points: readonly Point[]): Bounds {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return { left: Math.min(...xs), right: Math.max(...xs), low: Math.min(...ys), high: Math.max(...ys) };
}

const BANDS = 256;

interface Edge {
  x: number;
  y: number;
  /** Of the other end. */
  toY: number;
  slope: number;
}

/**
 * Whether a point is inside, by the edges that a line to its left crosses. Edges are kept by the bands of height that they
 * pass, so that a point meets few of them however many the lasso has.
 */
function insideOf(points: readonly Point[]): (x: number, y: number) => boolean {
  const { low, high } = boundsOf(points);
  const bandOf = (y: number) => Math.min(BANDS - 1, Math.max(0, Math.floor(((y - low) / (high - low)) * BANDS)));
  const bands: Edge[][] = Array.from({ length: BANDS }, () => []);
  for (const [at, one] of points.entries()) {
    const other = points[(at + 1) % points.length]!;
    if (one[1] === other[1]) continue;
    const edge = { x: one[0], y: one[1], toY: other[1], slope: (other[0] - one[0]) / (other[1] - one[1]) };
    const [from, to] = [bandOf(Math.min(one[1], other[1])), bandOf(Math.max(one[1], other[1]))];
    for (let band = from; band <= to; band++) bands[band]!.push(edge);
  }
  return (x, y) => {
    let isInside = false;
    for (const edge of bands[bandOf(y)]!) {
      if (edge.y > y !== edge.toY > y && x < edge.x + (y - edge.y) * edge.slope) isInside = !isInside;
    }
    return isInside;
  };
}

export interface Places {
  xs: Numbers;
  ys: Numbers;
  /** One for each row that can be selected. */
  kept: Uint8Array;
  kinds: { x: ScaleKind; y: ScaleKind };
}

function mark({ xs, ys, kept, kinds }: Places, { kind, points, way }: Shape, flags: Uint8Array): void {
  const { left, right, low, high } = boundsOf(points);
  const value = way === '-' ? 0 : 1;
  const isInside =
    kind === 'box' ? undefined : insideOf(points.map(([x, y]): Point => [flat(kinds.x, x), flat(kinds.y, y)]));
  for (let row = 0; row < flags.length; row++) {
    const x = xs[row]!;
    const y = ys[row]!;
    if (!(x >= left && x <= right && y >= low && y <= high) || kept[row] === 0) continue;
    if (isInside === undefined || isInside(flat(kinds.x, x), flat(kinds.y, y))) flags[row] = value;
  }
}

export interface Selected {
  /** One for each row that is selected. */
  flags: Uint8Array;
  count: number;
}

export function selectRows(places: Places, shapes: readonly Shape[]): Selected {
  const flags = new Uint8Array(places.xs.length);
  for (const shape of shapes) mark(places, shape, flags);
  let count = 0;
  for (const flag of flags) count += flag;
  return { flags, count };
}

/** The rows that are selected, in their order. */
export function selectedRows({ flags, count }: Selected): Uint32Array {
  const rows = new Uint32Array(count);
  let at = 0;
  for (let row = 0; row < flags.length; row++) if (flags[row] === 1) rows[at++] = row;
  return rows;
}
