/** How people wait for their turn. */
import { describe, expect, it } from 'vitest';

import { createLine } from '../../src/http/line.ts';
import { createPeopleInTurn } from '../../src/people-in-turn.ts';

describe('people in turn', () => {
  /** Person 1 came first, with three things; persons 2 and 3 after that, with two and one. */
  function crowd() {
    const waiting = createPeopleInTurn<string>();
    for (const name of ['1a', '1b', '1c', '2a', '2b', '3a']) waiting.add(Number(name[0]), name);
    return waiting;
  }
  function orderOf(waiting: ReturnType<typeof crowd>, load?: (person: number) => number): string[] {
    const order: string[] = [];
    for (let next = waiting.next(load); next; next = waiting.next(load)) order.push(next.one);
    return order;
  }

  it.each<[string, ((person: number) => number) | undefined, string[]]>([
    ['everybody, who came first is first', undefined, ['1a', '2a', '3a', '1b', '2b', '1c']],
    ['equal loads, as without', () => 2, ['1a', '2a', '3a', '1b', '2b', '1c']],
    ['the least load is first', (person) => (person === 1 ? 1 : 0), ['2a', '3a', '2b', '1a', '1b', '1c']],
  ])('%s', (_, load, order) => {
    expect(orderOf(crowd(), load)).toEqual(order);
  });

  it('forget who left', () => {
    const waiting = crowd();
    expect(['3a', '2a', '2a'].map((name) => waiting.remove(Number(name[0]), name))).toEqual([true, true, false]);
    expect([waiting.size(), waiting.sizeOf(1), waiting.sizeOf(2), waiting.sizeOf(3)]).toEqual([4, 3, 1, 0]);
    expect(orderOf(waiting)).toEqual(['1a', '2b', '1b', '1c']);
    expect(waiting.size()).toBe(0);
  });
});

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
