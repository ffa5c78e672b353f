/**
 * Numbers of images by range. The service filters by values, so a range is all values of the dataset in it: that is what stays
 * in addresses and what jobs take.
 */
import type { Scalar } from '@service/contract';

import { formatCount } from '../format.ts';
import { isNumeric, valueWords } from './filters.ts';

/** Fewer are chosen one by one. */
const FEW = 5;
/** So many fit into an address. */
const MOST = 1000;

export interface Range {
  from?: number | undefined;
  to?: number | undefined;
}

/** How many images have a value. */
export interface Counted {
  value: number;
  count: number;
}

/** A number as it is written in the file, or as it is. */
const asNumber = (value: unknown): number => Number(valueWords(value));

export const isRanged = (values: readonly unknown[]): boolean => values.length > FEW && isNumeric(values);

/** The values in a range, or why they cannot be chosen. */
export function valuesWithin(
  values: readonly unknown[],
  { from = -Infinity, to = Infinity }: Range,
): Scalar[] | string {
  if (from > to) return 'The first number is larger than the second.';
  const found = values.filter((value) => asNumber(value) >= from && asNumber(value) <= to) as Scalar[];
  if (found.length === 0) return 'No image has a value in this range.';
  if (found.length > MOST) return `These are ${formatCount(found.length)} different values. Choose a smaller range.`;
  return found;
}

const ends = (numbers: readonly number[]) => ({
  from: numbers.reduce((one, other) => Math.min(one, other), Infinity),
  to: numbers.reduce((one, other) => Math.max(one, other), -Infinity),
});

/** The range that picked values make: undefined where one between them is not picked, or only one is. */
export function rangeOf(values: readonly unknown[], picked: readonly unknown[]): Required<Range> | undefined {
  if (picked.length < 2 || !isRanged(values)) return undefined;
  const { from, to } = ends(picked.map(asNumber));
  const within = values.filter((value) => asNumber(value) >= from && asNumber(value) <= to);
  return within.length === picked.length ? { from, to } : undefined;
}

export const rangeWords = ({ from, to }: Required<Range>): string => `${from} to ${to}`;

export interface Histogram extends Required<Range> {
  /** Images in each part of the range. */
  bins: number[];
  most: number;
}

const BINS = 24;

/** Without counts each value stands for one. */
export function histogramOf(values: readonly unknown[], counted?: readonly Counted[]): Histogram {
  const given = counted ?? values.map((value) => ({ value: asNumber(value), count: 1 }));
  const { from, to } = ends(given.map(({ value }) => value));
  const bins = new Array<number>(BINS).fill(0);
  for (const { value, count } of given) {
    const part = to > from ? (value - from) / (to - from) : 0;
    bins[Math.min(BINS - 1, Math.floor(part * BINS))]! += count;
  }
  return { from, to, bins, most: Math.max(...bins) };
}

/** Whether any of a bin is in a range. */
export function isBinWithin({ from, to, bins }: Histogram, at: number, range: Range | undefined): boolean {
  if (range === undefined) return false;
  const width = (to - from) / bins.length;
  const [left, right] = [from + at * width, from + (at + 1) * width];
  return right > (range.from ?? -Infinity) && left <= (range.to ?? Infinity);
}
