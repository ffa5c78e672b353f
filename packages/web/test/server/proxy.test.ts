/** What the proxy passes on, before a server that shows what arrives, and what holds without an API. */
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { ADMIN, folder, START_MS, startWeb, startWebProcess, variables, type Web } from './built-web.ts';

vi.setConfig({ testTimeout: 30_000 });

const NOBODY = 'http://127.0.0.1:9';
const LIMIT = 1000;
const FILES = folder('web-files');
const BANNER = join(FILES, 'banner.txt');
const NEWS = join(FILES, 'news.md');
const MEGABYTE = 1024 ** 2;

let upstream: Server;
let address: string;
let web: Web;
let limited: Web;
let alone: Web;
let streams = 0;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const url = new URL(request.url!, 'http://upstream');
  if (url.pathname === '/api/alive/') return response.end('{"alive": true, "version": "9.9"}');
  if (url.pathname === '/api/v2/stream/') {
    streams++;
    request.once('close', () => streams--);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.write('data: first\n\n');
  }
  if (url.pathname === '/api/v2/large/') {
    response.writeHead(413, { 'content-type': 'application/json', connection: 'close' });
    return response.end('{"detail": "Too large."}');
  }
  if (url.pathname === '/api/v2/unchanged/') return response.writeHead(304, { etag: '"1"' }).end();
  const { method, headers } = request;
  // an upload may break off
  const body = await text(request).catch(() => '');
  response.writeHead(Number(url.searchParams.get('status') ?? 200), {
    'content-type': 'application/json',
    'set-cookie': ['a=1; Path=/', 'b=2'],
    'x-of-the-api': 'yes',
  });
  return response.end(JSON.stringify({ method, url: request.url, headers, length: body.length }));
}

beforeAll(async () => {
  upstream = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  web = await startWeb(`${address}/`, {
    LOG_LEVEL_CONSOLE: 'info',
    WARNING_BANNER_PATH: BANNER,
    NEWS_INFO_PATH: NEWS,
  });
  limited = await startWeb(address, {
    BODY_SIZE_LIMIT: String(LIMIT),
    ORIGIN: 'https://lab.example.org',
    SERVICE_HIDE_BASIC_AUTH: 'true',
    PUBLIC_GUEST_USERNAME: 'guest@example.org',
    PUBLIC_GUEST_PASSWORD: 'guest-password',
    PUBLIC_SERVICE_DATA_URL: 'https://data.example.org/x',
    PUBLIC_HELP_LINKS_BASE_URL: 'https://guide.example.org/y',
  });
  alone = await startWeb(NOBODY);
}, START_MS);

afterAll(() => {
  upstream.close();
  upstream.closeAllConnections();
});

interface Arrived {
  method: string;
  url: string;
  headers: Record<string, string>;
  length: number;
}
const send = (path: string, init: RequestInit = {}, to = web) =>
  fetch(to.url + path, { ...init, headers: { origin: to.url, ...(init.headers as Record<string, string>) } });
const arrived = async (path: string, init: RequestInit = {}) => (await (await send(path, init)).json()) as Arrived;
const JSON_BODY = { 'content-type': 'application/json' };

describe('the proxy', () => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('passes on %s with path and query', async (method) => {
    const body = method === 'GET' ? {} : { body: '{"a": 1}', headers: JSON_BODY };
    expect(await arrived('/api/v2/project/1?a=b%20c&a=d', { method, ...body })).toMatchObject({
      method,
      url: '/api/v2/project/1/?a=b%20c&a=d',
      length: method === 'GET' ? 0 : 8,
    });
  });

  it.each([
    ['/api/auth/users', '/auth/users/'],
    ['/api/admin/v2/job', '/admin/v2/job/'],
    ['/api/v2/project/', '/api/v2/project/'],
  ])('sends %s to %s without a redirect', async (path, url) => expect((await arrived(path)).url).toBe(url));

  it('passes on the headers and cookies of the list alone', async () => {
    const headers = {
      accept: 'text/csv',
      'last-event-id': '5',
      'if-none-match': '"x"',
      authorization: 'Bearer x',
      range: 'bytes=0-1',
      'x-forwarded-for': '10.0.0.1',
      'x-forwarded-host': 'evil.example',
      'x-service-pass': 'guessed',
      'user-agent': 'Mozilla/5.0',
      cookie: 'theme=dark; fastapiusersauth=t; fastapiusersauth_own=o; fastapiusersoauthcsrf=c',
    };
    const { headers: seen } = await arrived('/api/v2/x', { headers });
    expect(seen).toEqual({
      accept: 'text/csv',
      connection: 'keep-alive',
      cookie: 'fastapiusersauth=t; fastapiusersoauthcsrf=c',
      host: new URL(address).host,
      'if-none-match': '"x"',
      'last-event-id': '5',
      origin: web.url,
      // what fetch adds
      'sec-fetch-mode': 'cors',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': new URL(web.url).host,
      'x-forwarded-proto': 'http',
    });
  });

  it.each([200, 201, 404, 422, 500])('gives back status %i with headers and cookies as they are', async (status) => {
    const response = await send(`/api/v2/x?status=${status}`);
    expect(response.status).toBe(status);
    expect(response.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2']);
    expect(response.headers.get('x-of-the-api')).toBe('yes');
    expect(response.headers.get('x-frame-options')).toBeNull();
  });

  it('gives back an answer without body', async () => {
    const response = await send('/api/v2/unchanged', { headers: { 'if-none-match': '"1"' } });
    expect([response.status, response.headers.get('etag')]).toEqual([304, '"1"']);
  });

  it('takes bodies of any size where no limit is set', async () => {
    const body = 'x'.repeat(20 * MEGABYTE);
    const { length } = await arrived('/api/v2/x', { method: 'POST', headers: JSON_BODY, body });
    expect(length).toBe(20 * MEGABYTE);
  });

  it('gives back the refusal of an API that does not read on', async () => {
    const body = 'x'.repeat(20 * MEGABYTE);
    const response = await send('/api/v2/large', { method: 'POST', headers: JSON_BODY, body });
    expect([response.status, await response.json()]).toEqual([413, { detail: 'Too large.' }]);
  });

  it('passes a stream on piece by piece and ends it when the browser leaves', async () => {
    const leave = new AbortController();
    const response = await send('/api/v2/stream', { signal: leave.signal });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const { value } = await response.body!.getReader().read();
    expect(Buffer.from(value as Uint8Array).toString()).toBe('data: first\n\n');
    expect(streams).toBe(1);
    leave.abort();
    await vi.waitFor(() => expect(streams).toBe(0), 5000);
  });

  it.each([
    ['GET', '/api/admin/v2/impersonate/1'],
    ['POST', '/api/admin/v2/impersonate'],
    ['GET', '/api/admin/v2/job/1/stop'],
    ['GET', '/api/v2/project/1/job/1/stop'],
  ])('blocks %s %s', async (method, path) => {
    const response = await send(path, { method, headers: JSON_BODY });
    expect([response.status, Object.keys((await response.json()) as object)]).toEqual([403, ['detail', 'message']]);
  });

  it('writes a line for every call, and how failures ended', async () => {
    await send('/api/v2/logged?status=404');
    await send('/api/v2/logged?status=500');
    expect(web.output()).toMatch(/INFO {2}GET \/api\/v2\/logged\n/);
    expect(web.output()).toMatch(/INFO {2}GET http:\S+\/api\/v2\/logged\/ was answered with 404, began 2/);
    expect(web.output()).toMatch(/ERROR GET http:\S+\/api\/v2\/logged\/ was answered with 500, began 2/);
  });
});

describe('a limit of bodies', () => {
  const chunks = (count: number) =>
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < count; at++) controller.enqueue(new Uint8Array(LIMIT / 2));
        controller.close();
      },
    });

  it.each<[string, number, () => RequestInit]>([
    ['what keeps it', 200, () => ({ body: 'x'.repeat(LIMIT) })],
    ['what says that it is larger', 413, () => ({ body: 'x'.repeat(LIMIT + 1) })],
    ['a stream that turns out larger', 413, () => ({ body: chunks(3), duplex: 'half' }) as RequestInit],
  ])('%s is answered with %i', async (_, status, body) => {
    const response = await send('/api/v2/x', { method: 'POST', headers: JSON_BODY, ...body() }, limited);
    expect(response.status).toBe(status);
    if (status === 413) expect(((await response.json()) as { message: string }).message).toContain(String(LIMIT));
  });
});

describe('a given origin', () => {
  it.each([
    ['https://lab.example.org', 400],
    ['http://127.0.0.1', 403],
  ])('a form from %s is answered with %i', async (origin, status) =>
    expect((await limited.post('/auth/login?/login', ADMIN, { origin })).status).toBe(status),
  );

  it('makes the cookie secure', async () => {
    const response = await limited.post('/auth/token/logout', {}, { origin: 'https://lab.example.org' });
    expect(response.headers.getSetCookie().at(-1)).toMatch(/^fastapiusersauth=; (?!.*Domain).*Secure/);
  });

  it('says that people come over TLS', async () => {
    for (const path of ['/', '/_app/version.json', '/api/v2/x'])
      expect((await limited.get(path)).headers.get('strict-transport-security')).toBe('max-age=31536000');
    expect((await web.get('/')).headers.get('strict-transport-security')).toBeNull();
  });

  it('names the services of the operator in the security policy', async () => {
    const policy = (await limited.get('/')).headers.get('content-security-policy');
    expect(policy).toContain("connect-src 'self' https://data.example.org;");
    expect(policy).toMatch(/frame-src 'self' https:\/\/guide\.example\.org$/);
  });
});

describe('pages', () => {
  it.each(['/', '/auth/login', '/not-here'])('%s has the security headers', async (path) => {
    const { headers } = await web.get(path);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-frame-options': 'deny',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': 'geolocation=(), camera=(), microphone=(), interest-cohort=()',
      'x-dns-prefetch-control': 'off',
    });
    const policy = headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/script-src [^;]*'nonce-/);
    expect(policy).not.toMatch(/unsafe-(inline|eval)/);
  });

  it.each(['/_app/version.json', '/v2/projects', '/_app/immutable/not-here.js'])(
    'are not alone in having them: %s',
    async (path) => {
      const { headers } = await web.get(path);
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-frame-options': 'deny',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      });
      expect(headers.get('cache-control')).toMatch(/no-cache|no-store|max-age=0/);
    },
  );

  it('name files that may be kept for ever, because their names change with them', async () => {
    const [file] = /\/_app\/immutable\/[^"]+\.js/.exec(await (await web.get('/')).text())!;
    const { headers } = await web.get(file);
    expect(headers.get('cache-control')).toBe('public,max-age=31536000,immutable');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('show banner and news of the operator as they are now, and go on without them', async () => {
    const before = await web.get('/');
    expect([before.status, web.output()]).toEqual([
      200,
      expect.stringMatching(/ERROR WARNING_BANNER_PATH cannot be read: ENOENT/),
    ]);
    writeFileSync(BANNER, 'Closed\n<b>tonight</b>');
    writeFileSync(NEWS, '# New\n\nA **viewer**<script>alert(1)</script>');
    const page = await (await web.get('/')).text();
    expect(page).toContain('Closed\n&lt;b>tonight&lt;/b>');
    expect(page).toMatch(/<h1>New<\/h1>\n<p>A <strong>viewer<\/strong><\/p>/);
  });

  it.each<[string, () => Web, boolean]>([
    ['offers a password', () => web, true],
    ['hides it, and the guest, where it is switched off', () => limited, false],
  ])('the login page %s', async (_, which, offers) =>
    expect((await (await which().get('/auth/login')).text()).includes('name="password"')).toBe(offers),
  );

  it('tells that both are alive', async () => {
    const response = await web.get('/alive');
    expect([response.status, await response.json()]).toEqual([
      200,
      { alive: true, version: expect.any(String), fractal_server_alive: true, fractal_server_version: '9.9' },
    ]);
  });
});

describe('without an API', () => {
  const cookie = { cookie: 'fastapiusersauth=t' };

  it('is alive itself', async () => {
    const response = await alone.get('/alive/');
    expect([response.status, await response.json()]).toEqual([
      200,
      { alive: true, version: expect.any(String), fractal_server_alive: false, fractal_server_version: null },
    ]);
  });

  it.each([{}, cookie])('pages lead home (%j)', async (headers) =>
    expect((await alone.get('/profile/token', headers)).headers.get('location')).toBe('/?invalidate=true'),
  );

  it('a call says why it failed', async () => {
    const response = await send('/api/v2/project', {}, alone);
    expect([response.status, await response.json()]).toEqual([
      500,
      { message: expect.stringContaining('ECONNREFUSED') as string },
    ]);
  });

  it('nobody can sign in, and is told so', async () => {
    const response = await alone.post('/auth/login?/login', ADMIN);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('does not answer')]);
  });

  it('logout clears the cookie all the same', async () => {
    const response = await alone.post('/auth/token/logout', {}, cookie);
    expect([response.status, response.headers.getSetCookie().at(-1)]).toEqual([
      204,
      expect.stringMatching(/^fastapiusersauth=; .*Expires=Thu, 01 Jan 1970/),
    ]);
  });
});

describe('the start', () => {
  it.each<[string, Record<string, string>, RegExp]>([
    ['without the API', { SERVICE_SERVER_HOST: '' }, /SERVICE_SERVER_HOST: Set this variable/],
    ['with a wrong runner', { SERVICE_RUNNER_BACKEND: 'cloud' }, /SERVICE_RUNNER_BACKEND: "cloud" is not known/],
    ['with a wrong level', { LOG_LEVEL_CONSOLE: 'loud' }, /LOG_LEVEL_CONSOLE: "loud" is not known/],
    ['with a bound cookie', { AUTH_COOKIE_NAME: '__Host-a', AUTH_COOKIE_SECURE: 'false' }, /AUTH_COOKIE_SECURE: it/],
    ['with a wrong size', { BODY_SIZE_LIMIT: 'big' }, /BODY_SIZE_LIMIT: "big" is not a number of bytes/],
  ])('%s ends with status 2 and the reason', async (_, changes, words) => {
    const process = await startWebProcess({ ...variables(address), ...changes });
    expect(await process.ended).toBe(2);
    expect(process.output()).toMatch(words);
  });

  it('takes the other names of variables, and writes down what it was given', async () => {
    const place = folder('web-log');
    const { SERVICE_RUNNER_BACKEND: runner, ...rest } = variables(address);
    const process = await startWebProcess({
      ...rest,
      SERVICE_BACKEND_RUNNER: runner,
      PUBLIC_SERVICE_VIEWER_URL: 'https://viewer.example.org/',
      LOG_FILE: join(place, 'web.log'),
      LOG_LEVEL_CONSOLE: 'info',
      AUTH_COOKIE_NAME: '__Host-session',
    });
    await process.said(/Listening/);
    expect(process.output()).toContain('SERVICE_RUNNER_BACKEND=local');
    expect(process.output()).toContain('PUBLIC_SERVICE_VIZARR_VIEWER_URL=https://viewer.example.org\n');
    expect(process.output()).toMatch(/WARN {2}AUTH_COOKIE_NAME begins with __Host-/);
  });

  it.each([
    [
      'a file for the log',
      '{"appenders": {"f": {"type": "stdout"}}, "categories": {"default": {"appenders": ["f"], "level": "info"}}}',
      /INFO {2}PORT=0/,
    ],
    [
      'a file for the log in YAML',
      'appenders:\n  out: { type: stdout }\ncategories:\n  default: { appenders: [out], level: info } # all\n',
      /INFO {2}PORT=0/,
    ],
    ['one that says too little', 'appenders: {}\n', /WARN {2}LOG_CONFIG_FILE .* is not used: it does not say/],
    ['a broken one', '{', /WARN {2}LOG_CONFIG_FILE .* is not used/],
  ])('with %s', async (_, content, words) => {
    const file = join(folder('web-log'), 'log.yaml');
    writeFileSync(file, content);
    const process = await startWebProcess({ ...variables(address), LOG_CONFIG_FILE: file });
    await process.said(/Listening/);
    expect(process.output()).toMatch(words);
  });
});
