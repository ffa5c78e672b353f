import { describe, expect, it } from 'vitest';

import { createThrottle, originOf } from '../../src/accounts/throttle.ts';
import { memoryHeld } from '../support/memory.ts';
import { comesNow, createGroupTurns, DISPLACED } from '../../src/accounts/turns.ts';

const HERE = '192.0.2.1';

/** A throttle whose clock is ours: waiting is written down and takes no time. */
function watched() {
  const waits: number[] = [];
  let time = 0;
  const throttle = createThrottle(
    (ms) => {
      waits.push(ms);
      time += ms;
      return Promise.resolve();
    },
    () => time,
  );
  const wrong = () => Promise.resolve(undefined);
  const right = () => Promise.resolve('token');
  return { waits, throttle, wrong, right, time: () => time, pass: (ms: number) => (time += ms) };
}

describe('failed logins', () => {
  it('are answered later and later, up to three seconds', async () => {
    const { throttle, waits, wrong } = watched();
    for (let attempt = 0; attempt < 10; attempt++) await throttle.attempt({ account: 'ada', address: HERE }, wrong);
    expect(waits).toEqual([250, 500, 1000, 2000, 3000, 3000, 3000]);
  });

  it('are forgotten after a right password, and after ten minutes', async () => {
    const { throttle, waits, wrong, right, pass } = watched();
    const fail = async (times: number) => {
      for (let attempt = 0; attempt < times; attempt++)
        await throttle.attempt({ account: 'ada', address: HERE }, wrong);
      return waits.splice(0);
    };
    expect(await fail(4)).toEqual([250]);
    expect(await throttle.attempt({ account: 'ada', address: HERE }, right)).toBe('token');
    expect(await fail(4)).toEqual([250]);
    pass(10 * 60_000);
    expect(await fail(4)).toEqual([250]);
  });

  it('of one account do not slow it from elsewhere, nor other accounts', async () => {
    const { throttle, waits, wrong } = watched();
    for (let attempt = 0; attempt < 8; attempt++) await throttle.attempt({ account: 'ada', address: HERE }, wrong);
    waits.length = 0;
    await throttle.attempt({ account: 'ada', address: '192.0.2.2' }, wrong);
    await throttle.attempt({ account: 'bob', address: HERE }, wrong);
    expect(waits).toEqual([]);
  });

  it('of one account from everywhere are slowed, except where somebody has signed in to it', async () => {
    const { throttle, waits, wrong, right } = watched();
    await throttle.attempt({ account: 'ada', address: HERE }, right);
    const failEverywhere = async () => {
      for (let host = 0; host < 40; host++)
        await throttle.attempt({ account: 'ada', address: `198.51.100.${host}` }, wrong);
      return waits.splice(0);
    };
    // the first from each address passes: it may be the person
    expect(await failEverywhere()).toEqual([]);
    expect(await failEverywhere()).toEqual(Array<number>(10).fill(250));
    await throttle.attempt({ account: 'ada', address: HERE }, wrong);
    expect(waits).toEqual([]);
  });

  it('of one account from everywhere send nobody away', async () => {
    const { throttle, right } = watched();
    const { promise: blocked, resolve: unblock } = Promise.withResolvers<undefined>();
    const from = (host: number) => ({ account: 'ada', address: `10.0.${host >> 8}.${host & 255}` });
    const late = { account: 'ada', address: HERE };
    const flood = (count: number) =>
      Array.from({ length: count }, (_, host) => throttle.attempt(from(host), () => blocked));
    const before = [...flood(1500), ...flood(1500)];
    const mistyped = throttle.attempt(late, () => blocked);
    const second = throttle.attempt(late, right);
    const after = flood(1500);
    expect(await throttle.attempt({ account: 'ada', address: '192.0.2.2' }, right)).toBe('token');
    unblock(undefined);
    expect(await Promise.all([mistyped, second])).toEqual([undefined, 'token']);
    expect(new Set(await Promise.all([...before, ...after]))).toEqual(new Set([undefined]));
  });

  it('from one network count together, since a machine has as many addresses of it as it likes', async () => {
    const { throttle, waits, wrong } = watched();
    for (let host = 0; host < 5; host++)
      await throttle.attempt({ account: 'ada', address: `2001:db8:0:1::${host}` }, wrong);
    expect(waits).toEqual([250, 500]);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:1:2:3:4:5', '2001:db8:0:1::/64'],
    ['2001:db8:0:1::5', '2001:db8:0:1::/64'],
    ['2001:db8::5', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['not an address', 'not an address'],
  ])('come from an origin: %s from %s', (address, origin) => {
    expect(originOf(address)).toBe(origin);
  });
});

it('a browser that has signed in before is in a line of its own', async () => {
  const { throttle, waits, wrong, right } = watched();
  const stuck = Array.from({ length: 50 }, () =>
    throttle.attempt({ account: 'ada', address: HERE }, () => new Promise<undefined>(() => undefined)),
  );
  expect(await throttle.attempt({ account: 'ada', address: HERE, device: 'mine' }, right)).toBe('token');
  for (let attempt = 0; attempt < 5; attempt++) {
    await throttle.attempt({ account: 'ada', address: HERE, device: 'mine' }, wrong);
  }
  expect([stuck.length, waits]).toEqual([50, [250, 500]]);
});

it('who has gone is not checked, and keeps nobody waiting', async () => {
  const { throttle, waits, wrong, right } = watched();
  const checked: string[] = [];
  const { promise: blocked, resolve: unblock } = Promise.withResolvers<undefined>();
  const from = { account: 'ada', address: HERE };
  for (let attempt = 0; attempt < 3; attempt++) await throttle.attempt(from, wrong);
  const first = throttle.attempt(from, () => blocked);
  const person = throttle.attempt(from, right);
  const gone = Array.from({ length: 900 }, () =>
    throttle.attempt({ ...from, isGone: () => true }, () => {
      checked.push('gone');
      return wrong();
    }),
  );
  unblock(undefined);
  expect([await first, await person]).toEqual([undefined, 'token']);
  expect(new Set(await Promise.all(gone))).toEqual(new Set(['busy']));
  // the pause is that of the one who was checked
  expect([checked, waits]).toEqual([[], [250]]);
});

describe('names that nobody has', () => {
  const MIB = 2 ** 20;

  /** A name of 60 kB as a request brings it. */
  const longName = (number: number) => Buffer.alloc(60_000, `${number} `).toString();

  it('of 60 kB each take no memory when they have been answered', async () => {
    const { throttle, wrong, right } = watched();
    const before = memoryHeld().heapUsed;
    for (let number = 0; number < 2000; number++) {
      const check = number % 2 === 0 ? wrong : right;
      for (let again = 0; again < 2; again++)
        await throttle.attempt({ account: longName(number), address: HERE }, check);
    }
    const taken = memoryHeld().heapUsed - before;
    // it is still there, with all that it remembers
    expect(await throttle.attempt({ account: 'ada', address: HERE }, right)).toBe('token');
    expect(taken).toBeLessThan(20 * MIB);
  });

  it('of 60 kB are slowed like others', async () => {
    const { throttle, waits, wrong } = watched();
    for (let attempt = 0; attempt < 5; attempt++)
      await throttle.attempt({ account: longName(1), address: HERE }, wrong);
    expect(waits).toEqual([250, 500]);
  });
});

describe('many attempts at once', () => {
  /** How many guesses are checked in a minute, when so many are under way at any time. */
  async function guessesInAMinute(atOnce: number): Promise<number> {
    const { throttle, time } = watched();
    let checked = 0;
    const guess = () => {
      if (time() < 60_000) checked++;
      return Promise.resolve(undefined);
    };
    const attacker = async () => {
      while (time() < 60_000) await throttle.attempt({ account: 'ada', address: HERE }, guess);
    };
    await Promise.all(Array.from({ length: atOnce }, attacker));
    return checked;
  }

  it('get no more guesses than one after the other', async () => {
    const alone = await guessesInAMinute(1);
    expect(alone).toBeLessThan(30);
    expect(await guessesInAMinute(500)).toBeLessThanOrEqual(alone);
  });

  it('let the newest in first, and send the oldest away when a thousand wait', async () => {
    const { throttle } = watched();
    const order: number[] = [];
    const { promise: blocked, resolve: unblock } = Promise.withResolvers<void>();
    const attempts = Array.from({ length: 1010 }, (_, number) =>
      throttle.attempt({ account: 'ada', address: HERE }, async () => {
        await blocked;
        order.push(number);
        return undefined;
      }),
    );
    await expect(attempts[3]).resolves.toBe('busy');
    unblock();
    const answers = await Promise.all(attempts);
    expect(answers.flatMap((answer, number) => (answer === 'busy' ? [number] : []))).toEqual([3, 4, 5, 6, 7, 8, 9]);
    expect(order.slice(0, 6)).toEqual([0, 1, 2, 1009, 1008, 1007]);
  });

  it('of a right password are all accepted without a pause', async () => {
    const { throttle, waits, right } = watched();
    const answers = await Promise.all(
      Array.from({ length: 500 }, () => throttle.attempt({ account: 'ada', address: HERE }, right)),
    );
    expect(new Set(answers)).toEqual(new Set(['token']));
    expect(waits).toEqual([]);
  });

  it('leave nothing behind when a check fails', async () => {
    const { throttle, right } = watched();
    const broken = () => Promise.reject(new Error('the database is away'));
    for (let attempt = 0; attempt < 5; attempt++) {
      await expect(throttle.attempt({ account: 'ada', address: HERE }, broken)).rejects.toThrow('away');
    }
    expect(await throttle.attempt({ account: 'ada', address: HERE }, right)).toBe('token');
  });
});

describe('turns', () => {
  /** Work that waits until it is let go, one after the other; the names in the order of their turns. */
  async function orderOf(arrivals: [group: string, name: string, rank?: number][]): Promise<string[]> {
    const turns = createGroupTurns(1);
    const order: string[] = [];
    const { promise: blocked, resolve: unblock } = Promise.withResolvers<void>();
    const first = turns.take({ group: 'first', rank: 0 }, () => blocked);
    const all = arrivals.map(([group, name, rank = 0]) =>
      turns.take({ group, rank }, () => Promise.resolve(order.push(name))),
    );
    unblock();
    await Promise.all([first, ...all]);
    return order;
  }

  it('are shared by groups evenly, the newest first', async () => {
    const order = await orderOf([
      ['a', 'a1'],
      ['a', 'a2'],
      ['a', 'a3'],
      ['b', 'b1'],
      ['b', 'b2'],
    ]);
    expect(order).toEqual(['b2', 'a3', 'b1', 'a2', 'a1']);
  });

  it('of a group go to the lowest rank first', async () => {
    const order = await orderOf([
      ['a', 'third', 3],
      ['a', 'first', 1],
      ['a', 'last', 4],
      ['a', 'second', 2],
    ]);
    expect(order).toEqual(['first', 'second', 'third', 'last']);
  });

  it('go to who came last to the first of several things, also at the next one', async () => {
    const [lookups, checks] = [createGroupTurns(1), createGroupTurns(1)];
    const order: string[] = [];
    const { promise: blocked, resolve: unblock } = Promise.withResolvers<void>();
    const { promise: busy, resolve: free } = Promise.withResolvers<void>();
    const first = [lookups, checks].map((turns, index) =>
      turns.take({ group: 'first', rank: 0 }, () => (index === 0 ? blocked : busy)),
    );
    const all = ['one', 'two', 'last'].map(async (group) => {
      const request = { group, rank: 0, came: comesNow() };
      await lookups.take(request, () => Promise.resolve());
      await checks.take(request, () => Promise.resolve(order.push(group)));
    });
    unblock();
    await first[0];
    await new Promise(setImmediate);
    free();
    await Promise.all([...first, ...all]);
    expect(order).toEqual(['last', 'two', 'one']);
  });

  it('pass by who has gone', async () => {
    const turns = createGroupTurns(1);
    const { promise: blocked, resolve: unblock } = Promise.withResolvers<void>();
    const first = turns.take({ group: 'a', rank: 0 }, () => blocked);
    const gone = turns.take({ group: 'a', rank: 0, isGone: () => true }, () => Promise.reject(new Error('checked')));
    const next = turns.take({ group: 'a', rank: 1 }, () => Promise.resolve('mine'));
    unblock();
    expect([await first, await gone, await next]).toEqual([undefined, DISPLACED, 'mine']);
  });

  it('send away the oldest of a group of which too many wait', async () => {
    const turns = createGroupTurns(1);
    const { promise: blocked, resolve: unblock } = Promise.withResolvers<void>();
    const first = turns.take({ group: 'a', rank: 0 }, () => blocked);
    const all = Array.from({ length: 1002 }, (_, number) =>
      turns.take({ group: 'a', rank: 0 }, () => Promise.resolve(number)),
    );
    unblock();
    await first;
    const answers = await Promise.all(all);
    expect(answers.slice(0, 3)).toEqual([DISPLACED, DISPLACED, 2]);
  });
});
