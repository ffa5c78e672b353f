/** The web client on the port of the API, as `npm start` gives it: who answers where, and what passes through. */
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

import { ensureBuilt } from '../packages/server/src/web/build.ts';
import { ownAddress } from '../packages/server/src/web/mount.ts';
import { isOfTheClient } from '../packages/server/src/web/paths.ts';
import { CLIENT_VARIABLES } from '../packages/server/src/web/variables.ts';
import { LONG, oneIn } from '../packages/server/test/support/long.ts';
import { clientOf } from '../packages/server/test/support/server.ts';
import {
  isOfClient,
  kept,
  newFolder,
  OPTIONS,
  PASSWORD,
  READY,
  send as sendTo,
  type Sent,
  start,
} from './support/mounted.ts';
import { ROOT, type Running, startCommand, startService } from './support/processes.ts';

const BUILD_MS = 300_000;
const MEGABYTE = 1024 ** 2;
const TLS = 'strict-transport-security';
const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/141.0' };

let service: Running;
let url: string;
let token: string;

beforeAll(async () => {
  await ensureBuilt();
  // as people start it: nothing says that pages are wanted
  const args = ['packages/server/bin/start.cjs', ...OPTIONS, '--data-dir', join(newFolder('mount'), 'data')];
  const environment = { SERVICE_LOGGING_LEVEL: '10' };
  service = kept(startCommand(join(ROOT, 'node_modules/.bin/node'), args, { environment }));
  url = (await service.said(READY))[1]!;
  const form = new URLSearchParams({ username: 'admin@example.org', password: PASSWORD });
  const { body } = await clientOf(url).raw('/auth/token/login/', { method: 'POST', body: form });
  token = (body as { access_token: string }).access_token;
}, BUILD_MS);

const session = () => ({ cookie: `fastapiusersauth=${token}` });

const send = (path: string, init: Sent = {}, to = url) => sendTo(to, path, init);
const page = (path: string, headers: Record<string, string> = {}) =>
  send(path, { headers: { accept: 'text/html', ...headers } });

/** The cookie of the session; signing in also expires those of before, and leaves a note of the browser. */
const sessionIn = ({ headers }: Response) =>
  headers.getSetCookie().find((one) => one.startsWith('fastapiusersauth=ey'))!;

describe('the rule', () => {
  it.each<[string, boolean]>([
    ['GET /', true],
    ['GET /?invalidate=true', true],
    ['GET /alive', true],
    ['GET /alive/', true],
    ['GET /auth/login', true],
    ['GET /auth/login/', true],
    ['POST /auth/login?/login', true],
    ['GET /auth/login/__data.json?x-sveltekit-invalidated=01', true],
    ['GET /auth/login/oauth2', true],
    ['GET /auth/login/oauth2/?code=1', true],
    ['GET /profile', true],
    ['GET /profile/token', true],
    ['GET /viewer-paths', true],
    ['GET /healthcheck', true],
    ['GET /help/minimal/v2/projects', true],
    ['GET /v2/projects', true],
    ['GET /v2/admin/users', true],
    ['GET /demo/package', true],
    ['GET /_app/immutable/x.js', true],
    ['GET /_app/version.json', true],
    ['GET /favicon.ico', true],
    ['GET /api/admin/v2/job', true],
    ['GET /api/auth/current-user', true],
    ['GET /apiary', true],
    ['GET /authors', true],
    ['GET /nothing-like-it', true],
    ['POST /auth/token/logout', true],
    ['POST /auth/token/logout?x=1', true],
    ['POST /auth/token/logout/', false],
    ['GET /auth/token/logout', false],
    ['POST /auth/token/login', false],
    ['POST /auth/token/login/', false],
    ['GET /auth/login/authorize/', false],
    ['GET /auth/institute/callback/', false],
    ['GET /auth/users', false],
    ['GET /api', false],
    ['GET /api/alive/', false],
    ['GET /api/v2/project', false],
    ['POST //api/v2/project/', false],
    ['GET /api/administration', false],
    ['GET /admin/v2/impersonate/1/', false],
    ['GET /docs', false],
    ['GET /docs/start.js', false],
    ['GET /redoc', false],
    ['GET /openapi.json', false],
    ['GET /metrics', false],
    ['GET /manual', false],
    ['GET /manual/guide/', false],
    ['GET /manually', true],
    ['GET /%61pi/v2/project', false],
    ['GET /%61dmin/v2/impersonate/1', false],
    ['GET /api/%61dmin/v2/job', true],
    ['POST //auth//token/logout', true],
    ['GET /v2/../api/v2/project', false],
    ['GET /v2/%2e%2e/api/admin/v2/job', false],
    ['GET /v2\\..\\api', false],
    ['GET /v2/a%2fb', false],
    ['GET /v2/%zz', false],
    ['GET http://other.example.org/', false],
    ['OPTIONS *', false],
  ])('%s is of the client: %s', (line, expected) => {
    const [method, target] = line.split(' ') as [string, string];
    expect(isOfTheClient(method, target)).toBe(expected);
  });

  it.each([
    ['127.0.0.1', 'http://127.0.0.1:80'],
    ['0.0.0.0', 'http://127.0.0.1:80'],
    ['::', 'http://[::1]:80'],
    ['::1', 'http://[::1]:80'],
    ['192.0.2.7', 'http://192.0.2.7:80'],
  ])('a service that listens on %s calls itself at %s', (address, expected) =>
    expect(ownAddress({ address, port: 80, family: '' })).toBe(expected),
  );

  it('hands on every variable that the client knows, but for those that it takes from the service or has no use for', () => {
    const names = readFileSync(join(ROOT, 'packages/web/src/env.ts'), 'utf8').matchAll(/^ {2}([A-Z_]+): \{/gm);
    const fromService = ['SERVICE_SERVER_HOST', 'SERVICE_RUNNER_BACKEND', 'SERVICE_DEFAULT_GROUP_NAME', 'PORT'];
    const own = [...names].map(([, name]) => name!).filter((name) => !name.startsWith('LOG_'));
    const expected = [...own.filter((name) => !fromService.includes(name)), 'PUBLIC_SERVICE_VIEWER_URL'];
    expect([...CLIENT_VARIABLES].sort()).toEqual(expected.sort());
  });
});

describe('who answers', () => {
  it('the start says which address to open', () =>
    expect(service.output()).toMatch(new RegExp(`^ {2}Open +${url}/\\n {2}Manual +${url}/manual/$`, 'm')));

  it('the first start says how to get to the demo', () =>
    expect(service.output()).toMatch(/^New here\? Sign in and press "Try with the demo plate"/m));

  it.each<[string, string, number, string, boolean]>([
    ['GET', '/', 200, 'text/html', true],
    ['HEAD', '/', 200, 'text/html', true],
    ['GET', '/auth/login', 200, 'text/html', true],
    ['GET', '/auth/login/', 200, 'text/html', true],
    ['GET', '/auth/login/oauth2', 400, 'text/html', true],
    ['GET', '/v2/projects', 302, '', true],
    ['GET', '/alive', 200, 'application/json', true],
    ['GET', '/alive/', 200, 'application/json', true],
    ['GET', '/_app/version.json', 200, 'application/json', true],
    ['POST', '/_app/version.json', 405, '', true],
    ['GET', '/not-here', 404, 'text/html', true],
    ['GET', '/help/x', 404, 'text/html', true],
    ['GET', '/demo/workflow', 401, 'text/html', true],
    ['GET', '/api/alive', 200, 'application/json', false],
    ['GET', '/api/alive/', 200, 'application/json', false],
    ['HEAD', '/api/alive/', 405, 'application/json', false],
    ['GET', '/api/v2/not-here/', 404, 'application/json', false],
    ['GET', '/api/v2/project', 401, 'application/json', false],
    ['GET', '/api/auth/current-user', 401, 'application/json', false],
    ['GET', '/api/admin/v2/job', 401, 'application/json', false],
    ['GET', '/auth/current-user/', 401, 'application/json', false],
    ['GET', '/auth/token/logout', 405, 'application/json', false],
    ['POST', '/auth/token/logout/', 401, 'application/json', false],
    ['GET', '/docs', 200, 'text/html', false],
    ['GET', '/redoc', 200, 'text/html', false],
    ['GET', '/openapi.json', 200, 'application/json', false],
    ['GET', '/metrics', 200, 'text/plain', false],
  ])('%s %s is answered with %i %s, by the client: %s', async (method, path, status, type, byClient) => {
    const response = await send(path, { method, headers: { accept: 'text/html' } });
    expect([response.status, response.headers.get('content-type')?.split(';')[0] ?? '', isOfClient(response)]).toEqual([
      status,
      type,
      byClient,
    ]);
  });

  it('logout without slash ends the session of the browser, also a dead one', async () => {
    for (const cookie of ['fastapiusersauth=dead', session().cookie]) {
      const response = await send('/auth/token/logout', { method: 'POST', headers: { cookie, origin: url } });
      const lines = response.headers.getSetCookie();
      expect([response.status, lines.length]).toEqual([204, 2]);
      for (const line of lines) expect(line).toMatch(/^fastapiusersauth=; .*Expires=Thu, 01 Jan 1970/);
      expect(lines.map((line) => line.includes('Domain='))).toEqual([true, false]);
    }
  });

  it('logout with slash is the call of a program, and touches no cookie', async () => {
    const response = await send('/auth/token/logout/', { method: 'POST', headers: session() });
    expect([response.status, response.headers.getSetCookie()]).toEqual([204, []]);
  });

  it('the API takes paths without slash at once', async () => {
    const headers = { ...session(), 'content-type': 'application/json', origin: url };
    const made = await send('/api/v2/project', { method: 'POST', headers, body: '{"name": "Without slash"}' });
    expect(made.status).toBe(201);
    const { id } = (await made.json()) as { id: number };
    expect((await send(`/api/v2/project/${id}`, { headers })).status).toBe(200);
    expect((await send(`/api/v2/project/${id}`, { method: 'DELETE', headers })).status).toBe(204);
  });
});

describe('a GET that does something', () => {
  const paths = ['/admin/v2/impersonate/1/', '//admin/v2/impersonate/1', '/admin/v2/job/1/stop/'];

  it.each(
    paths.flatMap((path) => [
      [path, { 'sec-fetch-site': 'same-origin' }],
      [path, BROWSER],
    ]) as [string, Record<string, string>][],
  )('%s is refused to a browser with the cookie: %j', async (path, headers) =>
    expect((await send(path, { headers: { ...session(), ...headers } })).status).toBe(403),
  );

  it.each(paths.slice(0, 2))('%s is for programs, with cookie or token', async (path) => {
    for (const headers of [session(), { authorization: `Bearer ${token}` }])
      expect((await send(path, { headers })).status).toBe(200);
  });

  it.each([
    '/api/admin/v2/impersonate/1',
    '/api/admin//v2/impersonate/1',
    '/api/admin/v2/job/1/stop',
    '/api/admin//v2/job/1/stop',
    '/api//admin/v2/job/1/%73top',
  ])('%s is blocked for everybody', async (path) =>
    expect((await send(path, { headers: session() })).status).toBe(403),
  );
});

describe('pages', () => {
  const signIn = (to = url, headers: Record<string, string> = {}) =>
    send(
      '/auth/login?/login',
      {
        method: 'POST',
        headers: { accept: 'text/html', origin: to, ...headers },
        body: new URLSearchParams({ username: 'admin@example.org', password: PASSWORD }),
      },
      to,
    );

  it('let people sign in and work', async () => {
    const response = await signIn();
    expect([response.status, response.headers.get('location')]).toEqual([302, '/v2/projects']);
    const cookie = sessionIn(response).split(';')[0];
    const opened = await page('/v2/projects', { cookie: cookie! });
    expect([opened.status, await opened.text()]).toEqual([200, expect.stringContaining('admin@example.org')]);
    expect((await send('/api/v2/project', { headers: { cookie: cookie! } })).status).toBe(200);
    expect((await send('/api/auth/current-user', { headers: { cookie: cookie! } })).status).toBe(200);
  });

  it('refuse forms of other sites', async () =>
    expect((await signIn(url, { origin: 'https://elsewhere.example.org' })).status).toBe(403));

  it('count wrong passwords by the address of the browser', async () => {
    const form = { method: 'POST', body: new URLSearchParams({ username: 'nobody@example.org', password: 'x' }) };
    const headers = { accept: 'text/html', origin: url, 'x-service-pass': 'guessed', 'x-forwarded-for': '192.0.2.1' };
    await send('/auth/login?/login', { ...form, headers });
    await send('/auth/token/login/', { ...form, headers });
    expect(service.output()).toMatch(/access - DEBUG - 127\.0\.0\.1 POST \/auth\/token\/login\/ 400/);
    expect(service.output()).not.toContain('192.0.2.1');
  });

  it('are counted and logged beside the API', async () => {
    await page('/not-here');
    expect(service.output()).toMatch(/access - DEBUG - 127\.0\.0\.1 GET \(web client\) 404/);
    expect(service.output()).toMatch(/web - DEBUG - GET \/not-here/);
    expect(await (await send('/metrics')).text()).toMatch(/route="\(web client\)",status="404"/);
  });

  it('have security headers, and files may be kept', async () => {
    const home = await page('/');
    expect(Object.fromEntries(home.headers)).toMatchObject({
      'x-frame-options': 'deny',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'private, no-cache',
    });
    const [file] = /\/_app\/immutable\/[^"]+\.js/.exec(await home.text())!;
    const { headers } = await send(file);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'public,max-age=31536000,immutable',
    });
  });

  it('know which service they are part of', async () => {
    const response = await send('/alive');
    expect(await response.json()).toMatchObject({ alive: true, fractal_server_alive: true });
  });

  it('hand out the demo', async () => {
    const offer = (await (await send('/demo/workflow', { headers: session() })).json()) as {
      package: { file_name: string };
      workflows: { workflow: { name: string } }[];
    };
    expect(offer.workflows.map(({ workflow }) => workflow.name)).toEqual(['Measure nuclei', 'Demo with a failure']);
    const wheel = await send('/demo/package', { headers: session() });
    expect(wheel.headers.get('content-disposition')).toContain(offer.package.file_name);
    expect((await wheel.bytes()).slice(0, 2)).toEqual(new Uint8Array([0x50, 0x4b]));
  });
});

describe('what passes through', () => {
  it('event streams come piece by piece, and keep nobody from stopping the service', async () => {
    const other = start();
    const [, address] = await other.said(READY);
    const form = new URLSearchParams({ username: 'admin@example.org', password: PASSWORD });
    const login = await clientOf(address!).raw('/auth/token/login/', { method: 'POST', body: form });
    const { access_token } = login.body as { access_token: string };
    const { body } = await clientOf(address!, access_token).post('/api/v2/project/', { name: 'Streams' });
    const headers = { cookie: `fastapiusersauth=${access_token}` };
    const open = (signal?: AbortSignal) =>
      send(`/api/v2/project/${body.id}/events`, { headers, signal: signal ?? null }, address);

    const leave = new AbortController();
    const [left, kept] = [await open(leave.signal), await open()];
    const reader = kept.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toMatch(/^(event|data|id|retry|:)/m);
    await left.body!.getReader().read();
    leave.abort();

    other.process.kill('SIGTERM');
    while (!(await reader.read()).done);
    expect(await other.ended).toBe(0);
    expect(other.output()).not.toContain('still running');
  });

  it.each(['/api/v2/task/collect/pip', '/api/v2/task/collect/pip/'])('an upload of 6 MB to %s', async (path) => {
    const form = new FormData();
    form.set('file', new Blob([new Uint8Array(6 * MEGABYTE)]), 'big-1.0.0-py3-none-any.whl');
    const response = await send(path, { method: 'POST', headers: { ...session(), origin: url }, body: form });
    // zeros are no wheel, and that is what it is refused for
    expect(response.status).toBe(422);
    expect(JSON.stringify(await response.json())).not.toMatch(/large|size/i);
  });

  it('an upload of 6 MB through the proxy, and one that the API does not want to read', async () => {
    const body = (size: number) => JSON.stringify({ name: 'x'.repeat(size) });
    const headers = { ...session(), origin: url, 'content-type': 'application/json' };
    const post = (size: number) => send('/api/auth/group', { method: 'POST', headers, body: body(size) });
    expect((await post(6 * MEGABYTE)).status).toBe(422);
    expect((await post(20 * MEGABYTE)).status).toBe(413);
  });

  it('what stands twice or without name in a header is no defect', async () => {
    const answer = await new Promise<number>((resolve, reject) => {
      const request = httpRequest(`${url}/`, { headers: { cookie: ';;a; =b', accept: 'text/html' } });
      request.once('response', (response) => resolve(response.resume().statusCode!)).once('error', reject);
      request.end();
    });
    expect(answer).toBe(200);
  });
});

describe('settings', () => {
  it('of the client count, also from the settings file, and those of the service win', async () => {
    const folder = newFolder('mount-settings');
    for (const part of ['packages', 'node_modules', 'package.json'])
      symlinkSync(join(ROOT, part), join(folder, part), 'dir');
    writeFileSync(
      join(folder, '.service_server.env'),
      'PUBLIC_SERVICE_ADMIN_SUPPORT_EMAIL=help@example.org\nAUTH_COOKIE_NAME=lab_session\nORIGIN=http://lab.example.org\n',
    );
    const other = start({ SERVICE_SERVER_HOST: 'http://127.0.0.1:9', PROTOCOL_HEADER: 'x-evil' }, [], folder);
    const [, address] = await other.said(READY);
    expect(other.output()).toMatch(/^ {2}Open +http:\/\/lab\.example\.org\/$/m);
    expect(await (await send('/', { headers: { accept: 'text/html' } }, address)).text()).toContain('help@example.org');
    expect(await (await send('/alive', {}, address)).json()).toMatchObject({ fractal_server_alive: true });

    const form = new URLSearchParams({ username: 'admin@example.org', password: PASSWORD });
    const origin = 'http://lab.example.org';
    const login = await send('/auth/login?/login', { method: 'POST', headers: { origin }, body: form }, address);
    const [earlier, cookie] = login.headers.getSetCookie();
    expect(earlier).toMatch(/^lab_session=; .*Domain=lab\.example\.org/);
    expect(cookie).toMatch(/^lab_session=ey(?!.*Domain=)/);
    const headers = { cookie: cookie!.split(';')[0]! };
    for (const path of ['/api/v2/project', '/api/auth/current-user'])
      expect((await send(path, { headers }, address)).status).toBe(200);
  });

  it('say whose word about scheme, host and address counts', async () => {
    const other = start({ SERVICE_TRUSTED_PROXIES: '127.0.0.1', SERVICE_LOGGING_LEVEL: '10' });
    const [, address] = await other.said(READY);
    const headers = {
      accept: 'text/html',
      origin: 'https://lab.example.org',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'lab.example.org',
      'x-forwarded-for': '192.0.2.1',
    };
    const body = new URLSearchParams({ username: 'admin@example.org', password: PASSWORD });
    const login = await send('/auth/login?/login', { method: 'POST', headers, body }, address);
    expect([login.status, sessionIn(login), login.headers.get(TLS)]).toEqual([
      302,
      expect.stringMatching(/^fastapiusersauth=ey.*Secure/),
      'max-age=31536000',
    ]);
    for (const path of ['/', '/api/alive/', '/api/auth/current-user']) {
      expect((await send(path, { headers }, address)).headers.get(TLS)).toBe('max-age=31536000');
      expect((await send(path, {}, address)).headers.get(TLS)).toBeNull();
    }
    expect(other.output()).toMatch(/access - DEBUG - 192\.0\.2\.1 POST \/auth\/token\/login\/ 200/);
  });

  it('that are wrong end the start with status 2 and the reason', async () => {
    const other = start({ AUTH_COOKIE_SECURE: 'perhaps' });
    expect(await other.ended).toBe(2);
    expect(other.output()).toMatch(/AUTH_COOKIE_SECURE: "perhaps" is not known/);
    expect(other.output()).not.toMatch(/^\s+at /m);
  });

  it.each(
    oneIn<[string, Record<string, string>, string[]]>(2, [
      ['SERVICE_WEB_CLIENT=false', { SERVICE_WEB_CLIENT: 'false' }, []],
      ['--no-web', {}, ['--no-web']],
    ]),
  )('%s leaves the API alone', async (_, environment, options) => {
    const other = start(environment, options);
    const [, address] = await other.said(READY);
    expect(other.output()).not.toContain('Open');
    const home = await send('/', {}, address);
    expect([home.status, await home.json()]).toEqual([404, { detail: 'Not Found' }]);
    expect((await send('/api/alive/', {}, address)).status).toBe(200);
  });

  it.runIf(LONG)('let servicectl start the client too', async () => {
    const args = ['start', '--port', '0'];
    const data = join(newFolder('mount'), 'data');
    const first = kept(startService([...OPTIONS, '--data-dir', data]));
    await first.said(READY);
    const environment = { SERVICE_DATA_DIR: data, SERVICE_WEB_CLIENT: 'true' };
    const second = kept(startCommand(join(ROOT, 'node_modules/.bin/servicectl'), args, { environment }));
    const [, address] = await second.said(READY);
    expect(isOfClient(await send('/', {}, address))).toBe(true);
  });
});
