/** How the values of groups are spread: what a row of boxes, violins or hills is drawn from. */
import type { Group } from './rows.ts';
import type { Scale } from './scale.ts';
import { type Box, boxOf, countBins, densityOf, type Numbers, sortedOf } from './statistics.ts';

export interface GroupSpread {
  name: string;
  /** With a value. */
  count: number;
  missing: number;
  box: Box | undefined;
  /** How many lie where on the axis. */
  bins: number[];
  /** The same, smooth, from 0 to 1. */
  density: number[];
}

/** The part of a group that is selected. */
export interface SelectedSpread {
  share: number;
  bins: number[];
}

const [FEWEST_BINS, MOST_BINS] = [12, 60];
const SMOOTH_PARTS = 96;

/** Few values in narrow parts would be teeth, not hills. All groups have the same parts. */
function binsFor(groups: readonly Group[]): number {
  const largest = Math.max(0, ...groups.map(({ rows }) => rows.length));
  return Math.min(MOST_BINS, Math.max(FEWEST_BINS, Math.round(2 * Math.sqrt(largest))));
}

export function spreadsOf(groups: readonly Group[], values: Numbers, scale: Scale): GroupSpread[] {
  const numBins = binsFor(groups);
  return groups.map(({ name, rows }) => {
    const sorted = sortedOf(values, rows);
    return {
      name,
      count: sorted.length,
      missing: rows.length - sorted.length,
      box: boxOf(sorted),
      bins: countBins(sorted, scale, numBins),
      density: densityOf(sorted, scale, SMOOTH_PARTS),
    };
  });
}

/** Apart from the rest, which stays while the selection changes: it answers at once. */
export function selectedSpreads(
  groups: readonly Group[],
  values: Numbers,
  scale: Scale,
  flags: Uint8Array,
): SelectedSpread[] {
  const numBins = binsFor(groups);
  return groups.map(({ rows }) => {
    const chosen = new Float64Array(rows.length);
    let count = 0;
    for (let at = 0; at < rows.length; at++) if (flags[rows[at]!] === 1) chosen[count++] = values[rows[at]!]!;
    return { share: count / rows.length, bins: countBins(chosen.subarray(0, count), scale, numBins) };
  });
}

/** A hill over its ground line, as high as `high` at its highest. */
export function hillPath(
  bins: readonly number[],
  most: number,
  left: number,
  width: number,
  ground: number,
  high: number,
) {
  const step = width / bins.length;
  const points = bins.map((count, at) => {
    const y = ground - (most === 0 ? 0 : (count / most) * high);
    return `L${(left + (at + 0.5) * step).toFixed(1)} ${y.toFixed(1)}`;
  });
  return `M${left} ${ground}${points.join('')}L${left + width} ${ground}z`;
}

/** As wide on both sides of its middle line as values are dense, at most `half`; only where there are some. */
export function violinPath(
  density: readonly number[],
  left: number,
  width: number,
  middle: number,
  half: number,
): string {
  const step = width / density.length;
  const edge = (side: 1 | -1) =>
    density.flatMap((value, at) => {
      const x = (left + (at + 0.5) * step).toFixed(1);
      return value === 0 ? [] : [`${x} ${(middle + side * Math.max(0.5, value * half)).toFixed(1)}`];
    });
  const [above, below] = [edge(-1), edge(1)];
  return above.length === 0 ? '' : `M${[...above, ...below.reverse()].join('L')}z`;
}
