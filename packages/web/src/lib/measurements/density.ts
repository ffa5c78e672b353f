/** A million dots as counts: how many lie at each pixel, and how dark that is. */
import { flat, type Scale } from './scale.ts';
import type { Numbers } from './statistics.ts';

export interface Size {
  width: number;
  height: number;
}

/** Of all dots, and of those that are selected. */
export interface Counts extends Size {
  all: Float32Array;
  selected: Float32Array;
}

interface Dots {
  xs: Numbers;
  ys: Numbers;
  kept: Uint8Array;
  selected: Uint8Array;
}

/** A pixel of a dot: how far from its middle, and how much of it. */
type Spread = readonly [across: number, down: number, part: number][];

const ONE: Spread = [[0, 0, 1]];
const CROSS: Spread = [...ONE, [1, 0, 0.5], [-1, 0, 0.5], [0, 1, 0.5], [0, -1, 0.5]];

function disc(radius: number): Spread {
  const reach = Math.ceil(radius);
  const line = Array.from({ length: 2 * reach + 1 }, (_, at) => at - reach);
  return line.flatMap((down) =>
    line.flatMap((across): Spread => (Math.hypot(across, down) <= radius ? [[across, down, 1]] : [])),
  );
}

/** Few dots are large, many are a pixel each. */
export function spreadFor(dots: number, ratio: number): Spread {
  if (dots <= 3000) return disc(2.3 * ratio);
  if (dots <= 20_000) return disc(1.3 * ratio);
  return dots <= 200_000 ? CROSS : ONE;
}

/** From a value to a pixel. */
function pixels({ kind, from, to }: Scale, length: number): { start: number; factor: number; kind: Scale['kind'] } {
  const start = flat(kind, from);
  return { start, factor: length / (flat(kind, to) - start), kind };
}

export function countDots(
  { xs, ys, kept, selected }: Dots,
  scales: { x: Scale; y: Scale },
  { width, height }: Size,
  spread: Spread,
): Counts {
  const [all, chosen] = [new Float32Array(width * height), new Float32Array(width * height)];
  const [across, down] = [pixels(scales.x, width), pixels(scales.y, height)];
  for (let row = 0; row < xs.length; row++) {
    if (kept[row] === 0) continue;
    const x = Math.floor((flat(across.kind, xs[row]!) - across.start) * across.factor);
    const y = height - 1 - Math.floor((flat(down.kind, ys[row]!) - down.start) * down.factor);
    // also false for what is not a number
    if (!(x >= 0 && x < width && y >= 0 && y < height)) continue;
    const isSelected = selected[row] === 1;
    for (let index = 0; index < spread.length; index++) {
      const pixel = spread[index]!;
      const column = x + pixel[0];
      const line = y + pixel[1];
      if (column < 0 || line < 0 || column >= width || line >= height) continue;
      all[line * width + column]! += pixel[2];
      if (isSelected) chosen[line * width + column]! += pixel[2];
    }
  }
  return { width, height, all, selected: chosen };
}

/** How many dots lie on both axes. */
export function countInside(
  { xs, ys }: Pick<Dots, 'xs' | 'ys'>,
  kept: Uint8Array,
  { x, y }: { x: Scale; y: Scale },
): number {
  let count = 0;
  for (let row = 0; row < xs.length; row++) {
    const across = xs[row]!;
    const up = ys[row]!;
    if (kept[row] === 1 && across >= x.from && across <= x.to && up >= y.from && up <= y.to) count++;
  }
  return count;
}

export type Rgb = readonly [red: number, green: number, blue: number];

/** From few to many dots. */
export interface DotColours {
  few: Rgb;
  many: Rgb;
  fewSelected: Rgb;
  manySelected: Rgb;
}

function mostOf(counts: Float32Array): number {
  let most = 0;
  for (const count of counts) if (count > most) most = count;
  return most;
}

/** Red, green, blue and how much can be seen through, for each pixel. A selected dot is seen before all others. */
export function paintCounts({ all, selected }: Counts, colours: DotColours): Uint8ClampedArray<ArrayBuffer> {
  const bytes = new Uint8ClampedArray(all.length * 4);
  const most = Math.log1p(Math.max(2, mostOf(all)));
  const mostSelected = Math.log1p(Math.max(2, mostOf(selected)));
  for (let at = 0; at < all.length; at++) {
    if (all[at] === 0) continue;
    const isSelected = selected[at]! > 0;
    const [low, high] = isSelected ? [colours.fewSelected, colours.manySelected] : [colours.few, colours.many];
    const part = isSelected ? Math.log1p(selected[at]!) / mostSelected : Math.log1p(all[at]!) / most;
    for (let channel = 0; channel < 3; channel++) {
      bytes[4 * at + channel] = low[channel]! + (high[channel]! - low[channel]!) * part;
    }
    bytes[4 * at + 3] = all[at]! < 1 ? 150 : 255;
  }
  return bytes;
}
