import { describe, expect, it } from 'vitest';

import { createThrottle } from '../src/accounts/throttle.ts';

/** A throttle whose clock is ours: waiting is written down and takes no time. */
function watched() {
  const waits: number[] = [];
  let time = 0;
  const throttle = createThrottle(
    (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
    () => time,
  );
  const wrong = () => Promise.resolve(undefined);
  const right = () => Promise.resolve('token');
  return { waits, throttle, wrong, right, pass: (ms: number) => (time += ms) };
}

describe('failed logins', () => {
  it('are answered later and later, up to four seconds', async () => {
    const { throttle, waits, wrong } = watched();
    for (let attempt = 0; attempt < 10; attempt++) await throttle.attempt('ada', '1.1.1.1', wrong);
    expect(waits).toEqual([0, 0, 0, 250, 500, 1000, 2000, 4000, 4000, 4000]);
  });

  it('are forgotten after a right password, and after ten minutes', async () => {
    const { throttle, waits, wrong, right, pass } = watched();
    for (let attempt = 0; attempt < 5; attempt++) await throttle.attempt('ada', '1.1.1.1', wrong);
    expect(await throttle.attempt('ada', '1.1.1.1', right)).toBe('token');
    await throttle.attempt('ada', '1.1.1.1', wrong);
    expect(waits.at(-1)).toBe(0);
    for (let attempt = 0; attempt < 5; attempt++) await throttle.attempt('ada', '1.1.1.1', wrong);
    pass(10 * 60_000);
    await throttle.attempt('ada', '1.1.1.1', wrong);
    expect(waits.at(-1)).toBe(0);
  });

  it('of one account do not slow it from elsewhere, nor other accounts', async () => {
    const { throttle, waits, wrong } = watched();
    for (let attempt = 0; attempt < 8; attempt++) await throttle.attempt('ada', '1.1.1.1', wrong);
    await throttle.attempt('ada', '2.2.2.2', wrong);
    await throttle.attempt('bob', '1.1.1.1', wrong);
    expect(waits.slice(-2)).toEqual([0, 0]);
  });

  it('of many accounts slow their address', async () => {
    const { throttle, waits, wrong } = watched();
    for (let attempt = 0; attempt < 25; attempt++) await throttle.attempt(`person${attempt}`, '1.1.1.1', wrong);
    expect(waits.slice(18)).toEqual([0, 0, 250, 500, 1000, 2000, 4000]);
  });

  it('are checked one after the other, and a long queue is turned away', async () => {
    const { throttle, wrong } = watched();
    for (let attempt = 0; attempt < 4; attempt++) await throttle.attempt('ada', '1.1.1.1', wrong);
    let running = 0;
    let most = 0;
    const slow = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      return undefined;
    };
    const answers = await Promise.all(Array.from({ length: 40 }, () => throttle.attempt('ada', '1.1.1.1', slow)));
    expect(most).toBe(1);
    expect(answers.filter((answer) => answer === 'busy')).toHaveLength(20);
  });
});

describe('right passwords', () => {
  it('never wait, however many come at once', async () => {
    const { throttle, waits, right } = watched();
    const answers = await Promise.all(Array.from({ length: 500 }, () => throttle.attempt('ada', '1.1.1.1', right)));
    expect(new Set(answers)).toEqual(new Set(['token']));
    expect(waits).toEqual([]);
  });
});
