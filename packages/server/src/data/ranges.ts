/**
 * The part of a file that a `Range` header asks for.
 *
 *     rangeOf('bytes=0-99', 1000)   // { start: 0, end: 99 }
 *     rangeOf('bytes=-100', 1000)   // { start: 900, end: 999 }
 *     rangeOf('bytes=2000-', 1000)  // 'past'
 *     rangeOf('bytes=0-1,5-6', 10)  // undefined: the whole file
 */

/** Both ends belong to it. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Longer than any range; blanks without end would be tried in every way. */
const LONGEST = 100;
const ONE_RANGE = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i;

export function rangeOf(header = '', size: number): ByteRange | 'past' | undefined {
  const [, from, to] = (header.length <= LONGEST && ONE_RANGE.exec(header)) || [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  if (from === '') {
    const length = Math.min(Number(to), size);
    return length === 0 ? 'past' : { start: size - length, end: size - 1 };
  }
  const start = Number(from);
  if (to !== '' && Number(to) < start) return undefined;
  if (start >= size) return 'past';
  return { start, end: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}
