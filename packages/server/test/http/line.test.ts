/** How people wait for their turn. */
import { describe, expect, it } from 'vitest';

import { createLine } from '../../src/http/line.ts';

describe('a line', () => {
  const wait = () => new Promise((resolve) => setTimeout(resolve, 1));
  const forever = new AbortController().signal;

  it('gives everybody their turn', async () => {
    const line = createLine({ slots: 1, longest: 100, longestOfOne: 50, busy: 'busy' });
    const order: number[] = [];
    const work = (person: number) => async () => {
      await wait();
      order.push(person);
    };
    const many = Array.from({ length: 5 }, () => line.take(1, work(1), forever));
    const few = [line.take(2, work(2), forever), line.take(3, work(3), forever)];
    await Promise.all([...many, ...few]);
    expect(order.slice(0, 4).sort()).toEqual([1, 1, 2, 3]);
    expect(order.indexOf(3)).toBeLessThan(4);
  });

  it('goes on after work that fails before it has begun', async () => {
    const line = createLine({ slots: 1, longest: 100, longestOfOne: 50, busy: 'busy' });
    const broken = () => {
      throw new Error('at once');
    };
    await expect(line.take(1, broken, forever)).rejects.toThrow('at once');
    await expect(line.take(1, async () => 'next', forever)).resolves.toBe('next');
  });

  it('forgets who left, and refuses more than there is room for', async () => {
    const line = createLine({ slots: 1, longest: 3, longestOfOne: 2, busy: 'busy' });
    const first = line.take(1, wait, forever);
    const leaving = new AbortController();
    const left = line.take(1, () => Promise.reject(new Error('must not begin')), leaving.signal);
    const second = line.take(1, wait, forever);
    await expect(line.take(1, wait, forever)).rejects.toThrow();
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    await expect(line.take(1, () => Promise.reject(new Error('failed')), forever)).rejects.toThrow('failed');
    await Promise.all([first, second]);
    await expect(line.take(9, () => Promise.resolve('still open'), forever)).resolves.toBe('still open');
  });
});
