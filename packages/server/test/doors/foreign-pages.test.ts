/**
 * Who may change something with a cookie. Programs may, whatever they put into their headers: the server of another web
 * client passes calls of its pages on, and names its own origin. A browser may only for a page of ours.
 */
import { beforeAll, describe, expect, it } from 'vitest';

import { accounts, jobs, type Operation, projects, tasks } from '@service/contract';

import { LONG } from '../support/long.ts';
import { addProfile } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';

type Headers = Record<string, string>;

const HOST = 'api.example.org';
const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
const EVIL = 'https://evil.example';

/** The server of another web client: it passes on what its pages send, and has an origin of its own. */
const OTHER_CLIENT: Headers = { 'user-agent': 'node', origin: 'http://localhost:5173' };
/** The same with what Node's fetch adds by itself. */
const NODE_FETCH: Headers = { ...OTHER_CLIENT, 'sec-fetch-mode': 'cors', accept: '*/*', 'accept-language': '*' };

const modern = (site: string, mode: string, more: Headers = {}): Headers => ({
  'user-agent': CHROME,
  'sec-fetch-site': site,
  'sec-fetch-mode': mode,
  ...more,
});
/** Plain http, or a browser from before `Sec-Fetch-Site`. */
const plain = (more: Headers = {}): Headers => ({ 'user-agent': CHROME, ...more });

/** What pages elsewhere can make a browser send with the cookie of whoever opened them. */
const FOREIGN: [string, Headers][] = [
  ['a script of another site', modern('cross-site', 'no-cors', { origin: EVIL })],
  ['a script of a sister site', modern('same-site', 'cors', { origin: 'https://jupyter.example.org' })],
  ['a form of another site', modern('cross-site', 'navigate', { origin: EVIL, 'content-type': 'text/plain' })],
  ['a sandboxed frame', modern('cross-site', 'no-cors', { origin: 'null' })],
  ['an extension', modern('none', 'cors', { origin: 'chrome-extension://abcdefgh' })],
  ['a web socket', modern('cross-site', 'websocket', { origin: EVIL, upgrade: 'websocket' })],
  ['another site on plain http', plain({ origin: 'http://evil.example' })],
  ['another port of this host on plain http', plain({ origin: `http://${HOST}:8888` })],
  ['a sandboxed frame on plain http', plain({ origin: 'null' })],
  ['something that is no origin', plain({ origin: HOST })],
  ['a browser that says nothing of the page', plain()],
  ['a page that claims to stand before a proxy', plain({ origin: EVIL, 'x-forwarded-host': 'evil.example' })],
  ['an old Opera', { 'user-agent': 'Opera/9.80 (X11; Linux i686) Presto/2.12', origin: EVIL }],
];

const isOperation = (value: unknown): value is Operation => typeof value === 'object' && value !== null;
const WRITES = [accounts, jobs, projects, tasks]
  .flatMap((area) => Object.values(area) as unknown[])
  .filter(isOperation)
  .filter(({ method, unsafeGet }) => method !== 'GET' || unsafeGet)
  .map((operation): [string, Operation] => [`${operation.method} ${operation.path}`, operation]);

const REFUSED = /came from another web site|does something and is not a page to open/;

/** An id that nothing has: whoever comes through is told that it is not there, or that something is missing. */
const NOT_THERE = '2000000000';

let alone: TestService;
let besidePages: TestService;
const tokens = new Map<TestService, string>();

async function started(withPages: boolean): Promise<TestService> {
  const service = await startService({
    withPages,
    settings: { SERVICE_TRUSTED_ORIGINS: 'https://portal.example.org' },
  });
  tokens.set(service, await newToken(service));
  return service;
}

async function newToken(service: TestService): Promise<string> {
  const patch = { is_verified: true, is_superuser: true };
  return (await service.person({ profile_id: await addProfile(service), patch })).token;
}

beforeAll(async () => {
  alone = await started(false);
  besidePages = await started(true);
});

async function send(service: TestService, { method, path }: Pick<Operation, 'method' | 'path'>, headers: Headers) {
  const answer = await service.app.inject({
    method,
    url: path.replace(/\{\w+\}/g, NOT_THERE),
    headers: { host: HOST, cookie: `fastapiusersauth=${tokens.get(service)!}`, ...headers },
  });
  // where it was done, the token has ended
  if (path === accounts.signOutEverywhere.path && answer.statusCode === 204)
    tokens.set(service, await newToken(service));
  return { status: answer.statusCode, text: answer.body };
}

/** Everything that is stored, as one number for each table. */
async function stored({ database }: TestService): Promise<unknown> {
  const { rows: tables } = await database.pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  );
  const sums = tables.map(
    ({ name }) => `select '${name}' as name, md5(string_agg(t::text, ' ' order by t::text)) from ${name} t`,
  );
  return (await database.pool.query(sums.join(' union all '))).rows;
}

describe.each<[string, () => TestService]>([
  ['the API alone', () => alone],
  ['the API beside pages', () => besidePages],
])('%s', (_, which) => {
  it('has operations that write', () => expect(WRITES.length).toBeGreaterThan(80));

  it.each(WRITES)('lets the server of another web client call %s', async (_name, operation) => {
    for (const headers of [OTHER_CLIENT, NODE_FETCH]) {
      const { status, text } = await send(which(), operation, headers);
      expect(text).not.toMatch(REFUSED);
      expect([401, 403]).not.toContain(status);
    }
  });

  it.each(FOREIGN)('refuses every write of %s, and nothing has changed', async (_name, headers) => {
    const before = await stored(which());
    for (const [name, operation] of WRITES) {
      const { status, text } = await send(which(), operation, headers);
      expect([name, status, REFUSED.test(text)]).toEqual([name, 403, true]);
    }
    expect(await stored(which())).toEqual(before);
  });

  it.each<[string, Headers]>([
    ['its own page', modern('same-origin', 'cors', { origin: `https://${HOST}` })],
    ['its own page on plain http', plain({ origin: `http://${HOST}` })],
    ['its own page, reloaded', modern('none', 'navigate', { origin: `https://${HOST}` })],
    ['a page that the settings trust', modern('cross-site', 'cors', { origin: 'https://portal.example.org' })],
    ['a page that the settings trust, old browser', plain({ origin: 'https://portal.example.org' })],
  ])('lets a browser write for %s', async (_name, headers) => {
    for (const [name, operation] of WRITES.filter(([, { unsafeGet }]) => !unsafeGet)) {
      const { status } = await send(which(), operation, headers);
      expect([name, [401, 403].includes(status)]).toEqual([name, false]);
    }
  });

  it.each<[string, Headers]>([
    ['a link', modern('same-origin', 'navigate')],
    ['a typed address', modern('none', 'navigate')],
    ['a link on plain http', plain()],
    ['a link in a page of ours on plain http', plain({ referer: `http://${HOST}/` })],
  ])('no GET that does something is done by %s', async (_name, headers) => {
    for (const [name, operation] of WRITES.filter(([, { unsafeGet }]) => unsafeGet)) {
      const { status, text } = await send(which(), operation, headers);
      expect([name, status, REFUSED.test(text)]).toEqual([name, 403, true]);
    }
  });

  it('lets a token in a header through, which no page elsewhere can send', async () => {
    const writes = WRITES.filter(([, { access }]) => access !== 'anonymous');
    for (const [at, [, headers]] of FOREIGN.entries()) {
      // each operation for several of them, all for all in long runs
      const some = LONG ? writes : writes.filter((_write, number) => (number + at) % 8 === 0);
      for (const [name, operation] of some) {
        const free = { ...headers, cookie: '', authorization: `Bearer ${tokens.get(which())!}` };
        const { status } = await send(which(), operation, free);
        expect([name, [401, 403].includes(status)]).toEqual([name, false]);
      }
    }
  });

  it('does what the server of another web client asks for', async () => {
    const person = await which().person();
    const made = await send(which(), { method: 'GET', path: `/admin/v2/impersonate/${person.id}/` }, OTHER_CLIENT);
    expect([made.status, made.text]).toEqual([200, expect.stringContaining('access_token')]);
    expect((await send(which(), accounts.logout, OTHER_CLIENT)).status).toBe(204);
  });
});
