/** The conventions that hold for every operation. */
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';

import { beforeAll, describe, expect, it } from 'vitest';

import { accounts, type Operation } from '@service/contract';

import { type Client, startService, type TestService } from '../support/server.ts';

let service: TestService;
let admin: Client;
beforeAll(async () => {
  service = await startService();
  ({ admin } = service);
});

const JSON_TYPE = { 'content-type': 'application/json' };
const GROUPS = '/auth/group/';
const types = (body: { detail: { type: string }[] }) => body.detail.map((entry) => entry.type);

describe('paths and methods', () => {
  it.each([
    '/api/alive',
    '/api/alive/',
    '//api/alive/',
    '/docs',
    '/docs/',
    '/redoc',
    '/openapi.json',
    '/metrics',
    '/api/ready',
  ])('%s answers anyone', async (path) => {
    expect((await service.anyone.get(path)).status).toBe(200);
  });

  it('serves both slash forms with the same result, query included', async () => {
    const [with_, without] = await Promise.all([
      admin.get('/auth/group/?user_ids=true'),
      admin.get('/auth/group?user_ids=true'),
    ]);
    expect(without.body).toEqual(with_.body);
  });

  it.each([
    '/api/v2/nothing/',
    '/nothing',
    '/api/settings/',
    '/auth/login/',
    '/auth/logout/',
    '/auth/github/authorize/',
  ])('%s is not found', async (path) => {
    const { status, body, headers } = await admin.get(path);
    expect([status, body]).toEqual([404, { detail: 'Not Found' }]);
    expect(headers.get('content-type')).toBe('application/json');
  });

  it.each([
    ['POST', '/api/alive/', 'GET'],
    ['DELETE', '/auth/users/1/', 'GET, PATCH'],
    ['PUT', '/auth/users/1', 'GET, PATCH'],
    ['POST', '/auth/users/me/', 'GET, PATCH'],
    ['GET', '/auth/token/login/', 'POST'],
    ['PATCH', '/admin/v2/resource/1/', 'GET, PUT, DELETE'],
    ['OPTIONS', '/api/alive/', 'GET'],
  ])('%s %s is not allowed, and says what is', async (method, path, allow) => {
    const { status, body, headers } = await service.anyone.raw(path, { method });
    expect([status, body, headers.get('allow')]).toEqual([405, { detail: 'Method Not Allowed' }, allow]);
  });

  it('is 405 before the body is looked at', async () => {
    expect((await service.anyone.raw('/api/alive/', { method: 'POST', body: '{', headers: JSON_TYPE })).status).toBe(
      405,
    );
  });
});

describe('the order of checks', () => {
  it('is syntax, token, level, then everything else', async () => {
    const { client } = await service.person();
    const bad = (who: Client, body: string) => who.raw('/auth/register/', { method: 'POST', body, headers: JSON_TYPE });
    expect((await bad(service.anyone, '{')).status).toBe(422);
    expect((await bad(service.anyone, '{}')).status).toBe(401);
    expect((await bad(client, '{"email": 1}')).status).toBe(403);
    expect((await bad(admin, '{"email": 1}')).status).toBe(422);
  });

  it('collects what is wrong in path, query and body', async () => {
    const { body } = await admin.patch('/auth/users/x/', { is_guest: 'maybe', email: 'x' });
    expect(body.detail.map((entry: { loc: string[] }) => entry.loc.join('.'))).toEqual([
      'path.user_id',
      'body.email',
      'body.is_guest',
    ]);
  });
});

describe('levels of access', () => {
  const API = '/admin/v2/resource/';
  it.each([
    ['anonymous', undefined, 401],
    ['an ordinary account', {}, 403],
    ['a superuser without profile or verification', { is_superuser: true }, 200],
  ])('administration for %s', async (_, patch, status) => {
    const client = patch ? (await service.person({ patch })).client : service.anyone;
    const answer = await client.get(API);
    expect(answer.status).toBe(status);
    if (status !== 200) expect(answer.body.detail).toBe(status === 401 ? 'Unauthorized' : 'Forbidden');
  });
});

describe('bodies', () => {
  it.each<[string, string | Uint8Array, Record<string, string>, string[]]>([
    ['broken JSON', '{"name": ', JSON_TYPE, ['json_invalid']],
    ['something after the JSON', '{"name": "x"} y', JSON_TYPE, ['json_invalid']],
    ['NaN', '{"name": NaN}', JSON_TYPE, ['json_invalid']],
    ['nothing', '', JSON_TYPE, ['missing']],
    ['null', 'null', JSON_TYPE, ['missing']],
    ['a list', '[]', JSON_TYPE, ['model_attributes_type']],
    ['a text', '"x"', JSON_TYPE, ['model_attributes_type']],
    ['a number', '3', JSON_TYPE, ['model_attributes_type']],
    ['JSON under another type', '{"name": "x"}', { 'content-type': 'text/plain' }, ['model_attributes_type']],
    ['a form', 'name=x', { 'content-type': 'application/x-www-form-urlencoded' }, ['model_attributes_type']],
  ])('are refused: %s', async (_, body, headers, expected) => {
    const answer = await admin.raw(GROUPS, { method: 'POST', body, headers });
    expect(answer.status).toBe(422);
    expect(types(answer.body)).toEqual(expected);
    expect(answer.body.detail[0].loc[0]).toBe('body');
    expect(Object.keys(answer.body.detail[0]).sort()).toEqual(['loc', 'msg', 'type']);
  });

  it('say where JSON breaks, or how long it is', async () => {
    const { body } = await admin.raw(GROUPS, { method: 'POST', body: '{"name": ', headers: JSON_TYPE });
    expect(body.detail[0].loc).toEqual(['body', 9]);
  });

  it.each([
    ['a suffix type', { 'content-type': 'application/vnd.api+json' }],
    ['a charset', { 'content-type': 'application/json; charset=utf-8' }],
  ])('are read with %s', async (name, headers) => {
    expect((await admin.raw(GROUPS, { method: 'POST', body: JSON.stringify({ name }), headers })).status).toBe(201);
  });

  it('are ignored where none is taken, whatever they are', async () => {
    const send = (body: string, type: string) =>
      admin.raw('/auth/token/logout/', { method: 'POST', body, headers: { 'content-type': type } });
    expect((await send('{', 'application/json')).status).toBe(204);
    expect((await send('not json', 'text/plain')).status).toBe(204);
    expect((await send('--x', 'multipart/form-data; boundary=x')).status).toBe(204);
  });

  it('that are not UTF-8 are refused with 400', async () => {
    const body = Buffer.concat([Buffer.from('{"name": "'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
    const answer = await admin.raw(GROUPS, { method: 'POST', body, headers: JSON_TYPE });
    expect([answer.status, typeof answer.body.detail]).toEqual([400, 'string']);
  });

  it('nested ten thousand deep are refused with 400', async () => {
    for (const body of ['['.repeat(10_000) + ']'.repeat(10_000), '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000)]) {
      expect((await admin.raw(GROUPS, { method: 'POST', body, headers: JSON_TYPE })).status).toBe(400);
    }
    const brackets = JSON.stringify({ name: `brackets in a text ${'['.repeat(2000)}` });
    expect((await admin.raw(GROUPS, { method: 'POST', body: brackets, headers: JSON_TYPE })).status).toBe(201);
  });

  it.each([
    ['U+0000', '{"name": "a\\u0000b"}'],
    ['half of a surrogate pair', '{"name": "a\\ud800b"}'],
    ['U+0000 in a key', '{"name": "a", "b\\u0000": 1}'],
    ['U+0000 deep down', '{"name": "a", "x": [{"y": "\\u0000"}]}'],
  ])('with %s are refused', async (_, body) => {
    const answer = await admin.raw(GROUPS, { method: 'POST', body, headers: JSON_TYPE });
    expect(answer.status).toBe(422);
    expect(types(answer.body)).toContain('value_error');
  });

  it('with U+0000 are refused by every operation that takes JSON', async () => {
    const operations = Object.values(accounts).filter((one) => typeof one === 'object' && one.body && !one.body.form);
    expect(operations.length).toBeGreaterThan(10);
    for (const { method, path } of operations as Operation[]) {
      const url = path.replace(/\{\w+\}/g, '1');
      const body =
        '{"name": "a\\u0000", "email": "a\\u0000@example.org", "password": "\\u0000", "project_dirs": ["/\\u0000"]}';
      const answer = await admin.raw(url, { method, body, headers: JSON_TYPE });
      expect([path, answer.status]).toEqual([path, 422]);
    }
  });

  it('keep what is not ASCII as it is', async () => {
    const { text } = await admin.post(GROUPS, { name: 'Größe 😀 "quoted"' });
    expect(text).toContain('Größe 😀');
  });
});

describe('limits', () => {
  it('refuse a body of 100 MB with 413, announced or not, and go on', async () => {
    const body = Buffer.alloc(100 * 1024 * 1024, 0x20);
    const announced = await admin.raw(GROUPS, { method: 'POST', body, headers: JSON_TYPE });
    expect([announced.status, typeof announced.body.detail]).toEqual([413, 'string']);
    const status = await new Promise<number>((resolve, reject) => {
      const headers = { ...JSON_TYPE, authorization: `Bearer ${service.adminToken}`, 'transfer-encoding': 'chunked' };
      const request = httpRequest(`${service.url}${GROUPS}`, { method: 'POST', headers }, (response) =>
        resolve(response.statusCode!),
      );
      request.on('error', reject);
      request.end(body);
    });
    expect(status).toBe(413);
    expect((await service.anyone.get('/api/alive/')).status).toBe(200);
  });

  it('come from the settings', async () => {
    const small = await startService({ settings: { SERVICE_MAX_BODY_SIZE: '1k' } });
    expect((await small.admin.post(GROUPS, { name: 'x'.repeat(2000) })).status).toBe(413);
    expect((await small.admin.post(GROUPS, { name: 'x'.repeat(900) })).status).toBe(201);
  });

  it('refuse a header of 1 MB with 431', async () => {
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      let text = '';
      socket.on('data', (data) => (text += String(data)));
      socket.on('close', () => resolve(text));
      socket.on('error', () => undefined);
      socket.write(`GET /api/alive/ HTTP/1.1\r\nHost: x\r\nX-Large: ${'a'.repeat(1024 * 1024)}\r\n\r\n`);
    });
    expect(answer).toMatch(/^HTTP\/1.1 431 /);
    expect(answer).toContain('{"detail":');
  });

  it('answer what is not HTTP with 400', async () => {
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () => socket.write('hello\r\n\r\n'));
      let text = '';
      socket.on('data', (data) => (text += String(data)));
      socket.on('close', () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
  });
});

describe('parameters', () => {
  it.each(['true', 'True', '1', 'yes', 'on', 't', 'y', 'YES', 'oN'])('%s is true', async (value) => {
    const { body } = await admin.get(GROUPS, { query: { user_ids: value } });
    expect(body[0].user_ids).toEqual(expect.any(Array));
  });

  it.each(['2', 'maybe', '', 'null', ' true'])('"%s" is no flag', async (value) => {
    const { status, body } = await admin.get(GROUPS, { query: { user_ids: value } });
    expect([status, body.detail[0].type, body.detail[0].loc]).toEqual([422, 'bool_parsing', ['query', 'user_ids']]);
  });

  it('given twice count once: the last one', async () => {
    expect((await admin.get(`${GROUPS}?user_ids=true&user_ids=false`)).body[0].user_ids).toBeNull();
  });

  it('that nobody knows are ignored', async () => {
    expect((await admin.get(`${GROUPS}?foo=1`)).status).toBe(200);
  });

  it.each([
    ['%2B1', 200],
    ['1.0', 200],
    ['%201', 200],
    ['01', 200],
    ['0_1', 200],
    ['1.5', 422],
    ['1e0', 422],
    ['x', 422],
    ['%00', 422],
    ['0', 404],
    ['-1', 404],
    ['99999999999', 404],
    ['100000000000000000000', 404],
    ['%zz', 400],
  ])('an id in a path may be written %s: %i', async (id, status) => {
    expect((await admin.get(`/auth/users/${id}/`)).status).toBe(status);
  });
});

describe('failures', () => {
  it('of ours are JSON with a request id and no internals', async () => {
    const broken = await startService();
    await broken.database.pool.query('alter table user_groups rename to gone');
    const { status, body, headers } = await broken.admin.get(GROUPS);
    expect(status).toBe(500);
    expect(body.detail).toContain(headers.get('x-request-id'));
    expect(JSON.stringify(body)).not.toMatch(/user_groups|relation|select/);
    const logged = broken.log.find((entry) => entry.level === 'error');
    expect(logged?.message).toContain(headers.get('x-request-id'));
    expect(String(logged?.error)).toContain('user_groups');
  });

  it('of the database make readiness fail, not liveness', async () => {
    const cut = await startService();
    expect((await cut.anyone.get('/api/ready/')).body).toEqual({ ready: true, database: true });
    const { database } = cut;
    const query = database.pool.query.bind(database.pool);
    database.pool.query = () => Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
    const isReady = async () => (await cut.anyone.get('/api/ready/')).status;
    await expect.poll(isReady, { timeout: 10_000 }).toBe(503);
    expect((await cut.anyone.get('/api/alive/')).status).toBe(200);
    expect((await cut.admin.get('/auth/current-user/')).status).toBe(503);
    database.pool.query = query;
    await expect.poll(isReady, { timeout: 10_000 }).toBe(200);
  });

  it('and successes never log passwords or tokens', async () => {
    const quiet = await startService();
    const person = await quiet.person();
    await quiet.admin.patch(`/auth/users/${person.id}/`, { password: 'hidden-password' });
    await quiet.anyone.raw('/auth/token/login/', {
      method: 'POST',
      body: new URLSearchParams({ username: 'a', password: 'hidden-guess' }),
    });
    const text = JSON.stringify(quiet.log);
    expect(text.length).toBeGreaterThan(100);
    for (const secret of ['hidden-password', 'hidden-guess', 'some-password', person.token])
      expect(text).not.toContain(secret);
  });
});

describe('what operators see', () => {
  it('settings in force, secrets masked', async () => {
    const { body } = await admin.get('/api/settings/app');
    expect(body).toMatchObject({
      JWT_SECRET_KEY: '**********',
      JWT_EXPIRE_SECONDS: 3600,
      SERVICE_RUNNER_BACKEND: 'local',
      LOG_CONFIG_FILE: null,
    });
    expect((await admin.get('/api/settings/email/')).body).toMatchObject({
      SERVICE_EMAIL_USE_LOGIN: 'true',
      public: null,
    });
    expect((await admin.get('/api/settings/database/')).body).toMatchObject({
      POSTGRES_PORT: 5432,
      POSTGRES_PASSWORD: null,
      DB_ECHO: 'false',
    });
    expect((await admin.get('/api/settings/oauth/')).body).toMatchObject({
      OAUTH_CLIENT_ID: null,
      OAUTH_EMAIL_CLAIM: 'email',
    });
    expect((await service.anyone.get('/api/settings/app/')).status).toBe(401);
  });

  it('numbers for Prometheus, by route', async () => {
    await admin.get('/auth/users/987654/');
    const { text } = await service.anyone.get('/metrics');
    expect(text).toMatch(
      /http_request_duration_seconds_count\{method="GET",route="\/auth\/users\/\{user_id\}\/",status="404"\} \d/,
    );
    expect(text).toContain('process_resident_memory_bytes');
  });

  it('slow requests, by route and without private values', async () => {
    const slow = await startService({ settings: { SERVICE_LONG_REQUEST_TIME: '-1' } });
    await slow.admin.get('/auth/users/1/?group_ids_names=true&email=ada@example.org');
    await slow.anyone.get('/no/such/route');
    const lines = () => slow.log.filter((entry) => entry.name === 'slow-response').map((entry) => entry.message);
    await expect
      .poll(lines)
      .toContainEqual(
        expect.stringMatching(
          /^GET \/auth\/users\/\{user_id\}\/\?group_ids_names=true&email=…, 200, \d+\.\d\d, \d{4}-\d\d-\d\dT[\d:.]+, \d{4}-\d\d-\d\dT[\d:.]+$/,
        ),
      );
    expect(slow.log.filter((entry) => entry.name === 'slow-response').every((entry) => entry.level === 'warning')).toBe(
      true,
    );
  });
});
