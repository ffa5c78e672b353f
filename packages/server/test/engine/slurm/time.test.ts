import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readTime, writeTime } from '../../../src/engine/slurm/time.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;

describe('times of Slurm', () => {
  it.each<[string, number, string]>([
    ['90', 90 * 60, '01:30:00'],
    ['5:30', 330, '00:05:30'],
    ['2:30:00', 2.5 * HOUR, '02:30:00'],
    ['100:00:00', 100 * HOUR, '4-04:00:00'],
    ['1-12', 36 * HOUR, '1-12:00:00'],
    ['1-', DAY, '1-00:00:00'],
    ['1-2:03', DAY + 2 * HOUR + 180, '1-02:03:00'],
    ['1-2:03:04', DAY + 2 * HOUR + 184, '1-02:03:04'],
    ['0', Infinity, 'UNLIMITED'],
    ['0:00', Infinity, 'UNLIMITED'],
    ['-1', Infinity, 'UNLIMITED'],
    ['UNLIMITED', Infinity, 'UNLIMITED'],
    ['infinite', Infinity, 'UNLIMITED'],
  ])('%s is %d seconds, and %s', (text, seconds, written) => {
    expect(readTime(text)).toBe(seconds);
    expect(writeTime(seconds)).toBe(written);
  });

  it.each(['', '1.5', '5:', ':5', '1:2:3:4', '1-2-3', '1d', '2 hours', '-5', '1:30\n', '١'])('%j is none', (text) => {
    expect(readTime(text)).toBeUndefined();
  });

  it('are read as they were written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 * DAY }), (seconds) => {
        expect(readTime(writeTime(seconds))).toBe(seconds);
      }),
    );
  });
});
