import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { createAsking, pauseAfter } from '../../src/lib/live/asking.ts';

test.each([
  ['news', { quiet: 0, failures: 0 }, 3000, 3000],
  ['no news: not more than one in five seconds', { quiet: 1, failures: 0 }, 3000, 5000],
  ['no news, asked rarely anyway', { quiet: 4, failures: 0 }, 15_000, 15_000],
  ['a failure', { quiet: 0, failures: 1 }, 3000, 6000],
  ['many failures', { quiet: 2, failures: 9 }, 3000, 60_000],
])('the pause after %s', (_, rounds, every, pause) => {
  expect(pauseAfter(rounds, every)).toBe(pause);
});

describe('asking again', () => {
  let hidden = false;
  let listener: (() => void) | undefined;
  const page = () => ({
    get hidden() {
      return hidden;
    },
    addEventListener: (_: string, heard: unknown) => (listener = heard as () => void),
    removeEventListener: () => (listener = undefined),
  });
  const every = () => 1000;

  beforeEach(() => {
    vi.useFakeTimers();
    hidden = false;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('often while there is news, one in five seconds while there is none', async () => {
    const ask = vi.fn(async () => ask.mock.calls.length < 4);
    const asking = createAsking({ ask, every, page });
    asking.start();
    await vi.advanceTimersByTimeAsync(4000);
    expect(ask).toHaveBeenCalledTimes(4);
    await vi.advanceTimersByTimeAsync(4900);
    expect(ask).toHaveBeenCalledTimes(4);
    await vi.advanceTimersByTimeAsync(50_100);
    expect(ask).toHaveBeenCalledTimes(15);
    asking.stop();
  });

  test('not in a hidden tab, at once when it is seen again', async () => {
    const ask = vi.fn(async () => true);
    const asking = createAsking({ ask, every, page });
    asking.start();
    hidden = true;
    listener?.();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(ask).not.toHaveBeenCalled();
    hidden = false;
    listener?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(ask).toHaveBeenCalledTimes(1);
    asking.stop();
  });

  test('a failure is told with the moment of the next try, an answer is told too', async () => {
    vi.setSystemTime(0);
    const ask = vi.fn(async () => {
      if (ask.mock.calls.length < 3) throw new Error('no answer');
      return true;
    });
    const onanswer = vi.fn();
    const onfailure = vi.fn();
    const asking = createAsking({ ask, every, onanswer, onfailure, page });
    asking.start();
    await vi.advanceTimersByTimeAsync(3000);
    expect(onfailure.mock.calls.map(([, again]) => again as number)).toEqual([3000, 7000]);
    expect(onanswer).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(4000);
    expect(onanswer).toHaveBeenCalledTimes(1);
    asking.stop();
  });

  test('ends when it is stopped', async () => {
    const ask = vi.fn(async () => true);
    const asking = createAsking({ ask, every, page });
    asking.start();
    await vi.advanceTimersByTimeAsync(1000);
    asking.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ask).toHaveBeenCalledTimes(1);
    expect(listener).toBeUndefined();
  });

  test('one at a time; what is asked for meanwhile is asked right after', async () => {
    let answer: (news: boolean) => void = () => {};
    const ask = vi.fn(() => new Promise<boolean>((resolve) => (answer = resolve)));
    const asking = createAsking({ ask, every, page });
    asking.now();
    asking.now();
    asking.now();
    expect(ask).toHaveBeenCalledTimes(1);
    answer(false);
    await vi.advanceTimersByTimeAsync(0);
    expect(ask).toHaveBeenCalledTimes(2);
    answer(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ask).toHaveBeenCalledTimes(2);
  });
});
