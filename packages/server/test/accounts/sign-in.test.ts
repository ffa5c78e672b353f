import { hash } from '@node-rs/bcrypt';
import { beforeAll, describe, expect, it } from 'vitest';

import { ADMIN, startService, type TestService } from '../support/server.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});

const form = (fields: Record<string, string>) => ({ method: 'POST', body: new URLSearchParams(fields) });
const LOGIN = '/auth/token/login/';

describe('login', () => {
  it('takes a urlencoded form, whatever the case of the address', async () => {
    const { status, body } = await service.anyone.raw(
      LOGIN,
      form({ username: ADMIN.email.toUpperCase(), password: ADMIN.password }),
    );
    expect(status).toBe(200);
    expect(body).toEqual({ access_token: expect.any(String), token_type: 'bearer' });
  });

  it('takes a multipart form', async () => {
    const body = new FormData();
    body.set('username', ADMIN.email);
    body.set('password', ADMIN.password);
    expect((await service.anyone.raw(LOGIN, { method: 'POST', body })).status).toBe(200);
  });

  it('refuses a multipart body that has no end', async () => {
    const answer = await service.anyone.raw(LOGIN, {
      method: 'POST',
      body: '--x\r\nContent-Disposition: form-data; name="username"\r\n\r\na',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    });
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toEqual(expect.any(String));
  });

  it.each([
    ['nothing', {}, ['password', 'username']],
    ['an empty password', { username: 'a', password: '' }, ['password']],
    ['no username', { password: 'a' }, ['username']],
  ])('names what is missing: %s', async (_, fields, missing) => {
    const { status, body } = await service.anyone.raw(LOGIN, form(fields));
    expect(status).toBe(422);
    expect(body.detail.map((entry: { loc: string[] }) => entry.loc[1]).sort()).toEqual(missing);
    expect(body.detail.every((entry: { type: string }) => entry.type === 'missing')).toBe(true);
  });

  it('has no fields in a JSON body', async () => {
    const { status, body } = await service.anyone.post(LOGIN, { username: ADMIN.email, password: ADMIN.password });
    expect([status, body.detail.length]).toEqual([422, 2]);
  });

  it('refuses other grant types', async () => {
    const { status, body } = await service.anyone.raw(
      LOGIN,
      form({ username: 'a', password: 'b', grant_type: 'refresh' }),
    );
    expect([status, body.detail[0].type, body.detail[0].loc]).toEqual([
      422,
      'string_pattern_mismatch',
      ['body', 'grant_type'],
    ]);
  });

  it.each([
    ['wrong password', ADMIN.email, 'nope'],
    ['password with a space', ADMIN.email, `${ADMIN.password} `],
    ['password of 73 bytes', ADMIN.email, 'x'.repeat(73)],
    ['unknown address', 'nobody@example.org', 'x'],
    ['not an address', 'nobody', 'x'],
    ['NUL in the address', 'a\u0000b', 'x'],
  ])('answers LOGIN_BAD_CREDENTIALS: %s', async (_, username, password) => {
    const { status, body } = await service.anyone.raw(LOGIN, form({ username, password }));
    expect([status, body]).toEqual([400, { detail: 'LOGIN_BAD_CREDENTIALS' }]);
  });

  it('refuses inactive accounts in the same words, and their tokens', async () => {
    const person = await service.person();
    await service.admin.patch(`/auth/users/${person.id}/`, { is_active: false });
    const again = await service.anyone.raw(LOGIN, form({ username: person.email, password: person.password }));
    expect([again.status, again.body]).toEqual([400, { detail: 'LOGIN_BAD_CREDENTIALS' }]);
    expect((await person.client.get('/auth/current-user/')).status).toBe(401);
  });

  it('lets unverified people without profile in', async () => {
    const person = await service.person();
    expect((await person.client.get('/auth/current-user/')).status).toBe(200);
  });

  it('upgrades a bcrypt hash of an existing deployment', async () => {
    const person = await service.person();
    const { db } = service.database;
    const bcrypt = await hash(person.password, 4);
    for (const prefix of ['2b', '2a', '2y', '2x']) {
      const hashed_password = bcrypt.replace('$2b$', `$${prefix}$`);
      await db.updateTable('users').set({ hashed_password }).where('id', '=', person.id).execute();
      expect((await service.anyone.raw(LOGIN, form({ username: person.email, password: 'not it' }))).status).toBe(400);
      expect(await service.login(person.email, person.password)).toEqual(expect.any(String));
      const row = await db
        .selectFrom('users')
        .select('hashed_password')
        .where('id', '=', person.id)
        .executeTakeFirstOrThrow();
      expect(row.hashed_password).toMatch(/^\$argon2id\$/);
      expect(await service.login(person.email, person.password)).toEqual(expect.any(String));
    }
  });

  it('does not exist when password login is switched off; logout stays', async () => {
    const oauthOnly = await startService({ settings: { SERVICE_DISABLE_BASIC_AUTH: 'true' } });
    expect((await oauthOnly.anyone.raw(LOGIN, form({ username: 'a', password: 'b' }))).status).toBe(404);
    expect((await oauthOnly.anyone.post('/auth/token/logout/')).status).toBe(401);
  });
});

describe('tokens', () => {
  const part = (token: string, index: number) =>
    JSON.parse(Buffer.from(token.split('.')[index]!, 'base64url').toString()) as Record<string, unknown>;

  it('have the claims that clients decode', async () => {
    const person = await service.person();
    expect(part(person.token, 0)).toEqual({ alg: 'HS256', typ: 'JWT' });
    const claims = part(person.token, 1);
    expect(claims).toEqual({ sub: String(person.id), aud: ['fastapi-users:auth'], exp: expect.any(Number) });
    expect(Math.abs((claims['exp'] as number) - Date.now() / 1000 - 3600)).toBeLessThan(10);
  });

  const ME = '/auth/current-user/';
  const none = 'eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJzdWIiOiIxIiwiYXVkIjpbImZhc3RhcGktdXNlcnM6YXV0aCJdfQ.';

  it.each<[string, (token: string) => Record<string, string>, number]>([
    ['no token', () => ({}), 401],
    ['header', (token) => ({ authorization: `Bearer ${token}` }), 200],
    ['header in lower case with more space', (token) => ({ authorization: `bearer   ${token} ` }), 200],
    ['other scheme', () => ({ authorization: 'Basic YWxpY2U6eA==' }), 401],
    ['cookie', (token) => ({ cookie: `fastapiusersauth=${token}` }), 200],
    ['cookie among odd chunks', (token) => ({ cookie: `fastapiusersauth=${token}; cookie; x=y` }), 200],
    ['another cookie name', (token) => ({ cookie: `auth=${token}` }), 401],
    ['bad header, good cookie', (token) => ({ authorization: 'Bearer abc', cookie: `fastapiusersauth=${token}` }), 200],
    ['changed signature', (token) => ({ authorization: `Bearer ${token.slice(0, -3)}AAA` }), 401],
    ['algorithm none', () => ({ authorization: `Bearer ${none}` }), 401],
  ])('are read: %s', async (_, headers, status) => {
    const answer = await service.anyone.get(ME, { headers: headers(service.adminToken) });
    expect(answer.status).toBe(status);
    if (status === 401) {
      expect(answer.body).toEqual({ detail: 'Unauthorized' });
      expect(answer.headers.get('www-authenticate')).toBeNull();
    }
  });

  it('of the header win over those of the cookie', async () => {
    const person = await service.person();
    const { body } = await person.client.get(ME, { headers: { cookie: `fastapiusersauth=${service.adminToken}` } });
    expect(body.id).toBe(person.id);
  });

  it('expire', async () => {
    const short = await startService({ settings: { JWT_EXPIRE_SECONDS: '4' } });
    const token = await short.login(ADMIN.email, ADMIN.password);
    expect((await short.withToken(token).get(ME)).status).toBe(200);
    await expect.poll(async () => (await short.withToken(token).get(ME)).status, { timeout: 30_000 }).toBe(401);
  });

  it('stay valid after logout, by header and by cookie', async () => {
    const person = await service.person();
    expect((await person.client.post('/auth/token/logout/')).status).toBe(204);
    const byCookie = await service.anyone.post('/auth/token/logout/', undefined, {
      headers: { cookie: `fastapiusersauth=${person.token}` },
    });
    expect([byCookie.status, byCookie.text]).toEqual([204, '']);
    expect((await person.client.get(ME)).status).toBe(200);
  });
});
