/** What many values have in common. Values that are not numbers are left out before, and counted by whoever leaves them out. */
import { flat, place, type Scale } from './scale.ts';

export type Numbers = Float32Array | Float64Array | Int32Array;

/** Between two values where it falls between them. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const at = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return low === high ? low : low + (high - low) * (at - Math.floor(at));
}

export function meanOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += values[at]!;
  return sum / values.length;
}

/** The values of some rows that are numbers, sorted. */
export function sortedOf(values: Numbers, rows: Uint32Array): Float64Array {
  const known = new Float64Array(rows.length);
  let count = 0;
  for (let at = 0; at < rows.length; at++) {
    const value = values[rows[at]!]!;
    if (Number.isFinite(value)) known[count++] = value;
  }
  return known.subarray(0, count).sort();
}

export interface Box {
  q1: number;
  median: number;
  q3: number;
  /** The farthest values within one and a half boxes. */
  low: number;
  high: number;
  numBeyond: number;
}

/** As Tukey drew it. Undefined without values. */
export function boxOf(sorted: Float64Array): Box | undefined {
  if (sorted.length === 0) return undefined;
  const [q1, median, q3] = [0.25, 0.5, 0.75].map((share) => quantile(sorted, share)) as [number, number, number];
  const reach = 1.5 * (q3 - q1);
  let [first, last] = [0, sorted.length - 1];
  while (sorted[first]! < q1 - reach) first++;
  while (sorted[last]! > q3 + reach) last--;
  return { q1, median, q3, low: sorted[first]!, high: sorted[last]!, numBeyond: first + sorted.length - 1 - last };
}

interface Counted {
  min: number | null;
  max: number | null;
  q1: number | null;
  q3: number | null;
}

/** The ends of what is usual, one and a half boxes around the box, of values that were counted elsewhere. */
export function whiskersOf({ min, max, q1, q3 }: Counted) {
  if (min === null || max === null || q1 === null || q3 === null) return undefined;
  const reach = 1.5 * (q3 - q1);
  return { least: min, most: max, from: Math.max(min, q1 - reach), to: Math.min(max, q3 + reach) };
}

const MAD_TO_STD = 1.4826;
const MEAN_DEVIATION_TO_STD = 1.2533;

/** How far from the middle, in deviations that a few outliers do not change. All zero where all values are one. */
export function robustScores(values: readonly number[]): number[] {
  const known = values.filter(Number.isFinite).sort((one, other) => one - other);
  if (known.length === 0) return values.map(() => NaN);
  const middle = quantile(known, 0.5);
  const away = known.map((value) => Math.abs(value - middle)).sort((one, other) => one - other);
  // more than half of the values alike: their mean says what the median cannot
  const deviation = quantile(away, 0.5) * MAD_TO_STD || meanOf(away) * MEAN_DEVIATION_TO_STD;
  return values.map((value) => (Number.isFinite(value) ? (deviation === 0 ? 0 : (value - middle) / deviation) : NaN));
}

/** How many values lie in each of some even parts of an axis; those beyond its ends are not among them. */
export function countBins(values: ArrayLike<number>, scale: Scale, count: number): number[] {
  const bins = new Array<number>(count).fill(0);
  for (let at = 0; at < values.length; at++) {
    const part = place(scale, values[at]!);
    if (part >= 0 && part <= 1) bins[Math.min(count - 1, Math.floor(part * count))]!++;
  }
  return bins;
}

/** Silverman's rule: as wide as hides chance, and no wider than shows two hills. In parts of the axis. */
function bandwidth(sorted: Float64Array, scale: Scale): number {
  const at = (share: number) => place(scale, quantile(sorted, share));
  const spread = (at(0.75) - at(0.25)) / 1.349 || (at(0.975) - at(0.025)) / 3.92;
  return 0.9 * (Number.isFinite(spread) ? spread : 0) * sorted.length ** -0.2;
}

/** How far a smooth hill reaches, in its widths. */
const REACH = 3;

/**
 * How densely values lie along an axis, smooth, at the middles of even parts of it; the highest is 1. Between the lowest and the
 * highest value only: a hill that goes on beyond them would show what was not measured.
 */
export function densityOf(sorted: Float64Array, scale: Scale, count: number): number[] {
  if (sorted.length === 0) return new Array<number>(count).fill(0);
  const bins = countBins(sorted, scale, count);
  const width = Math.max(bandwidth(sorted, scale) * count, 0.35);
  const [first, last] = [bins.findIndex((one) => one > 0), bins.findLastIndex((one) => one > 0)];
  const smooth = bins.map((_, at) => {
    if (at < first || at > last) return 0;
    let sum = 0;
    for (
      let other = Math.max(first, Math.floor(at - REACH * width));
      other <= Math.min(last, at + REACH * width);
      other++
    )
      sum += bins[other]! * Math.exp(-0.5 * ((other - at) / width) ** 2);
    return sum;
  });
  const most = Math.max(...smooth);
  return most === 0 ? smooth : smooth.map((value) => value / most);
}

/** The lowest and the highest of the rows that are kept and can be shown on a kind of axis; infinite without any. */
export function rangeOf(values: Numbers, kind: Scale['kind'], kept: Uint8Array): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (let row = 0; row < values.length; row++) {
    const value = values[row]!;
    if (kept[row] === 0 || !Number.isFinite(flat(kind, value))) continue;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
}
