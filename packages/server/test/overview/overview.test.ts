/** The overview of administrators: figures of the database, and what is known of machines that may not answer. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import type { Overview } from '@service/contract';

import { createBackground } from '../../src/overview/background.ts';
import { byFileSystem, diskOf, readDisk } from '../../src/overview/disks.ts';
import { keptFor } from '../../src/overview/kept.ts';
import { atFileEnd } from '../support/file-end.ts';
import { addPerson, addProfile, addProject } from '../support/plates.ts';
import { startService } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';
import { addDataset, addJob, type JobFields } from '../support/tasks.ts';

const service = await startService({ background: false });
const { admin } = service;
const { db } = service.database;

const look = async () => (await admin.get('/admin/v2/overview/')).body as Overview;

const profile = await addProfile(service);
const owner = await addPerson(service, profile);
const project_id = await addProject(service, owner, 'Screen');
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();

/** Accepts connections, and never says a word. */
async function silentHost(): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atFileEnd(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as { port: number }).port}`;
}

function keyFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'service-overview-'));
  atFileEnd(() => rmSync(folder, { recursive: true }));
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const path = join(folder, 'key');
  writeFileSync(path, privateKey, { mode: 0o600 });
  return path;
}

async function addCluster(name: string, host: string, key?: string): Promise<number> {
  const { id } = await db
    .insertInto('resources')
    .values({
      name,
      host,
      type: 'slurm_ssh',
      jobs_local_dir: '/',
      tasks_local_dir: '/',
      jobs_runner_config: '{}',
      jobs_slurm_python_worker: '/usr/bin/python3',
      jobs_poll_interval: 5,
      tasks_python_config: '{}',
      tasks_pixi_config: '{}',
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (key === undefined) return id;
  const folders = { jobs_remote_dir: '/jobs', tasks_remote_dir: '/tasks', pixi_cache_dir: null };
  await db
    .insertInto('profiles')
    .values({ name, resource_id: id, resource_type: 'slurm_ssh', username: 'alice', ssh_key_path: key, ...folders })
    .execute();
  return id;
}

async function addJobOf(fields: Partial<JobFields>): Promise<number> {
  const dataset_id = await addDataset(service, project_id);
  return addJob(service, { project_id, workflow_id: null, dataset_id, ...fields });
}

const failure = (kind: string) =>
  JSON.stringify({ kind, workflowtask_id: null, message: `because of ${kind}`, num_images: 1 });

await addJobOf({ status: 'submitted', timestamp_first_unit: hoursAgo(1) });
await addJobOf({ status: 'submitted' });
await addJobOf({ status: 'submitted' });
await addJobOf({ status: 'done', end_timestamp: hoursAgo(2) });
await addJobOf({ status: 'failed', end_timestamp: hoursAgo(30), failure: failure('task') });
await addJobOf({ status: 'failed', end_timestamp: hoursAgo(1), failure: failure('stopped') });
const failed = await addJobOf({ status: 'failed', end_timestamp: hoursAgo(3), failure: failure('task') });
await service.person({ email: 'new@example.org' });
const key = keyFile();
const clusters = {
  silent: await addCluster('Silent', await silentHost(), key),
  gone: await addCluster('Gone', '127.0.0.1:1', key),
  bare: await addCluster('Bare', '127.0.0.1:1'),
};

let all: Overview[] = [];
const begin = Date.now();
const statements = await statementsOf(async () => {
  all = await Promise.all(Array.from({ length: 50 }, look));
});
const first = all[0]!;

const resourceIn = ({ resources }: Overview, id: number) => resources.find((one) => one.id === id);

describe('the overview', () => {
  it('counts what runs, waits and ended in the last 24 hours, without what somebody stopped', () => {
    expect(first.jobs).toEqual({ running: 1, waiting: 2, done_last_day: 1, failed_last_day: 1 });
    expect(first.failed_jobs).toMatchObject([{ id: failed, message: 'because of task' }]);
    expect(first.resources[0]).toMatchObject({ running: 1, waiting: 2, state: 'reachable' });
  });

  it('names who waits for an account, and what runs here', () => {
    expect(first.accounts).toMatchObject({ pending: 1 });
    expect(first.pending_accounts).toMatchObject([{ email: 'new@example.org' }]);
    expect(first.versions.database).toMatch(/^\d+/);
    expect(first.versions.node).toBe(process.versions.node);
  });

  it('is made with few statements, once for all who ask at a time', () => {
    expect(statements.filter((text) => /from jobs|from resources|is_verified or/.test(text)).length).toBe(4);
  });

  it('is for administrators', async () => {
    expect((await owner.client.get('/admin/v2/overview/')).status).toBe(403);
    expect((await service.anyone.get('/admin/v2/overview/')).status).toBe(401);
  });

  it('waits for no machine, and tells as soon as something is known', async () => {
    // a machine that was waited for is reachable, or is not
    const told = all.map((one) => resourceIn(one, clusters.silent));
    expect(told).toEqual(told.map(() => expect.objectContaining({ state: 'unknown', since: null })));
    expect(resourceIn(first, clusters.bare)?.problem).toMatch(/no profile/);
    await expect
      .poll(async () => resourceIn(await look(), clusters.gone)?.state, { timeout: 20_000, interval: 500 })
      .toBe('unreachable');
    const later = await look();
    expect(resourceIn(later, clusters.silent)).toMatchObject({ state: 'unknown', since: null });
    expect(resourceIn(later, clusters.gone)?.problem).toBeTruthy();
    expect(Date.parse(resourceIn(later, clusters.gone)!.since!)).toBeGreaterThan(begin);
    expect(later.disks[0]).toMatchObject({ state: 'reachable', free_bytes: expect.any(Number) as number });
  });
});

describe('asking in the background', () => {
  const settled = () => new Promise((resolve) => setTimeout(resolve, 10));

  it('says at once what is known, and since when', async () => {
    const asked = createBackground<number>({ everyMs: 0 });
    expect(asked.look('a', () => Promise.resolve(7))).toMatchObject({ state: 'unknown', since: null });
    await settled();
    const known = asked.look('a', () => Promise.reject(new Error('gone')));
    expect(known).toMatchObject({ state: 'reachable', answer: 7 });
    await settled();
    const lost = asked.look('a', () => Promise.reject(new Error('gone')));
    expect(lost).toMatchObject({ state: 'unreachable', problem: 'gone', answer: 7 });
    await settled();
    expect(asked.look('a', () => Promise.resolve(8)).since).toEqual(lost.since);
  });

  it('asks the same once at a time, and few at a time, however many look', () => {
    const asked = createBackground<number>({ everyMs: 0, atATime: 2 });
    let count = 0;
    const never = () => {
      count++;
      return new Promise<number>(() => undefined);
    };
    for (let at = 0; at < 1000; at++) asked.look(`name ${at % 10}`, never);
    expect(count).toBe(2);
  });

  it('waits before it asks again', async () => {
    const asked = createBackground<number>({ everyMs: 60_000 });
    let count = 0;
    const ask = () => Promise.resolve(++count);
    asked.look('a', ask);
    await settled();
    asked.look('a', ask);
    await settled();
    expect(count).toBe(1);
  });
});

describe('an answer that is kept', () => {
  it('is made once for all who ask, and a failure is not kept', async () => {
    let made = 0;
    const answer = keptFor(60_000, () => (++made === 1 ? Promise.reject(new Error('no')) : Promise.resolve(made)));
    await expect(answer()).rejects.toThrow('no');
    expect(await Promise.all([answer(), answer(), answer()])).toEqual([2, 2, 2]);
  });
});

describe('disks', () => {
  const HEAD = 'Filesystem     1024-blocks     Used Available Capacity Mounted on\n';
  it.each([
    ['/dev/vda         264184092 29962244  66042696      32% /', { mount: '/', free_bytes: 66042696 * 1024 }],
    ['nas:/lab share 100 60 40 60% /mnt/lab share', { mount: '/mnt/lab share', total_bytes: 102_400 }],
    ['none 0 0 0 - /proc', { mount: '/proc', total_bytes: 0 }],
    ['', undefined],
  ])('reads %j', (line, expected) => {
    const disk = readDisk(`${HEAD}${line}\n`);
    if (expected === undefined) expect(disk).toBeUndefined();
    else expect(disk).toMatchObject(expected);
  });

  it('knows where a folder will be that is yet to be made', async () => {
    expect((await diskOf('/no/such/folder')).mount).toBe((await diskOf('/')).mount);
  });

  it('names a file system once, with all that is on it, and what is away by itself', () => {
    const seen = { state: 'reachable' as const, since: null, problem: null };
    const disk = { mount: '/', total_bytes: 10, free_bytes: 5 };
    const lost = { state: 'unreachable' as const, since: null, problem: 'gone', answer: null };
    const disks = byFileSystem([
      { used: { folder: '/a', purpose: 'A' }, seen: { ...seen, answer: disk } },
      { used: { folder: '/b', purpose: 'B' }, seen: { ...seen, answer: disk } },
      { used: { folder: '/c', purpose: 'C' }, seen: lost },
      { used: { folder: '/d', purpose: 'D' }, seen: lost },
    ]);
    expect(disks.map(({ folders }) => folders.map(({ folder }) => folder))).toEqual([['/a', '/b'], ['/c'], ['/d']]);
    expect(disks[1]).toMatchObject({ state: 'unreachable', total_bytes: null });
  });
});
