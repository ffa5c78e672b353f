/** Personal access tokens: how they are made, listed, used and revoked. What they may do is in token-kinds.test.ts. */
import { beforeAll, describe, expect, it } from 'vitest';

import { startService, type TestService } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';

const ME = '/auth/current-user/';
const TOKENS = '/auth/current-user/token/';
const DAY_MS = 86_400_000;

let service: TestService;
beforeAll(async () => {
  service = await startService({ background: false });
});

const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const request = (change: Record<string, unknown> = {}) => ({
  name: 'notebook',
  scope: 'read',
  timestamp_expires: inDays(30),
  ...change,
});

describe('making a token', () => {
  it('shows it once, and stores its hash only', async () => {
    const { client } = await service.person();
    const made = await client.post(TOKENS, request({ name: '  notebook  ' }));
    expect(made.status).toBe(201);
    expect(made.headers.get('cache-control')).toBe('no-store');
    expect(made.body).toMatchObject({ name: 'notebook', scope: 'read', timestamp_last_used: null });
    expect(made.body.token).toMatch(/^svc_[\w-]{43}$/);
    const { token, ...shown } = made.body;
    const { body } = await client.get(TOKENS);
    expect(body).toEqual([shown]);
    const dump = await service.database.pool.query('select * from personal_tokens');
    expect(JSON.stringify(dump.rows)).not.toContain(token.slice(4));
  });

  it.each([
    ['no name', { name: ' ' }, ['body', 'name']],
    ['a name of 101 characters', { name: 'x'.repeat(101) }, ['body', 'name']],
    ['an unknown scope', { scope: 'admin' }, ['body', 'scope']],
    ['no end', { timestamp_expires: undefined }, ['body', 'timestamp_expires']],
    ['an end without time zone', { timestamp_expires: '2030-01-01T00:00:00' }, ['body', 'timestamp_expires']],
    ['an end that has passed', { timestamp_expires: inDays(-1) }, ['body', 'timestamp_expires']],
    ['an end too far away', { timestamp_expires: inDays(367) }, ['body', 'timestamp_expires']],
    ['a key that is not known', { user_id: 1 }, ['body', 'user_id']],
  ])('refuses %s', async (_, change, loc) => {
    const { client } = await service.person();
    const { status, body } = await client.post(TOKENS, request(change));
    expect([status, body.detail[0].loc]).toEqual([422, loc]);
    expect((await client.get(TOKENS)).body).toEqual([]);
  });

  it('has the longest life that is set up', async () => {
    const strict = await startService({ background: false, settings: { SERVICE_MAX_TOKEN_DAYS: '7' } });
    expect((await strict.admin.post(TOKENS, request({ timestamp_expires: inDays(8) }))).status).toBe(422);
    expect((await strict.admin.post(TOKENS, request({ timestamp_expires: inDays(6.9) }))).status).toBe(201);
  });

  it('refuses a name that another open token has, also when both come at once', async () => {
    const { client } = await service.person();
    const answers = await Promise.all([1, 2, 3].map(() => client.post(TOKENS, request())));
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 422, 422]);
    const made = answers.find((answer) => answer.status === 201)!;
    await client.delete(`${TOKENS}${made.body.id}/`);
    expect((await client.post(TOKENS, request())).status).toBe(201);
  });

  it('stops at a hundred, and keeps twenty of those that have ended', async () => {
    const { client, id } = await service.person();
    const row = (number: number, ended: boolean) => ({
      user_id: id,
      name: `${ended ? 'old' : 'open'} ${number}`,
      scope: 'read' as const,
      hash: Buffer.from(`${id} ${ended} ${number}`),
      timestamp_expires: inDays(ended ? -1 : 1),
      timestamp_revoked: null,
      timestamp_last_used: null,
    });
    const rows = Array.from({ length: 99 }, (_, number) => [row(number, false), row(number, true)]).flat();
    await service.database.db.insertInto('personal_tokens').values(rows).execute();
    expect((await client.post(TOKENS, request({ name: 'the hundredth' }))).status).toBe(201);
    const refused = await client.post(TOKENS, request({ name: 'one more' }));
    expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining('100 tokens')]);
    expect((await client.get(TOKENS)).body).toHaveLength(120);
  });

  it('is not for guest accounts, nor for who impersonates', async () => {
    const guest = await service.person({ is_guest: true });
    expect((await guest.client.post(TOKENS, request())).status).toBe(403);
    const person = await service.person();
    const { body } = await service.admin.get(`/admin/v2/impersonate/${person.id}/`);
    const refused = await service.withToken(body.access_token).post(TOKENS, request());
    expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining('impersonating')]);
  });
});

describe('a token', () => {
  const made = async (change: Record<string, unknown> = {}) => {
    const person = await service.person();
    const { body } = await person.client.post(TOKENS, request(change));
    return { person, id: body.id as number, token: body.token as string };
  };

  it('is taken wherever a token is', async () => {
    const { person, token } = await made();
    expect((await service.withToken(token).get(ME)).body.id).toBe(person.id);
    const byCookie = await service.anyone.get(ME, { headers: { cookie: `fastapiusersauth=${token}` } });
    expect(byCookie.body.id).toBe(person.id);
  });

  it('shows when it was last used, written at most once a minute', async () => {
    const { person, token } = await made();
    const client = service.withToken(token);
    const statements = await statementsOf(async () => {
      for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 10 }, () => client.get(ME)));
    });
    expect(statements.filter((text) => text.startsWith('update "personal_tokens"'))).toHaveLength(1);
    const lastUse = async () => (await person.client.get(TOKENS)).body[0].timestamp_last_used as string | null;
    await expect.poll(lastUse).not.toBeNull();
    expect(Math.abs(Date.parse((await lastUse())!) - Date.now())).toBeLessThan(30_000);
  });

  it('that is revoked is listed as such, and stays so', async () => {
    const { person, id, token } = await made();
    expect((await person.client.delete(`${TOKENS}${id}/`)).status).toBe(204);
    const first = (await person.client.get(TOKENS)).body[0].timestamp_revoked as string;
    expect(first).toEqual(expect.any(String));
    expect((await person.client.delete(`${TOKENS}${id}/`)).status).toBe(204);
    expect((await person.client.get(TOKENS)).body[0].timestamp_revoked).toBe(first);
    expect((await service.withToken(token).get(ME)).status).toBe(401);
  });

  it('of somebody else is not there', async () => {
    const { id, token } = await made();
    const other = await service.person();
    expect((await other.client.delete(`${TOKENS}${id}/`)).status).toBe(404);
    expect((await other.client.get(TOKENS)).body).toEqual([]);
    expect((await service.withToken(token).get(ME)).status).toBe(200);
  });

  it('stays when its owner changes the own password', async () => {
    const owner = await service.person({ patch: { is_superuser: true } });
    const { body } = await owner.client.post(TOKENS, request());
    const changed = await owner.client.patch(`/auth/users/${owner.id}/`, { password: 'my-new-password' });
    expect(changed.status).toBe(200);
    expect((await service.withToken(body.token).get(ME)).status).toBe(200);
  });

  it('that a session makes while it is signed out does not outlive it', async () => {
    const person = await service.person();
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, (_, number) => person.client.post(TOKENS, request({ name: `token ${number}` }))),
      service.admin.post(`/auth/users/${person.id}/sign-out-everywhere/`),
    ]);
    for (const { body } of answers.slice(0, 10)) {
      if (body.token) expect((await service.withToken(body.token).get(ME)).status).toBe(401);
    }
    const open = await service.database.db
      .selectFrom('personal_tokens')
      .select('id')
      .where('user_id', '=', person.id)
      .where('timestamp_revoked', 'is', null)
      .execute();
    expect(open).toEqual([]);
  });
});

it('a thousand unknown tokens cost one read of an index each, and those of no shape none', async () => {
  const unknown = (number: number) => `svc_${String(number).padStart(43, 'x')}`;
  const statements = await statementsOf(async () => {
    for (let round = 0; round < 10; round++) {
      const numbers = Array.from({ length: 100 }, (_, number) => 100 * round + number);
      const answers = await Promise.all(numbers.map((number) => service.withToken(unknown(number)).get(ME)));
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([401]));
    }
  });
  expect(statements.length).toBeLessThanOrEqual(1000);
  expect(await statementsOf(() => service.withToken('svc_short').get(ME))).toEqual([]);
});
