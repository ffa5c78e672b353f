/** How often which values occur, for the picture behind the handles of contrast. */
import type { Limits } from '@service/contract/ome';

import { type Tile, valueAt } from './facts.ts';

export interface Histogram {
  /** Values at its two ends. */
  from: number;
  to: number;
  counts: number[];
  total: number;
}

const BINS = 128;
/** More would not change a picture of 128 bins, and they are sorted anew with the tiles that come. */
const MOST_SAMPLES = 20_000;

/** A part of the values of some tiles, spread evenly and sorted. */
export function samplesOf(tiles: readonly Tile[]): Float32Array {
  const all = tiles.reduce((sum, { pixels }) => sum + pixels.length, 0);
  const step = Math.max(1, Math.floor(all / MOST_SAMPLES));
  const samples = new Float32Array(Math.ceil(all / step) + tiles.length);
  let count = 0;
  for (const tile of tiles) {
    for (let at = 0; at < tile.pixels.length; at += step) {
      const value = valueAt(tile, at % tile.width, Math.floor(at / tile.width));
      if (Number.isFinite(value)) samples[count++] = value;
    }
  }
  return samples.subarray(0, count).sort();
}

/** Of sorted values, from the lowest to a little above the highest, or to what is in use if that is farther. */
export function histogramOf(sorted: Float32Array, inUse: Limits | undefined): Histogram | undefined {
  if (sorted.length === 0) return undefined;
  const top = sorted[Math.min(sorted.length - 1, Math.floor(0.9995 * sorted.length))]!;
  const from = Math.min(sorted[0]!, inUse?.[0] ?? Infinity);
  const to = Math.max(top, inUse?.[1] ?? -Infinity, from + 1e-9);
  const [least, most] = [from, from + (to - from) * 1.08];
  const counts = new Array<number>(BINS).fill(0);
  for (const value of sorted) {
    const bin = Math.floor(((value - least) / (most - least)) * BINS);
    counts[Math.min(BINS - 1, Math.max(0, bin))]!++;
  }
  return { from: least, to: most, counts, total: sorted.length };
}

/** As an SVG path, with the root of the counts, so that few bright pixels are seen beside many dark ones. */
export function pathOf({ counts }: Histogram, width: number, height: number): string {
  const most = Math.sqrt(Math.max(...counts, 1));
  const points = counts.map((count, at) => {
    const x = ((at + 0.5) / counts.length) * width;
    return `L${x.toFixed(1)} ${(height - (Math.sqrt(count) / most) * height * 0.92).toFixed(1)}`;
  });
  return `M0 ${height}${points.join('')}L${width} ${height}z`;
}
