/** Guessing of passwords: it is slow, and it keeps nobody out who knows the right one. */
import diagnostics from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';

import { beforeAll, describe, expect, it } from 'vitest';

import { LONG } from '../support/long.ts';
import { startService, type TestService } from '../support/server.ts';

const VICTIM = '192.0.2.7';
/** Wrong passwords that may be looked at between the right one and its answer; those that wait are many more. */
const MOST_BEFORE = 200;
/** Wrong passwords that come at once. */
const COUNT = LONG ? 2000 : 800;
/** So many connections take long on a machine with other work. */
const LONGEST_MS = 300_000;

let service: TestService;
beforeAll(async () => {
  // addresses are what the proxy on this machine says
  service = await startService({ background: false, settings: { SERVICE_TRUSTED_PROXIES: '127.0.0.1' } });
});

const login = (username: string, password: string, address: string, init: RequestInit = {}) =>
  service.anyone.raw('/auth/token/login/', {
    ...init,
    method: 'POST',
    body: new URLSearchParams({ username, password }),
    headers: { 'x-forwarded-for': address, ...(init.headers as Record<string, string>) },
  });

interface Attempt {
  username: string;
  address: string;
}

/** Until the service, which is in this process, has received so many requests; some may not reach a busy machine. */
function arrivals(count: number): { all: Promise<void>; lose(): void } {
  const channel = diagnostics.channel('http.server.request.start');
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let left = count;
  const take = () => {
    if (--left > 0) return;
    channel.unsubscribe(take);
    resolve();
  };
  channel.subscribe(take);
  return { all, lose: take };
}

/** Begins many wrong attempts, which wait while something else happens. */
async function beginWrong(count: number, attempt: (number: number) => Attempt) {
  const over = new AbortController();
  const arrived = arrivals(count);
  let lookedAt = 0;
  const wrong = Array.from({ length: count }, async (_, number) => {
    const { username, address } = attempt(number);
    try {
      const { status } = await login(username, `wrong ${number}`, address, { signal: over.signal });
      if (status === 400) lookedAt += 1;
    } catch {
      arrived.lose();
    }
  });
  await arrived.all;
  return {
    /** How many of them have been looked at. */
    lookedAt: () => lookedAt,
    async giveUp() {
      over.abort();
      await Promise.all(wrong);
    },
  };
}

type Wrong = Awaited<ReturnType<typeof beginWrong>>;

/** Not in so much time, which says nothing on a busy machine, but before so many others. */
async function overtakes(wrong: Wrong, work: () => Promise<{ status: number }>) {
  const before = wrong.lookedAt();
  const { status } = await work();
  return { status, isEarly: wrong.lookedAt() - before < MOST_BEFORE };
}

async function during(count: number, attempt: (number: number) => Attempt, work: () => Promise<{ status: number }>) {
  const wrong = await beginWrong(count, attempt);
  try {
    return await overtakes(wrong, work);
  } finally {
    await wrong.giveUp();
  }
}

describe('the right password is accepted while many wrong ones come', () => {
  it.each<[string, (victim: string, number: number) => Attempt]>([
    ['for the account, from another address', (username) => ({ username, address: '198.51.100.1' })],
    ['for the account, from many addresses', (username, n) => ({ username, address: `10.0.${n >> 8}.${n & 255}` })],
    ['for the account, from one network', (username, n) => ({ username, address: `2001:db8::${n.toString(16)}` })],
    ['for others, from its own address', (_, n) => ({ username: `other${n}@example.org`, address: VICTIM })],
    [
      'for all, from everywhere',
      (_, n) => ({ username: `other${n % 99}@example.org`, address: `10.1.${n >> 8}.${n & 255}` }),
    ],
  ])(
    '%s',
    async (_, attempt) => {
      const person = await service.person();
      const right = await during(
        COUNT,
        (number) => attempt(person.email, number),
        () => login(person.email, person.password, VICTIM),
      );
      expect(right).toEqual({ status: 200, isEarly: true });
    },
    LONGEST_MS,
  );

  it(
    'for the account, from its own address, where its browser is known',
    async () => {
      const person = await service.person();
      const first = await login(person.email, person.password, VICTIM);
      const note = first.headers.get('x-known-device')!;
      const right = await during(
        COUNT,
        () => ({ username: person.email, address: VICTIM }),
        () => login(person.email, person.password, VICTIM, { headers: { 'x-known-device': note } }),
      );
      expect(right).toEqual({ status: 200, isEarly: true });
    },
    LONGEST_MS,
  );

  it(
    'for the account, from its own address, when the flood is over',
    async () => {
      const person = await service.person();
      const wrong = await beginWrong(500, () => ({ username: person.email, address: VICTIM }));
      await sleep(3000);
      const right = await overtakes(wrong, () => login(person.email, person.password, VICTIM));
      await wrong.giveUp();
      expect(right).toEqual({ status: 200, isEarly: true });
    },
    LONGEST_MS,
  );
});

it('a note of a browser opens no door, and is for its account only', async () => {
  const [one, other] = [await service.person(), await service.person()];
  const { headers } = await login(one.email, one.password, VICTIM);
  const note = headers.get('x-known-device')!;
  expect((await service.withToken(note).get('/auth/current-user/')).status).toBe(401);
  const answers = await Promise.all(
    [note, 'nonsense', 'x'.repeat(4000)].map((shown) =>
      login(other.email, 'wrong', VICTIM, { headers: { 'x-known-device': shown } }),
    ),
  );
  expect(answers.map((answer) => [answer.status, answer.headers.get('x-known-device')])).toEqual(
    Array(3).fill([400, null]),
  );
});
