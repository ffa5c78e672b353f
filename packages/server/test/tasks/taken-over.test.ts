/**
 * Activities whose work another process has taken over, as when the first one was stopped for minutes and goes on: it
 * changes nothing any more, neither in the database nor on disk. This machine stands for the one of the resource.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ActivityAction } from '@service/contract';

import { type Host, localHost } from '../../src/hosts/index.ts';
import type { Lease } from '../../src/queue/index.ts';
import { activityHandler } from '../../src/tasks/carry-out.ts';
import { addActivity, leaseOf } from '../support/activities.ts';
import { addFarProfile } from '../support/far-profile.ts';
import { addPerson, type Person } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';

const folder = mkdtempSync(join(tmpdir(), 'service-taken-over-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let service: TestService;
let owner: Person;
let resource_id: number;
let number = 0;

beforeAll(async () => {
  service = await startService({ background: false });
  const profile = await addFarProfile(service, folder);
  owner = await addPerson(service, profile);
  ({ resource_id } = await service.database.db
    .selectFrom('profiles')
    .select('resource_id')
    .where('id', '=', profile)
    .executeTakeFirstOrThrow());
});

/** A group with an environment on disk, unless it is to be made, and an activity that is to be carried out. */
async function addSubject(action: ActivityAction) {
  const name = `made-${++number}`;
  const path = join(folder, 'owner', name, '1');
  const there = action === 'deactivate' || action === 'delete';
  const { id } = await service.database.db
    .insertInto('task_groups')
    .values({
      user_id: owner.id,
      resource_id,
      origin: 'pypi',
      pkg_name: name,
      version: '1',
      path,
      venv_path: join(path, 'venv'),
      python_version: '3.12',
      env_info: 'x==1',
      active: action !== 'reactivate' && action !== 'reset',
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (there) mkdirSync(join(path, 'venv'), { recursive: true });
  const activity = await addActivity(service, { user_id: owner.id, taskgroupv2_id: id, action, status: 'pending' });
  return { id, path, venv: join(path, 'venv'), activity };
}

/** This machine, where something happens before one of the calls of a method. */
function hostWith(method: keyof Host, call: number, happens: () => Promise<void>): Host {
  let calls = 0;
  const original = localHost[method] as (...given: unknown[]) => unknown;
  return {
    ...localHost,
    [method]: async (...given: unknown[]) => {
      if (++calls === call) await happens();
      return original(...given);
    },
  };
}

const carryOut = (host: Host, activity: number, attempt: number, lease: Lease) =>
  activityHandler({ db: service.database.db, dataDir: folder, packageIndex: 'none', hostFor: () => host })(activity, {
    attempt,
    last: false,
    leftOver: null,
    remember: async () => undefined,
    lease,
    signal: new AbortController().signal,
  });

const stored = async ({ id, activity }: { id: number; activity: number }) => {
  const { db } = service.database;
  return {
    group: await db.selectFrom('task_groups').selectAll().where('id', '=', id).executeTakeFirst(),
    activity: await db
      .selectFrom('task_group_activities')
      .selectAll()
      .where('id', '=', activity)
      .executeTakeFirstOrThrow(),
  };
};
const filesBelow = (path: string) => (existsSync(path) ? readdirSync(path, { recursive: true }).sort() : []);

type Subject = Awaited<ReturnType<typeof addSubject>>;

/** One process carries it out until another one takes it and makes an environment; gives back what each of them left. */
async function takenOver(subject: Subject, method: keyof Host, call: number) {
  const { activity, path, venv } = subject;
  const seen = async () => ({ ...(await stored(subject)), files: filesBelow(path) });
  let lease: Lease | undefined;
  let atTakeOver: Awaited<ReturnType<typeof seen>> | undefined;
  const host = hostWith(method, call, async () => {
    lease = await leaseOf(service, activity, 'another process');
    mkdirSync(venv, { recursive: true });
    atTakeOver = await seen();
  });
  const outcome = await carryOut(host, activity, 1, await leaseOf(service, activity, 'the first process'));
  return { outcome, lease: lease!, atTakeOver: atTakeOver!, afterwards: await seen() };
}

describe('a process whose activity another one has taken', () => {
  it.each<[ActivityAction, string, keyof Host, number]>([
    ['deactivate', 'before it signs in', 'run', 1],
    ['deactivate', 'before it looks', 'kindOf', 1],
    ['deactivate', 'before it moves the environment aside', 'kindOf', 2],
    ['reactivate', 'while it looks', 'kindOf', 1],
    ['reactivate', 'before what fails', 'run', 3],
    ['reset', 'while it looks', 'kindOf', 1],
    ['reset', 'before what fails', 'run', 3],
    ['delete', 'while it looks', 'kindOf', 1],
    ['delete', 'before it moves the folder aside', 'kindOf', 2],
    ['collect', 'while it looks', 'kindOf', 1],
    ['collect', 'before what fails', 'run', 3],
  ])('%s, taken %s: writes and removes nothing', async (action, _, method, call) => {
    const { outcome, atTakeOver, afterwards } = await takenOver(await addSubject(action), method, call);
    expect(outcome).toBe('unfinished');
    expect(afterwards).toEqual(atTakeOver);
  });

  it('does not say that it is done, when it comes to that late', async () => {
    const subject = await addSubject('deactivate');
    // the second removal is that of what was moved aside
    const { outcome, atTakeOver, afterwards } = await takenOver(subject, 'remove', 2);
    expect([outcome, afterwards.activity]).toEqual(['unfinished', atTakeOver.activity]);
  });
});

describe('the process that has it now', () => {
  it('finishes what another one began', async () => {
    const subject = await addSubject('deactivate');
    const { lease } = await takenOver(subject, 'kindOf', 2);
    await carryOut(localHost, subject.activity, 2, lease);
    const { activity, group } = await stored(subject);
    expect([activity.status, group!.active, filesBelow(subject.path)]).toEqual(['OK', false, []]);
  });

  it('clears what it could not make', async () => {
    const subject = await addSubject('collect');
    const { lease } = await takenOver(subject, 'run', 3);
    await carryOut(localHost, subject.activity, 2, lease);
    const { activity, group } = await stored(subject);
    expect([activity.status, group, existsSync(subject.path)]).toEqual(['failed', undefined, false]);
  });
});
