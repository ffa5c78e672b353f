/**
 * The way of a page to the API through the web server: what leads around its rules, and what pages of other sites can make
 * a browser send. The web server stands alone, and on the port of the API.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { accounts, jobs, type Operation, projects, tasks } from '@service/contract';

import { createApi, createApp } from '../packages/server/src/http/index.ts';
import { clientOf } from '../packages/server/test/support/server.ts';
import { passedTo } from '../packages/web/src/lib/server/proxy-rules.ts';
import { START_MS, startWeb } from '../packages/web/test/server/built-web.ts';
import { PASSWORD, READY, start } from './support/mounted.ts';
import { ask } from './support/raw-http.ts';

const OPERATIONS = [accounts, jobs, projects, tasks]
  .flatMap((area) => Object.values(area) as unknown[])
  .filter((one): one is Operation => typeof one === 'object' && one !== null);

const isImpersonation = ({ path }: Operation) => path.startsWith('/admin/v2/impersonate/');
const isBlocked = (operation: Operation) => operation.unsafeGet || isImpersonation(operation);

describe('the pass and the router of the API', () => {
  /** The router as the service has it, with operations that only tell who they are. */
  const log = { enabled: () => false, debug: () => undefined, info: () => undefined };
  const app = createApp({
    logging: { logger: () => ({ ...log, warning: () => undefined, error: () => undefined }) },
    longRequestSeconds: 30,
    longestRequestSeconds: 0,
    longestUploadSeconds: 0,
    trustedProxies: null,
    overTls: false,
    failureOf: () => undefined,
  });
  let url: string;

  beforeAll(async () => {
    app.addHook('onRequest', (request, reply) => {
      void reply.send({ operation: request.routeOptions.config.operation?.id, params: request.params });
    });
    const api = createApi(app, {
      // every request is answered before its body or its caller matters
      bodies: { take: () => Promise.reject(new Error('no body is read')), packsWith: () => true },
      authenticate: () => Promise.resolve(undefined),
      hold: () => () => undefined,
      noteActing: () => Promise.resolve(),
      forPerson: (_person, work) => work(),
      site: { trustedOrigins: [], besidePages: true },
    });
    for (const operation of OPERATIONS) api.serveAnyone(operation, () => undefined);
    url = await app.listen({ host: '127.0.0.1', port: 0 });
  });
  afterAll(() => app.close());

  async function answeredBy(method: string, path: string) {
    const { text } = await ask(url, path, { method });
    const { operation, params } = JSON.parse(text) as { operation?: string; params: Record<string, string> };
    return { operation: OPERATIONS.find(({ id }) => id === operation), params };
  }

  /** What Kit makes of the first line of a request before any rule of ours sees it. */
  const seenByKit = (target: string) => new URL(`http://web.example${target}`).pathname;

  const hex = (character: string) => `%${character.charCodeAt(0).toString(16)}`;
  const spelled = (segment: string) =>
    fc
      .array(fc.constantFrom('plain', 'lower', 'upper'), { minLength: segment.length, maxLength: segment.length })
      .map((ways) =>
        [...segment]
          .map((one, at) => (ways[at] === 'plain' ? one : ways[at] === 'upper' ? hex(one).toUpperCase() : hex(one)))
          .join(''),
      );
  const slashes = fc.constantFrom('/', '/', '/', '//', '///', '/./', '/x/../', '/%2e/', '/y/%2E./', '\\', '/\\');
  const ending = fc.constantFrom('', '/', '//', '/.', '?', '/?a=/../b', '?x=%2f');

  /** The address of an operation in one of the ways in which it can be written. */
  const anySpelling = fc.nat(OPERATIONS.length - 1).chain((at) => {
    const operation = OPERATIONS[at]!;
    const path = operation.path.replace(/\{\w+\}/g, '7').replace(/^\/(?!api\/)/, '/api/');
    const segments = path.split('/').filter(Boolean);
    const parts = segments.slice(1).map((segment) => fc.tuple(slashes, spelled(segment)).map((pair) => pair.join('')));
    return fc.tuple(
      fc.constant(at),
      fc.tuple(...parts).map((rest) => rest.join('')),
      ending,
    );
  });

  it('agree about every address, however it is written', () =>
    fc.assert(
      fc.asyncProperty(anySpelling, async ([at, rest, end]) => {
        const operation = OPERATIONS[at]!;
        const { method } = operation;
        const passed = passedTo(method, seenByKit(`/api${rest}${end}`));
        if (isBlocked(operation)) expect(passed).toHaveProperty('status');
        // what is not blocked may still be written in a way that has more than one meaning
        if ('status' in passed) return isBlocked(operation) || passed.status === 400;
        const answered = await answeredBy(method, passed.path);
        expect(answered.operation?.id).toBe(operation.id);
        expect(new Set(Object.values(answered.params))).toEqual(new Set(operation.path.includes('{') ? ['7'] : []));
        return true;
      }),
      { numRuns: 2000 },
    ));

  it('let nothing through that is blocked, whatever the address is made of', () => {
    const piece = fc.constantFrom(
      ...['/', '//', '\\', '.', '..', '%2e', '%2f', '%5c', '%25', '%252f', '%00', ';', '%3b', '?', '#', '@', ':', '*'],
      ...[
        'api',
        'admin',
        'v2',
        'auth',
        'impersonate',
        'job',
        'stop',
        'project',
        '7',
        '%61dmin',
        'Admin',
        'é',
        '%C3%A9',
      ],
    );
    const target = fc.array(piece, { maxLength: 14 }).map((pieces) => `/api/${pieces.join('')}`);
    return fc.assert(
      fc.asyncProperty(fc.constantFrom('GET', 'POST'), target, async (method, given) => {
        const passed = passedTo(method, seenByKit(given));
        if ('status' in passed) return;
        const { operation } = await answeredBy(method, passed.path);
        expect(operation !== undefined && (isImpersonation(operation) || operation.unsafeGet)).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });
});

const ADMIN = { username: 'admin@example.org', password: PASSWORD };
const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) Chrome/141.0';

interface WebServer {
  /** Where pages are. */
  web: string;
  api: string;
  token: string;
}
const webServers: Record<string, WebServer> = {};

beforeAll(async () => {
  const service = start();
  const mounted = (await service.said(READY))[1]!;
  const separate = await startWeb(mounted);
  const login = await clientOf(mounted).raw('/auth/token/login/', { method: 'POST', body: new URLSearchParams(ADMIN) });
  const { access_token: token } = login.body as { access_token: string };
  webServers['on the port of the API'] = { web: mounted, api: mounted, token };
  webServers['alone'] = { web: separate.url, api: mounted, token };
}, START_MS);

describe.each(['on the port of the API', 'alone'])('the web server %s', (name) => {
  const webServer = () => webServers[name]!;
  const session = () => ({ cookie: `fastapiusersauth=${webServer().token}` });
  const json = { 'content-type': 'application/json' };

  it.each([
    '/api/admin/v2/impersonate/1',
    '/api/admin//v2/impersonate/1',
    '/api//admin/v2/impersonate//1//',
    '/api/admin/v2/%69mpersonate/1',
    '/api/%61dmin/v2/impersonate/1',
    '/api/admin/./v2/impersonate/1',
    '/api/v2/../admin/v2/impersonate/1',
    '/api/x/%2e%2e/admin/v2/impersonate/1',
    '/x/../api/admin//v2/impersonate/1',
    '/api\\admin\\v2\\impersonate\\1',
    '/api/admin/v2%2fimpersonate/1',
    '/api/admin/v2/impersonate/1;x',
    '/api/admin/v2/impersonate/1?',
    '/api/admin/v2/impersonate/1#',
  ])('gives no page the token of somebody else: %s', async (target) => {
    const browser = { ...session(), 'user-agent': CHROME };
    for (const headers of [session(), browser, { ...browser, 'sec-fetch-site': 'same-origin' }]) {
      const { status, text } = await ask(webServer().web, target, { headers });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(text).not.toContain('access_token');
    }
  });

  it.each(['/api/admin//v2/job/1/stop', '/api//admin/v2/job/1/%73top', '/api/admin/v2/job//1/stop/'])(
    'stops no job by a link: %s',
    async (target) => {
      const { status, text } = await ask(webServer().web, target, { headers: session() });
      expect([status, text]).toEqual([403, expect.stringContaining('does something')]);
    },
  );

  /** Names of groups are unique, and a new one tells that the call came through. */
  let groups = 0;
  const makeGroup = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ name: `Group ${name} ${++groups}` });
    const made = await ask(webServer().web, '/api/auth/group', {
      method: 'POST',
      headers: { ...session(), ...json, ...headers },
      body,
    });
    const all = await ask(webServer().api, '/auth/group/', {
      headers: { authorization: `Bearer ${webServer().token}` },
    });
    return { status: made.status, exists: all.text.includes(`Group ${name} ${groups}"`) };
  };

  it.each<[string, () => Record<string, string>]>([
    ['a script of another site', () => ({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })],
    ['a script of a sister site', () => ({ 'sec-fetch-site': 'same-site', origin: webServer().web })],
    ['a hidden page', () => ({ 'sec-fetch-site': 'cross-site', origin: 'null' })],
    ['another site on plain http', () => ({ origin: 'http://evil.example' })],
    ['another port of this host on plain http', () => ({ origin: 'http://127.0.0.1:9' })],
    ['a hidden page on plain http', () => ({ origin: 'null' })],
    ['a page that says nothing', () => ({})],
    ['a page that claims our place', () => ({ origin: 'http://evil.example', 'x-forwarded-host': 'evil.example' })],
    ['a page that guesses', () => ({ 'sec-fetch-site': 'cross-site', 'x-service-pass': '0'.repeat(48) })],
  ])('does nothing for %s', async (_, headers) =>
    expect(await makeGroup({ 'user-agent': CHROME, ...headers() })).toEqual({ status: 403, exists: false }),
  );

  it.each<[string, () => Record<string, string>]>([
    ['its own page', () => ({ 'sec-fetch-site': 'same-origin', origin: webServer().web, 'user-agent': CHROME })],
    ['its own page on plain http', () => ({ origin: webServer().web, 'user-agent': CHROME })],
    ['a program', () => ({ 'user-agent': 'curl/8' })],
  ])('works for %s', async (_, headers) => expect(await makeGroup(headers())).toEqual({ status: 201, exists: true }));

  it('ends no session for a page of another site', async () => {
    const headers = { ...session(), ...json, 'user-agent': CHROME };
    const from = (origin: string) =>
      ask(webServer().web, '/auth/token/logout', { method: 'POST', headers: { ...headers, origin } });
    const refused = await from('http://evil.example');
    expect([refused.status, refused.headers['set-cookie']]).toEqual([403, undefined]);
    expect((await from(webServer().web)).status).toBe(204);
  });
});

describe('another web client, before a service with pages of its own', () => {
  const headers = () => ({
    cookie: `fastapiusersauth=${webServers['alone']!.token}`,
    'user-agent': 'node',
    origin: 'http://localhost:5173',
    'content-type': 'application/json',
  });

  it.each<[string, string, string | undefined, number]>([
    ['POST', '/api/v2/project/', '{"name": "Of another client"}', 201],
    ['POST', '/auth/group/', '{"name": "Of another client"}', 201],
    ['GET', '/admin/v2/impersonate/1/', undefined, 200],
    ['GET', '/admin/v2/job/1/stop/', undefined, 404],
    ['GET', '/api/v2/project/1/job/1/stop/', undefined, 404],
    ['POST', '/auth/token/logout/', undefined, 204],
  ])('is answered: %s %s', async (method, path, body, status) => {
    const sent = { method, headers: headers(), ...(body === undefined ? {} : { body }) };
    expect((await ask(webServers['alone']!.api, path, sent)).status).toBe(status);
  });
});
