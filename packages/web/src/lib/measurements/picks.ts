/** Which of many selected objects are shown. */
import type { Numbers } from './statistics.ts';

export const PICKS = ['chance', 'highest', 'lowest', 'typical'] as const;
export type PickBy = (typeof PICKS)[number];

/** A row of numbers that looks like chance and is the same every time. */
function* chance(seed: number): Generator<number> {
  let state = seed;
  for (;;) {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    yield ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}

function byChance(rows: Uint32Array, count: number, seed: number): number[] {
  const left = Uint32Array.from(rows);
  const numbers = chance(seed);
  const picked: number[] = [];
  for (let at = 0; at < Math.min(count, left.length); at++) {
    const other = at + Math.floor(numbers.next().value! * (left.length - at));
    [left[at], left[other]] = [left[other]!, left[at]!];
    picked.push(left[at]!);
  }
  return picked;
}

/** Some of many: by chance, at an end of a feature, or nearest to its middle. */
export function pickRows(rows: Uint32Array, values: Numbers, pick: PickBy, count: number, seed = 1): number[] {
  if (pick === 'chance') return byChance(rows, count, seed);
  const known = rows.filter((row) => Number.isFinite(values[row]));
  const sorted = known.sort((one, other) => values[one]! - values[other]!);
  if (pick === 'lowest') return [...sorted.subarray(0, count)];
  if (pick === 'highest') return [...sorted.subarray(-count)].reverse();
  const start = Math.max(0, Math.floor((sorted.length - count) / 2));
  return [...sorted.subarray(start, start + count)];
}
