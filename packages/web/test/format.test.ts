import { describe, expect, it } from 'vitest';

import {
  counted,
  formatAgo,
  formatBytes,
  formatCount,
  formatDuration,
  formatMemory,
  formatPixel,
  formatWhen,
  initials,
  secondsBetween,
} from '../src/lib/format.ts';
import { pageNumbers } from '../src/lib/ui/table.ts';

const plain = (text: string) => text.replaceAll('\u202f', ' ');

describe('words and numbers', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1536, '1 536'],
    [1_000_000, '1 000 000'],
  ])('%d is written %s', (count, text) => expect(plain(formatCount(count))).toBe(text));

  it.each([
    [65_535, 4, '65 535'],
    [1212.53, 5, '1 212.5'],
    [0.32512, 3, '0.325'],
  ])('a pixel of %d with %d digits is %s', (value, digits, text) =>
    expect(plain(formatPixel(value, digits))).toBe(text),
  );

  it('counts from one moment to another, and no clock runs backwards', () => {
    const from = '2026-11-03T14:00:00Z';
    expect(secondsBetween(from, '2026-11-03T14:01:30Z')).toBe(90);
    expect(secondsBetween(from, Date.parse(from) + 2500)).toBe(2.5);
    expect(secondsBetween(from, Date.parse(from) - 2500)).toBe(0);
  });

  it('counts one thing and many', () => {
    expect([counted(1, 'image'), plain(counted(1536, 'image')), counted(2, 'entry', 'entries')]).toEqual([
      '1 image',
      '1 536 images',
      '2 entries',
    ]);
  });

  it.each([
    [0, '0:00'],
    [59.6, '1:00'],
    [2538, '42:18'],
    [3599, '59:59'],
    [3960, '1 h 06 min'],
    [-3, '0:00'],
  ])('%d seconds are %s', (seconds, text) => expect(formatDuration(seconds)).toBe(text));

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1 kB'],
    [6_100_000_000, '6.1 GB'],
    [999_950, '1 MB'],
    [123_456_789, '123 MB'],
  ])('%d bytes are %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  it.each([
    [16 * 1024 ** 3, '16 GB'],
    [200 * 1024 ** 2, '200 MB'],
    [1000 * 1024 ** 2, '1 GB'],
    [11.2 * 1024 ** 3, '11.2 GB'],
  ])('%d bytes of memory are %s', (bytes, text) => expect(formatMemory(bytes)).toBe(text));

  it.each([
    [5, 'just now'],
    [65, '1 minute ago'],
    [7300, '2 hours ago'],
    [90_000, 'yesterday'],
  ])('%d seconds back is %s', (seconds, text) => {
    const now = Date.parse('2026-01-31T12:00:00Z');
    expect(formatAgo(new Date(now - seconds * 1000).toISOString(), now)).toBe(text);
  });

  it.each([
    [new Date(2026, 10, 3, 14, 55), /^today .*:55/],
    [new Date(2026, 10, 2, 23, 55), /^yesterday /],
    [new Date(2026, 9, 31, 14, 55), /^Oct 31, /],
    [new Date(2025, 11, 31, 14, 55), /^Dec 31, 2025$/],
  ])('%s is told as %s', (then, words) => {
    expect(formatWhen(then.toISOString(), new Date(2026, 10, 3, 23, 59).getTime())).toMatch(words);
  });

  it.each([
    ['m.keller@example.org', 'MK'],
    ['anna@example.org', 'AN'],
    ['a@b.c', 'A'],
    ['jean-luc.p@x.y', 'JP'],
  ])('%s has the initials %s', (email, text) => expect(initials(email)).toBe(text));
});

describe('the pages of a list', () => {
  it.each([
    [1, 1, [1]],
    [1, 4, [1, 2, 3, 4]],
    [1, 20, [1, 2, 3, 4, null, 20]],
    [10, 20, [1, null, 7, 8, 9, 10, 11, 12, 13, null, 20]],
    [5, 10, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
    [20, 20, [1, null, 17, 18, 19, 20]],
  ])('around %d of %d', (page, last, numbers) => expect(pageNumbers(page, last)).toEqual(numbers));
});
