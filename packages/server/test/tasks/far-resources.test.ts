/**
 * Task groups on resources of a cluster, without a cluster: what is asked for, and what becomes of it when the machine goes
 * away. This machine stands for the other one.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Host, HostAway, localHost } from '../../src/hosts/index.ts';
import { MOST_ATTEMPTS, type WorkContext } from '../../src/queue/index.ts';
import { activityHandler } from '../../src/tasks/carry-out.ts';
import { leaseOf } from '../support/activities.ts';
import { addFarProfile } from '../support/far-profile.ts';
import { addPerson, type Person } from '../support/plates.ts';
import { type Answer, startService, type TestService } from '../support/server.ts';
import { addResourceAndProfile } from '../support/tasks.ts';

const folder = mkdtempSync(join(tmpdir(), 'service-far-'));
const dataDir = join(folder, 'data');
const remote = join(folder, 'remote');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let service: TestService;
let owner: Person;
let profile: number;
let elsewhere: number;
let versions = 0;

beforeAll(async () => {
  service = await startService({
    background: false,
    settings: {
      SERVICE_DATA_DIR: dataDir,
      SERVICE_ENABLE_TASK_GROUP_RESET: 'true',
      SERVICE_PACKAGE_INDEX: 'none',
    },
  });
  profile = await addFarProfile(service, remote);
  elsewhere = (await addResourceAndProfile(service)).profile_id;
  owner = await addPerson(service, profile);
});
beforeEach(async () => {
  await service.admin.patch(`/auth/users/${owner.id}/`, { profile_id: profile });
});

const collect = (fields: Record<string, string> = {}): Promise<Answer> =>
  owner.client.raw('/api/v2/task/collect/pip/', {
    method: 'POST',
    body: new URLSearchParams({ package: 'far-tasks', package_version: `1.0.${++versions}`, ...fields }),
  });

const pathOf = () => join(remote, String(owner.id), 'far-tasks', `1.0.${versions}`);
const activityOf = async (id: number) => (await owner.client.get(`/api/v2/task-group/activity/${id}/`)).body;
const storedGroup = (id: number) =>
  service.database.db.selectFrom('task_groups').selectAll().where('id', '=', id).executeTakeFirst();

type Trouble = { [method in keyof Host | 'anything']?: () => Error | undefined };

/** This machine, in the place of the other one, with trouble in some of what it does or in anything. */
function farHost(trouble: Trouble): Host {
  const entries = Object.entries(localHost).map(([name, method]) => [
    name,
    async (...args: unknown[]) => {
      const error = trouble[name as keyof Host]?.() ?? trouble.anything?.();
      if (error) throw error;
      return (method as (...given: unknown[]) => unknown)(...args);
    },
  ]);
  return Object.fromEntries(entries) as Host;
}

/** The first of so many calls reach nobody. */
function away(times = 99) {
  let left = times;
  return () => (left-- > 0 ? new HostAway('login.example.org cannot be reached.') : undefined);
}

/** One call of many reaches nobody. */
function awayAt(call: number) {
  let calls = 0;
  return () => (++calls === call ? new HostAway('login.example.org cannot be reached.') : undefined);
}

async function attempt(host: Host, activityId: number, number: number, context: Partial<WorkContext> = {}) {
  const handler = activityHandler({ db: service.database.db, dataDir, packageIndex: 'none', hostFor: () => host });
  return handler(activityId, {
    attempt: number,
    last: number >= MOST_ATTEMPTS,
    leftOver: null,
    remember: async () => undefined,
    lease: await leaseOf(service, activityId),
    signal: new AbortController().signal,
    ...context,
  });
}

/** A group as a collection leaves it, with an environment that can be removed and not be made again. */
async function addGroup(fields: { active?: boolean; origin?: 'pypi' | 'other' } = {}) {
  const { resource_id } = await service.database.db
    .selectFrom('profiles')
    .select('resource_id')
    .where('id', '=', profile)
    .executeTakeFirstOrThrow();
  const path = fields.origin === 'other' ? null : join(remote, `made-${++versions}`);
  const { id } = await service.database.db
    .insertInto('task_groups')
    .values({
      user_id: owner.id,
      resource_id,
      origin: 'pypi',
      pkg_name: `made-${++versions}`,
      version: '1',
      path,
      venv_path: path && join(path, 'venv'),
      python_version: '3.12',
      env_info: 'x==1',
      ...fields,
    } as never)
    .returning('id')
    .executeTakeFirstOrThrow();
  if (path && fields.active !== false) mkdirSync(join(path, 'venv'), { recursive: true });
  return { id, path: path!, venv: path && join(path, 'venv') };
}

const asked = async (id: number, action: string) =>
  (await owner.client.post(`/api/v2/task-group/${id}/${action}/`)).body.id as number;

describe('a collection by SSH', () => {
  it('goes below the folder of the profile; what lies there is looked at later', async () => {
    const path = join(remote, String(owner.id), 'far-tasks', `1.0.${versions + 1}`);
    mkdirSync(path, { recursive: true });
    const { status, body } = await collect();
    expect([status, body.status]).toEqual([202, 'pending']);
    expect(await storedGroup(body.taskgroupv2_id)).toMatchObject({ path, venv_path: join(path, 'venv') });
    await attempt(farHost({}), body.id, 1);
    expect(await activityOf(body.id)).toMatchObject({
      status: 'failed',
      log: expect.stringContaining('exists already'),
    });
    expect(existsSync(path)).toBe(true);
  });

  it('fails at once where only a person can help', async () => {
    const { body } = await collect();
    const refused = new HostAway('login.example.org does not let "alice" log in.', { needsPerson: true });
    await attempt(farHost({ run: () => refused }), body.id, 1);
    const over = await activityOf(body.id);
    expect(over).toMatchObject({ status: 'failed', taskgroupv2_id: null });
    expect(over.log).toMatch(/Failed: login\.example\.org does not let "alice" log in\.\n$/);
    expect(over.steps[0]).toMatchObject({ name: 'connect', status: 'failed' });
    expect(await storedGroup(body.taskgroupv2_id)).toBeUndefined();
  });

  it.each<[string, Trouble]>([
    ['signing in', { run: away(1) }],
    ['looking', { kindOf: away(1) }],
    ['making the folder', { run: awayAt(2) }],
    ['writing into it', { writeText: away(1) }],
    ['giving it its name', { rename: away(1) }],
    ['reading what pip is set up for', { run: awayAt(3) }],
  ])('is tried again when the machine is away while %s', async (_, trouble) => {
    const { body } = await collect();
    const host = farHost(trouble);
    await expect(attempt(host, body.id, 1)).rejects.toThrow('cannot be reached');
    const meanwhile = await activityOf(body.id);
    expect(meanwhile).toMatchObject({ status: 'ongoing', taskgroupv2_id: body.taskgroupv2_id, timestamp_ended: null });
    expect(meanwhile.log).toMatch(/Interrupted: login\.example\.org cannot be reached\.\n$/);
    expect(meanwhile.log).not.toContain('Failed');
    expect(meanwhile.steps.map(({ status }: { status: string }) => status)).not.toContain('failed');
    // there is no such interpreter: this time it comes as far as that
    await attempt(host, body.id, 2);
    const over = await activityOf(body.id);
    expect([over.status, over.log]).toEqual(['failed', expect.stringContaining('this starts over')]);
    expect(over.log).toMatch(/Failed: .*\/no\/such\/python/);
    expect(readdirSync(join(remote, String(owner.id), 'far-tasks')).filter((name) => name.startsWith('.'))).toEqual([]);
    expect(existsSync(pathOf())).toBe(false);
  });

  it('fails in the end when the machine stays away', async () => {
    const { body } = await collect();
    await attempt(farHost({ anything: away() }), body.id, MOST_ATTEMPTS);
    expect(await activityOf(body.id)).toMatchObject({ status: 'failed', taskgroupv2_id: null });
    expect(await storedGroup(body.taskgroupv2_id)).toBeUndefined();
  });

  it('is given back as it is when the service stops meanwhile', async () => {
    const { body } = await collect();
    const control = new AbortController();
    const host = farHost({
      kindOf: () => {
        control.abort();
        return new Error('cut off');
      },
    });
    expect(await attempt(host, body.id, 1, { signal: control.signal })).toBe('unfinished');
    expect(await activityOf(body.id)).toMatchObject({ status: 'ongoing', taskgroupv2_id: body.taskgroupv2_id });
  });

  it('fails with the reason when its owner has moved to another resource', async () => {
    const { body } = await collect();
    await service.admin.patch(`/auth/users/${owner.id}/`, { profile_id: elsewhere });
    await attempt(farHost({}), body.id, 1);
    expect(await activityOf(body.id)).toMatchObject({
      status: 'failed',
      log: expect.stringContaining('Give the owner a profile of it first'),
    });
  });
});

describe('the way there', () => {
  it('is needed for what administrators ask for, and only for groups with files', async () => {
    const [active, inactive, without] = [
      await addGroup(),
      await addGroup({ active: false }),
      await addGroup({ origin: 'other' }),
    ];
    await service.admin.patch(`/auth/users/${owner.id}/`, { profile_id: elsewhere });
    const admin = (id: number, action: string) => service.admin.post(`/admin/v2/task-group/${id}/${action}/`, {});
    for (const [id, action] of [
      [active.id, 'deactivate'],
      [active.id, 'delete'],
      [inactive.id, 'reactivate'],
      [inactive.id, 'reset/pip'],
    ] as const) {
      const answer = await admin(id, action);
      expect([action, answer.status, answer.body.detail]).toEqual([
        action,
        422,
        expect.stringContaining('no profile on'),
      ]);
    }
    expect((await admin(without.id, 'deactivate')).status).toBe(202);
    const gone = await admin(without.id, 'delete');
    await attempt(farHost({ anything: away() }), gone.body.id, 1);
    expect(await storedGroup(without.id)).toBeUndefined();
  });

  it('is there for a reset', async () => {
    const { id } = await addGroup({ active: false });
    expect((await service.admin.post(`/admin/v2/task-group/${id}/reset/pip/`, {})).status).toBe(202);
  });
});

describe('a machine that goes away in the middle', () => {
  it('of a deactivation: what was moved aside is removed the next time', async () => {
    const { id, path, venv } = await addGroup();
    const activity = await asked(id, 'deactivate');
    const host = farHost({ remove: awayAt(2) });
    await expect(attempt(host, activity, 1)).rejects.toThrow('cannot be reached');
    expect([existsSync(venv!), readdirSync(path).length]).toEqual([false, 1]);
    await attempt(host, activity, 2);
    expect([(await activityOf(activity)).status, readdirSync(path)]).toEqual(['OK', []]);
  });

  it('and stays away: a deactivation counts as not done', async () => {
    const { id, venv } = await addGroup();
    const activity = await asked(id, 'deactivate');
    expect((await storedGroup(id))!.active).toBe(false);
    await attempt(farHost({ anything: away() }), activity, MOST_ATTEMPTS);
    expect([(await activityOf(activity)).status, (await storedGroup(id))!.active]).toEqual(['failed', true]);
    expect(existsSync(venv!)).toBe(true);
  });

  it('before a reactivation looked: what lies in its place is still somebody else’s', async () => {
    const { id, venv } = await addGroup({ active: false });
    const activity = await asked(id, 'reactivate');
    const host = farHost({ anything: away(1) });
    await expect(attempt(host, activity, 1)).rejects.toThrow('cannot be reached');
    mkdirSync(venv!, { recursive: true });
    await attempt(host, activity, 2);
    expect([(await activityOf(activity)).log, existsSync(venv!)]).toEqual([
      expect.stringContaining('There is something at'),
      true,
    ]);
  });

  it('after a reactivation began: what it left is cleared', async () => {
    const { id, path, venv } = await addGroup({ active: false });
    mkdirSync(path, { recursive: true });
    const activity = await asked(id, 'reactivate');
    const host = farHost({ run: awayAt(2) });
    await expect(attempt(host, activity, 1)).rejects.toThrow('cannot be reached');
    mkdirSync(venv!, { recursive: true });
    await attempt(host, activity, 2);
    expect((await activityOf(activity)).log).toMatch(/Failed: .*\/no\/such\/python/);
    expect([existsSync(venv!), (await storedGroup(id))!.active]).toEqual([false, false]);
  });

  it('of a deletion: the group goes when its files are gone', async () => {
    const { id, path } = await addGroup();
    const activity = await asked(id, 'delete');
    const host = farHost({ rename: away(1) });
    await expect(attempt(host, activity, 1)).rejects.toThrow('cannot be reached');
    expect([await storedGroup(id), existsSync(path)]).toEqual([expect.anything(), true]);
    await attempt(host, activity, 2);
    expect([await storedGroup(id), existsSync(path)]).toEqual([undefined, false]);
  });
});
