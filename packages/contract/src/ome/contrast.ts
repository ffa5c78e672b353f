/** What is black and what is full light: limits of contrast, and numbers between them as shades. */
import type { Channel } from './image.ts';

/** Black and full light. */
export type Limits = readonly [low: number, high: number];

const isFinite = Number.isFinite;

/** Largest values of whole numbers: a window over all of them says nothing about the image. */
const WHOLE_RANGES = [65_535, 4_294_967_295];

/** What a file says about contrast, unless it only says what numbers there can be. */
export function toldLimits({ window }: Channel): Limits | undefined {
  return window !== undefined && window[0] === 0 && WHOLE_RANGES.includes(window[1]) ? undefined : window;
}

/** The lowest and the highest value; numbers that are none do not count. */
export function rangeOf(pixels: Float32Array): Limits {
  let [low, high] = [Infinity, -Infinity];
  for (const value of pixels) {
    if (value < low && isFinite(value)) low = value;
    if (value > high && isFinite(value)) high = value;
  }
  return low <= high ? [low, high] : [0, 0];
}

/** A part of some pixels: enough for percentiles, spread evenly. */
export function sampleOf(pixels: Float32Array, most: number): Float32Array {
  const step = Math.max(1, Math.ceil(pixels.length / most));
  const sample = new Float32Array(Math.ceil(pixels.length / step));
  for (let at = 0; at < sample.length; at++) sample[at] = pixels[at * step]!;
  return sample;
}

const LOWEST = 0.001;
const HIGHEST = 0.999;

/** From 0.1 to 99.9 % of the values: a few hot pixels would leave the rest in the dark. */
export function percentiles(samples: readonly Float32Array[]): Limits {
  const values = new Float32Array(samples.reduce((sum, { length }) => sum + length, 0));
  let count = 0;
  for (const sample of samples) for (const value of sample) if (isFinite(value)) values[count++] = value;
  if (count === 0) return [0, 1];
  const sorted = values.subarray(0, count).sort();
  const at = (share: number) => sorted[Math.min(count - 1, Math.floor(share * count))]!;
  const [low, high] = [at(LOWEST), at(HIGHEST)];
  return high > low ? [low, high] : [low, low + 1];
}

/** Between 0 and 1. Limits that are equal part what is above from what is not. */
export function lightOf(value: number, [low, high]: Limits): number {
  if (!(value > low)) return 0;
  return value >= high ? 1 : (value - low) / (high - low);
}

/** One byte for each pixel. */
export function shades(pixels: Float32Array, limits: Limits): Uint8Array {
  const bytes = new Uint8Array(pixels.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = Math.round(lightOf(pixels[at]!, limits) * 255);
  return bytes;
}
