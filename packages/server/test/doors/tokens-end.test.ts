/** Tokens end: what ends them, what stays, and what is under way with them. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';

import { createTokens } from '../../src/accounts/index.ts';
import { createService } from '../../src/service.ts';
import { readSettings } from '../../src/settings/index.ts';
import { temporaryFolder } from '../support/file-end.ts';
import { untilWaiting } from '../support/locks.ts';
import { addJob } from '../support/people.ts';
import { addPerson, addProfile, addProject, type Person } from '../support/plates.ts';
import { clientOf, startService, type TestService } from '../support/server.ts';

const ME = '/auth/current-user/';
const EVERYWHERE = '/auth/current-user/sign-out-everywhere/';
/** The secret of test services. */
const tokens = createTokens('a key for tests');

const data = temporaryFolder('tokens');

let service: TestService;
beforeAll(async () => {
  service = await startService({ background: false, settings: { SERVICE_DATA_DIR: data } });
});

const statusOf = async (token: string) => (await service.withToken(token).get(ME)).status;
const of = (id: number, what: string) => `/auth/users/${id}/${what}`;

describe('a session', () => {
  it.each<[string, (id: number) => Promise<{ status: number }>]>([
    ['an administrator sets a password', (id) => service.admin.patch(of(id, ''), { password: 'a-new-one' })],
    ['an administrator signs it out', (id) => service.admin.post(of(id, 'sign-out-everywhere/'))],
    ['it is deactivated', (id) => service.admin.patch(of(id, ''), { is_active: false })],
  ])('ends when %s', async (_, act) => {
    const person = await service.person();
    expect(await statusOf(person.token)).toBe(200);
    expect((await act(person.id)).status).toBeLessThan(300);
    expect(await statusOf(person.token)).toBe(401);
    await service.admin.patch(of(person.id, ''), { is_active: true });
    expect(await statusOf(person.token)).toBe(401);
  });

  it('ends everywhere when its person says so, and a new one begins as ever', async () => {
    const person = await service.person();
    const other = await service.login(person.email, person.password);
    expect((await person.client.post(EVERYWHERE)).status).toBe(204);
    expect([await statusOf(person.token), await statusOf(other)]).toEqual([401, 401]);
    expect(await statusOf(await service.login(person.email, person.password))).toBe(200);
  });

  it('stays valid after changes that end nothing, a refused one, and a logout', async () => {
    const person = await service.person();
    await service.admin.patch(of(person.id, ''), { is_verified: true, project_dirs: ['/projects/q'] });
    expect((await service.admin.patch(of(person.id, ''), { password: 'abc' })).status).toBe(400);
    await person.client.post('/auth/token/logout/');
    expect(await statusOf(person.token)).toBe(200);
  });

  it('without a counter counts as of the first generation', async () => {
    const person = await service.person();
    const old = await tokens.issue(person.id, 600, { generation: 0 });
    expect(JSON.parse(Buffer.from(old.split('.')[1]!, 'base64url').toString())).not.toHaveProperty('gen');
    expect(await statusOf(old)).toBe(200);
    await person.client.post(EVERYWHERE);
    expect(await statusOf(old)).toBe(401);
  });

  it('of a guest account cannot sign out everybody who uses the account', async () => {
    const guest = await service.person({ is_guest: true });
    expect((await guest.client.post(EVERYWHERE)).status).toBe(403);
    expect(await statusOf(guest.token)).toBe(200);
  });

  it('of somebody who is no administrator signs nobody else out', async () => {
    const person = await service.person();
    expect((await person.client.post(of(person.id, 'sign-out-everywhere/'))).status).toBe(403);
    expect((await service.admin.post(of(999_999, 'sign-out-everywhere/'))).status).toBe(404);
  });
});

describe('an own password that is changed', () => {
  const superuser = () => service.person({ patch: { is_superuser: true } });

  it('ends the other sessions and renews this one, by a cookie where it came by one', async () => {
    const person = await superuser();
    const changed = await service.anyone.patch(
      of(person.id, ''),
      { password: 'changed-password' },
      { headers: { cookie: `fastapiusersauth=${person.token}` } },
    );
    expect([changed.status, changed.body.id]).toEqual([200, person.id]);
    const cookie = changed.headers.get('set-cookie')!;
    expect(cookie).toMatch(/^fastapiusersauth=[^;]+; HttpOnly; Path=\/; Expires=[^;]+; SameSite=lax$/);
    expect(await statusOf(person.token)).toBe(401);
    expect(await statusOf(/=([^;]+)/.exec(cookie)![1]!)).toBe(200);
  });

  it('renews it by a header where it came by one, with the end it had', async () => {
    const person = await superuser();
    const changed = await person.client.patch(of(person.id, ''), { password: 'changed-password' });
    expect(changed.headers.get('set-cookie')).toBeNull();
    const renewed = changed.headers.get('x-renewed-token')!;
    expect(await statusOf(renewed)).toBe(200);
    const end = (token: string) =>
      (JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { exp: number }).exp;
    expect(Math.abs(end(renewed) - end(person.token))).toBeLessThanOrEqual(1);
  });

  it('renews nothing for others', async () => {
    const person = await superuser();
    const changed = await service.admin.patch(of(person.id, ''), { password: 'changed-password' });
    expect(changed.headers.get('x-renewed-token')).toBeNull();
    expect(await statusOf(person.token)).toBe(401);
  });
});

describe('an impersonation', () => {
  const scene = async () => {
    const administrator = await service.person({ patch: { is_superuser: true } });
    const person = await service.person();
    const { body } = await administrator.client.get(`/admin/v2/impersonate/${person.id}/`);
    const token = body.access_token as string;
    expect(await statusOf(token)).toBe(200);
    return { administrator, person, token };
  };

  it('names the administrator, also when it leads on to another', async () => {
    const { administrator } = await scene();
    const second = await service.person({ patch: { is_superuser: true } });
    const third = await service.person();
    const first = await administrator.client.get(`/admin/v2/impersonate/${second.id}/`);
    const next = await service.withToken(first.body.access_token).get(`/admin/v2/impersonate/${third.id}/`);
    expect((await tokens.read(next.body.access_token as string))?.actor?.id).toBe(administrator.id);
  });

  it.each<[string, (ids: { administrator: number; person: number }) => Promise<unknown>]>([
    ['the account', ({ person }) => service.admin.post(of(person, 'sign-out-everywhere/'))],
    ['the administrator', ({ administrator }) => service.admin.post(of(administrator, 'sign-out-everywhere/'))],
    ['a deactivated one', ({ administrator }) => service.admin.patch(of(administrator, ''), { is_active: false })],
    ['a demoted one', ({ administrator }) => service.admin.patch(of(administrator, ''), { is_superuser: false })],
  ])('ends with the sessions of %s', async (_, act) => {
    const { administrator, person, token } = await scene();
    await act({ administrator: administrator.id, person: person.id });
    expect(await statusOf(token)).toBe(401);
  });
});

it('a better hash does not bring back a password that was changed meanwhile', async () => {
  const { improveHash, findCredentials } = await import('../../src/accounts/store/users.ts');
  const person = await service.person();
  const before = (await findCredentials(service.database.db, person.email))!;
  await service.admin.patch(of(person.id, ''), { password: 'changed-meanwhile' });
  await improveHash(service.database.db, before, before.hashed_password);
  expect(await service.login(person.email, person.password)).toBeUndefined();
  expect(await statusOf(await service.login(person.email, 'changed-meanwhile'))).toBe(200);
});

describe('what is under way', () => {
  let owner: Person;
  let project: number;
  let job: number;
  beforeAll(async () => {
    owner = await addPerson(service, await addProfile(service));
    project = await addProject(service, owner, 'downloads');
    job = await addJob(service, { project_id: project });
    const folder = temporaryFolder('download');
    // more than the buffers on the way hold
    writeFileSync(join(folder, 'large'), randomBytes(64 * 2 ** 20));
    await service.database.db.updateTable('jobs').set({ working_dir: folder }).where('id', '=', job).execute();
  });

  /** Opens an answer and reads the beginning only, or, of a stream of events, all. */
  async function open(url: string, token: string): Promise<{ isOpen(): boolean; over(): Promise<'ended' | 'broken'> }> {
    const { promise: end, resolve } = Promise.withResolvers<'ended' | 'broken'>();
    const answer = await new Promise<IncomingMessage>((begun, failed) => {
      const request = httpRequest(url, { headers: { authorization: `Bearer ${token}` } }, begun);
      request.on('error', failed);
      request.end();
    });
    expect(answer.statusCode).toBe(200);
    answer.once('end', () => resolve('ended'));
    answer.once('error', () => resolve('broken'));
    await once(answer, 'data');
    if (!url.endsWith('/events/')) answer.pause();
    return {
      isOpen: () => !answer.destroyed && !answer.complete,
      async over() {
        // who has stopped reading sees the end only after what is on the way
        await sleep(1500);
        answer.resume();
        return end;
      },
    };
  }

  const KINDS = [
    ['an event stream', () => `/api/v2/project/${project}/events/`, 'ended'],
    ['a download', () => `/api/v2/project/${project}/job/${job}/download/`, 'broken'],
  ] as const;

  it.each(KINDS)('%s ends with the session', async (_, path, how) => {
    const token = await service.login(owner.email, 'some-password');
    const { over } = await open(service.url + path(), token);
    await service.withToken(token).post(EVERYWHERE);
    expect(await over()).toBe(how);
  });

  it.each(KINDS)('%s ends with the personal token, and not with another one', async (_, path, how) => {
    const client = service.withToken(await service.login(owner.email, 'some-password'));
    const made = await Promise.all(
      ['one', 'other'].map(
        async (name) =>
          (
            await client.post('/auth/current-user/token/', {
              name: `${name} ${how}`,
              scope: 'read',
              timestamp_expires: new Date(Date.now() + 600_000).toISOString(),
            })
          ).body as { id: number; token: string },
      ),
    );
    const [one, other] = await Promise.all(made.map(({ token }) => open(service.url + path(), token)));
    await client.delete(`/auth/current-user/token/${made[0]!.id}/`);
    expect(await one!.over()).toBe(how);
    expect(other!.isOpen()).toBe(true);
    await client.delete(`/auth/current-user/token/${made[1]!.id}/`);
    expect(await other!.over()).toBe(how);
  });

  it('ends too when another process ended the session', async () => {
    const quiet = { enabled: () => false, debug() {}, info() {}, warning() {}, error() {} };
    const given: Record<string, string> = { POSTGRES_DB: 'given', JWT_SECRET_KEY: 'a key for tests' };
    const second = await createService({
      settings: readSettings((name) => given[name]),
      database: service.database,
      logging: { logger: () => quiet },
      background: false,
    });
    const url = await second.listen({ host: '127.0.0.1', port: 0 });
    try {
      const token = await service.login(owner.email, 'some-password');
      const { over } = await open(`${url}/api/v2/project/${project}/events/`, token);
      await service.withToken(token).post(EVERYWHERE);
      expect(await over()).toBe('ended');
      expect((await clientOf(url, token).get(ME)).status).toBe(401);
    } finally {
      await second.close();
    }
  });

  it('a request that waits for the database is refused at once', async () => {
    const person = await service.person({ patch: { is_superuser: true } });
    const administrator = await service.person({ patch: { is_superuser: true } });
    const impersonated = await administrator.client.get(`/admin/v2/impersonate/${person.id}/`);
    await service.database.db.transaction().execute(async (trx) => {
      await trx.selectFrom('users').select('id').where('id', '=', person.id).forUpdate().execute();
      const waiting = service.withToken(impersonated.body.access_token as string).patch(ME, { slurm_accounts: ['a'] });
      await untilWaiting(service.database);
      await administrator.client.post(EVERYWHERE);
      expect((await waiting).status).toBe(401);
    });
  });

  it('a function whose caller was refused still reads the file that came with the request, and no other', async () => {
    const signed = async (name: string) => {
      const person = await addPerson(service, await addProfile(service));
      const token = await service.login(person.email, 'some-password');
      const form = new FormData();
      const content = `PK\u0003\u0004 the wheel of ${name}`;
      form.set('file', new Blob([content]), `${name}-1.0-py3-none-any.whl`);
      const upload = () => service.withToken(token).raw('/api/v2/task/collect/pip/', { method: 'POST', body: form });
      return { token, content, upload };
    };
    const [one, other] = [await signed('early'), await signed('late')];
    const { late } = await service.database.db.transaction().execute(async (trx) => {
      await sql`lock table profiles in access exclusive mode`.execute(trx);
      const early = one.upload();
      await untilWaiting(service.database);
      await service.withToken(one.token).post(EVERYWHERE);
      expect((await early).status).toBe(401);
      // takes the number that a closed file would have left
      const pending = other.upload();
      await untilWaiting(service.database, 2);
      return { late: pending };
    });
    expect((await late).status).toBe(202);
    const kept = () =>
      readdirSync(join(data, 'uploads'), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.whl'))
        .map((path) => [basename(path).split('-')[0], readFileSync(join(data, 'uploads', path), 'utf8')])
        .sort();
    await expect.poll(kept, { timeout: 10_000 }).toEqual([
      ['early', one.content],
      ['late', other.content],
    ]);
  });
});
