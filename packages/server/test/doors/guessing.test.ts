/** Guessing of passwords: it is slow, and it keeps nobody out who knows the right one. */
import { setTimeout as sleep } from 'node:timers/promises';

import { beforeAll, describe, expect, it } from 'vitest';

import { startService, type TestService } from '../support/server.ts';

const VICTIM = '192.0.2.7';
const WITHIN_MS = 5000;

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

/** Many wrong attempts that go on while something else happens, and are given up afterwards. */
async function during<T>(count: number, attempt: (number: number) => Attempt, work: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const wrong = Array.from({ length: count }, (_, number) => {
    const { username, address } = attempt(number);
    return login(username, `wrong ${number}`, address, { signal: over.signal }).catch(() => undefined);
  });
  try {
    // until the first of them has been answered
    await Promise.race(wrong);
    return await work();
  } finally {
    over.abort();
    await Promise.all(wrong);
  }
}

async function timed(work: () => Promise<{ status: number }>): Promise<{ status: number; inTime: boolean }> {
  const began = Date.now();
  const { status } = await work();
  return { status, inTime: Date.now() - began < WITHIN_MS };
}

describe('the right password is accepted while thousands of wrong ones come', () => {
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
        2000,
        (number) => attempt(person.email, number),
        () => timed(() => login(person.email, person.password, VICTIM)),
      );
      expect(right).toEqual({ status: 200, inTime: true });
    },
    120_000,
  );

  it('for the account, from its own address, where its browser is known', async () => {
    const person = await service.person();
    const first = await login(person.email, person.password, VICTIM);
    const note = first.headers.get('x-known-device')!;
    const right = await during(
      2000,
      () => ({ username: person.email, address: VICTIM }),
      () => timed(() => login(person.email, person.password, VICTIM, { headers: { 'x-known-device': note } })),
    );
    expect(right).toEqual({ status: 200, inTime: true });
  }, 120_000);

  it('for the account, from its own address, when the flood is over', async () => {
    const person = await service.person();
    const over = new AbortController();
    const wrong = Array.from({ length: 500 }, (_, number) =>
      login(person.email, `wrong ${number}`, VICTIM, { signal: over.signal }).catch(() => undefined),
    );
    // all of them have been sent when a later request has been answered
    await login('nobody@example.org', 'x', '192.0.2.99');
    await sleep(3000);
    const right = await timed(() => login(person.email, person.password, VICTIM));
    over.abort();
    await Promise.all(wrong);
    expect(right).toEqual({ status: 200, inTime: true });
  }, 120_000);
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
