/** Callbacks of sign-ins that nobody began, or that are repeated: the provider is not asked again and again for them. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { beforeAll, describe, expect, it } from 'vitest';

import { createProvider } from '../../src/accounts/index.ts';
import { atFileEnd } from '../support/file-end.ts';
import { LONG, oneIn } from '../support/long.ts';
import { comeBack, cookieIn, handIn, type Oidc, startOidc } from '../support/oidc.ts';
import { ADMIN, type Answer, startService, type TestService } from '../support/server.ts';

const WITHIN_MS = 5000;
const MANY = LONG ? 300 : 200;

let oidc: Oidc;
let service: TestService;
beforeAll(async () => {
  oidc = await startOidc();
  // addresses are what the proxy on this machine says
  service = await startService({
    background: false,
    settings: { ...oidc.settings, SERVICE_TRUSTED_PROXIES: '127.0.0.1' },
  });
  oidc.people.set('admin', { email: ADMIN.email });
});

const refusal = ({ status, body }: Answer) => [status, body?.detail];
const exchanges = () => oidc.requests.filter((request) => request === 'POST /token').length;

interface Begun {
  state: string;
  cookie: string;
}

async function begun(): Promise<Begun> {
  const answer = await service.anyone.get(oidc.authorize);
  const { searchParams } = new URL(answer.body.authorization_url as string);
  return { state: searchParams.get('state')!, cookie: cookieIn(answer).cookie };
}

/** With a code that the provider never gave. */
const handInGuess = ({ state, cookie }: Begun, code: string, address: string, signal?: AbortSignal) =>
  service.anyone.raw(`${oidc.callback}?${new URLSearchParams({ code, state }).toString()}`, {
    headers: { cookie, 'x-forwarded-for': address },
    ...(signal ? { signal } : {}),
  });

/** Many sign-ins, each with a state of its own, with codes that nobody got; given up when the work is done. */
async function during<T>(addressOf: (number: number) => string, work: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const states = await Promise.all(Array.from({ length: MANY }, begun));
  const all = states.map((one, number) =>
    handInGuess(one, `guess ${number}`, addressOf(number), over.signal).catch(() => undefined),
  );
  try {
    return await work();
  } finally {
    over.abort();
    await Promise.all(all);
  }
}

describe('a state', () => {
  it('is good for one question to the provider, however many codes come with it', async () => {
    const one = await begun();
    const before = exchanges();
    const answers = await Promise.all(
      Array.from({ length: MANY }, (_, number) => handInGuess(one, `guess ${number}`, '192.0.2.1')),
    );
    expect(exchanges() - before).toBe(1);
    expect(answers.filter(({ status }) => status === 500)).toHaveLength(1);
    expect(answers.map(refusal)).toContainEqual([400, 'OAUTH_INVALID_STATE']);
  });

  it('that has signed somebody in signs nobody in again', async () => {
    const returned = await comeBack(service, oidc, 'admin');
    expect((await handIn(service, oidc, returned)).status).toBe(204);
    const before = exchanges();
    expect(refusal(await handIn(service, oidc, returned))).toEqual([400, 'OAUTH_INVALID_STATE']);
    expect(exchanges()).toBe(before);
  });
});

describe('while hundreds of callbacks come with codes that nobody got', () => {
  it.each(
    oneIn<[string, (number: number) => string, number]>(2, [
      ['one address', () => '198.51.100.1', 20],
      ['one network', (number) => `2001:db8::${number.toString(16)}`, 20],
      // the first one of each may be a person's
      ['many addresses, each often', (number) => `10.0.0.${number % 10}`, 60],
    ]),
  )(
    'from %s, the provider is asked few times, and others sign in',
    async (_, addressOf, most) => {
      const returned = await comeBack(service, oidc, 'admin');
      const before = exchanges();
      const { status, inTime } = await during(addressOf, async () => {
        await sleep(2000);
        const began = Date.now();
        const answer = await service.anyone.raw(`${oidc.callback}?${returned.search.toString()}`, {
          headers: { cookie: returned.cookie, 'x-forwarded-for': '192.0.2.7' },
        });
        return { status: answer.status, inTime: Date.now() - began < WITHIN_MS };
      });
      expect({ status, inTime }).toEqual({ status: 204, inTime: true });
      expect(exchanges() - before).toBeLessThanOrEqual(most);
    },
    60_000,
  );

  it('from everywhere, few questions are open at the provider at a time', async () => {
    let [open, most] = [0, 0];
    const slow = createServer((request, response) => {
      request.resume();
      most = Math.max(most, ++open);
      setTimeout(() => response.writeHead(400).end('{}'), 200);
      response.once('close', () => open--);
    });
    const other = await withProviderAt(slow);
    const states = await Promise.all(Array.from({ length: 100 }, () => other.begin()));
    const answers = await Promise.all(states.map((one, number) => other.callback(one, `10.1.0.${number}`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([500]));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
  }, 60_000);
});

/** A service whose GitHub is at an address of ours. */
async function withProviderAt(server: ReturnType<typeof createServer>) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atFileEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = { name: 'github', id: 'id', secret: 'secret', discovery: null, redirectUrl: null };
  const { anyone } = await startService({
    background: false,
    settings: {
      ...{ OAUTH_CLIENT_NAME: 'github', OAUTH_CLIENT_ID: 'id', OAUTH_CLIENT_SECRET: 'secret' },
      SERVICE_TRUSTED_PROXIES: '127.0.0.1',
    },
    provider: await createProvider(
      { ...settings, emailClaim: 'email', trustEmail: false },
      { authorize: `${url}/authorize`, token: `${url}/token`, api: url },
    ),
  });
  return {
    async begin(): Promise<Begun> {
      const answer = await anyone.get('/auth/github/authorize/');
      const { searchParams } = new URL(answer.body.authorization_url as string);
      return { state: searchParams.get('state')!, cookie: cookieIn(answer).cookie };
    },
    callback: ({ state, cookie }: Begun, address: string) =>
      anyone.get(`/auth/github/callback/?${new URLSearchParams({ code: 'code', state }).toString()}`, {
        headers: { cookie, 'x-forwarded-for': address },
      }),
  };
}

it('an answer of the provider that does not end is not read to its end', async () => {
  let sent = 0;
  const piece = Buffer.alloc(65_536, ' ');
  const pour = (response: ServerResponse) => {
    while (!response.destroyed && sent < 64 * 2 ** 20) {
      sent += piece.length;
      if (!response.write(piece)) return void response.once('drain', () => pour(response));
    }
    response.end('{}');
  };
  const endless = createServer((request, response) => {
    request.resume();
    pour(response.writeHead(200, { 'content-type': 'application/json' }));
  });
  const other = await withProviderAt(endless);
  const answer = await other.callback(await other.begin(), '192.0.2.9');
  expect(refusal(answer)).toEqual([500, expect.stringContaining('could not be asked for a token')]);
  expect(sent).toBeLessThan(16 * 2 ** 20);
});
