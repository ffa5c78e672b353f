/** Stopping a job: nothing of it goes on, what was done stays, and who asked for it is remembered. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

import type { JsonObject } from '@service/contract';

import { dataFolder, type Flow, isAlive, type Lab, openLab, until } from '../support/lab.ts';
import { addPerson, shareProject } from '../support/plates.ts';
import { ADMIN, startService, type TestService } from '../support/server.ts';

let service: TestService;
let lab: Lab;

beforeAll(async () => {
  service = await startService({ settings: { SERVICE_DATA_DIR: dataFolder(), SERVICE_MAX_NUM_THREADS: '2' } });
});

async function newLab() {
  lab = await openLab(service);
  return lab;
}

const stop = (job: number) => lab.owner.client.get(`${lab.base}/job/${job}/stop/`);
const started = (number: number) => until(`${number} units`, () => lab.starts().length >= number);
const pidsIn = (path: string) =>
  existsSync(path) ? [...readFileSync(path, 'utf8').matchAll(/child (\d+)/g)].map((match) => Number(match[1])) : [];
const update = (zarr_url: string) => ({ output: { image_list_updates: [{ zarr_url }] } as unknown as JsonObject });
const causes = async (flow: Flow, dataset: number, index = 0) =>
  (await lab.units(dataset, flow.steps[index]!)).units.map((unit: { status: string; cause: string | null }) => [
    unit.status,
    unit.cause,
  ]);

async function submit(flow: Flow, dataset: number): Promise<number> {
  const { status, body } = await lab.submit(flow, dataset);
  expect(status).toBe(202);
  return body.id;
}

const HANG = { sleep: 120 };
const STOPPED = ['failed', 'stopped'];

describe('a job that runs', () => {
  it('ends with all its processes; units that are done keep their results', async () => {
    await newLab();
    const { urlOf } = lab;
    const flow = await lab.workflow([
      {
        type: 'parallel',
        output_types: { t: true },
        plan: {
          [urlOf('a')]: update(urlOf('a')),
          [urlOf('b')]: { ...HANG, spawn: 120, new_session: true },
          [urlOf('c')]: { ...HANG, daemon: 120, stubborn: true },
          [urlOf('d')]: HANG,
        },
      },
      { type: 'parallel' },
    ]);
    const dataset = await lab.dataset(['a', 'b', 'c', 'd']);
    const id = await submit(flow, dataset);
    await started(3);
    const { units } = await lab.units(dataset, flow.steps[0]!);
    const logs = units.map((unit: { logfile: string }) => unit.logfile);
    const children = await until('children', () => {
      const pids = logs.flatMap(pidsIn) as number[];
      return pids.length === 2 ? pids : undefined;
    });
    const running = lab.starts().filter(({ url }) => url !== urlOf('a'));
    const pids = [...children, ...running.map((start) => start.pid)];
    expect(pids.map(isAlive)).toEqual([true, true, true, true]);

    const first = await stop(id);
    expect([first.status, first.text]).toEqual([202, '']);
    expect((await stop(id)).status).toBe(202);
    const job = await lab.end(id);
    expect(pids.map(isAlive)).toEqual([false, false, false, false]);
    expect(job).toMatchObject({
      status: 'failed',
      stop_requested_by: lab.owner.email,
      failure: { kind: 'stopped', workflowtask_id: flow.steps[0], num_images: 3 },
      log: expect.stringMatching(/^JOB ERROR.*\nTRACEBACK:\n/),
    });
    expect(Date.parse(job.stop_requested_at)).toBeLessThanOrEqual(Date.parse(job.end_timestamp));
    expect(await causes(flow, dataset)).toEqual([['done', null], STOPPED, STOPPED, STOPPED]);
    expect((await lab.images(dataset)).map(({ types }) => types)).toEqual([{ t: true }, {}, {}, {}]);
    expect(await lab.accounting()).toEqual([[4, 0]]);
    expect((await lab.units(dataset, flow.steps[1]!)).run).toBeUndefined();
    expect(lab.starts()).toHaveLength(3);
    expect(await lab.members(job)).toContain('workflow.log');

    const late = await stop(id);
    expect([late.status, late.body.detail]).toEqual([422, expect.stringContaining('ended')]);
  });

  it('ends in its init phase', async () => {
    await newLab();
    const flow = await lab.workflow([{ type: 'compound', plan: { init: HANG } }]);
    const dataset = await lab.dataset(['a']);
    const id = await submit(flow, dataset);
    await started(1);
    await stop(id);
    expect((await lab.end(id)).failure.kind).toBe('stopped');
    expect(await causes(flow, dataset)).toEqual([STOPPED]);
    expect((await lab.units(dataset, flow.steps[0]!)).run?.status).toBe('failed');
    expect(await lab.accounting()).toEqual([[1, 0]]);
  });

  it('ends in its second phase, and keeps what the finished units made', async () => {
    await newLab();
    const items = ['new', 'other', 'third'].map((name) => ({ zarr_url: lab.urlOf(name) }));
    const plan = {
      init: { output: { parallelization_list: items } as unknown as JsonObject },
      [lab.urlOf('new')]: update(lab.urlOf('new')),
      '*': HANG,
    };
    const flow = await lab.workflow([{ type: 'converter_compound', plan }]);
    const dataset = await lab.dataset();
    const id = await submit(flow, dataset);
    await started(4);
    await stop(id);
    expect((await lab.end(id)).failure.kind).toBe('stopped');
    expect(await lab.unitsInWords(dataset, flow.steps[0]!)).toEqual([
      'failed:[]',
      'failed:[new]',
      'failed:[other]',
      'failed:[third]',
    ]);
    expect((await lab.images(dataset)).map((image) => lab.nameOf(image.zarr_url))).toEqual(['new']);
  });

  it('ends between two tasks', async () => {
    await newLab();
    const gate = join(lab.root, 'gate');
    const plan = { '*': { wait_for: gate, ...update('{url}') } };
    const flow = await lab.workflow([
      { type: 'parallel', output_types: { t: true }, plan },
      { type: 'parallel', plan: { '*': HANG } },
    ]);
    const dataset = await lab.dataset(['a']);
    const id = await submit(flow, dataset);
    await started(1);
    // the end of the first task waits for this, and the request to stop for the end of the first task
    const stopping = await service.database.db.transaction().execute(async (trx) => {
      await trx.selectFrom('datasets').select('id').where('id', '=', dataset).forNoKeyUpdate().execute();
      writeFileSync(gate, '');
      await until('end of the unit', async () => (await causes(flow, dataset))[0]![0] === 'done');
      return { asked: stop(id) };
    });
    expect((await stopping.asked).status).toBe(202);
    const job = await lab.end(id);
    expect([job.status, job.failure.kind]).toEqual(['failed', 'stopped']);
    expect(await causes(flow, dataset, 0)).toEqual([['done', null]]);
    expect((await lab.images(dataset))[0]!.types).toEqual({ t: true });
    expect(await causes(flow, dataset, 1)).toEqual([STOPPED]);
    expect(
      lab
        .starts()
        .map((start) => start.pid)
        .map(isAlive),
    ).not.toContain(true);
  });
});

describe('a job that waits', () => {
  it('ends at once when it is stopped right after it was submitted', async () => {
    await newLab();
    const flow = await lab.workflow([{ type: 'parallel', plan: { '*': HANG } }]);
    const dataset = await lab.dataset(['a', 'b']);
    const id = await submit(flow, dataset);
    expect((await stop(id)).status).toBe(202);
    const job = await lab.end(id);
    expect([job.status, job.failure.kind]).toEqual(['failed', 'stopped']);
    expect(await causes(flow, dataset)).toEqual([STOPPED, STOPPED]);
    expect(
      lab
        .starts()
        .map((start) => start.pid)
        .map(isAlive),
    ).not.toContain(true);
  });

  it('for a place ends without a start, while the one before it goes on', async () => {
    await newLab();
    const gate = join(lab.root, 'gate');
    const flow = await lab.workflow([{ type: 'parallel', plan: { '*': { wait_for: gate } } }]);
    const first = await submit(flow, await lab.dataset(['a', 'b']));
    await started(2);
    const dataset = await lab.dataset(['c']);
    const second = await submit(flow, dataset);
    await until('units of the second', async () => (await causes(flow, dataset)).length === 1);
    await stop(second);
    expect((await lab.end(second)).failure.kind).toBe('stopped');
    expect(await causes(flow, dataset)).toEqual([STOPPED]);
    expect(lab.starts()).toHaveLength(2);
    writeFileSync(gate, '');
    expect((await lab.end(first)).status).toBe('done');
  });
});

it('an administrator may stop every job, and is remembered', async () => {
  await newLab();
  const flow = await lab.workflow([{ type: 'parallel', plan: { '*': HANG } }]);
  const id = await submit(flow, await lab.dataset(['a']));
  await started(1);
  expect((await service.admin.post(`/admin/v2/job/${id}/stop/`)).status).toBe(202);
  expect(await lab.end(id)).toMatchObject({ status: 'failed', stop_requested_by: ADMIN.email });
  expect((await service.admin.get(`/admin/v2/job/${id}/stop/`)).status).toBe(422);
  expect((await service.admin.get('/admin/v2/job/1000000/stop/')).status).toBe(404);
  expect((await lab.owner.client.get(`/admin/v2/job/${id}/stop/`)).status).toBe(403);
});

it('others may not, and a job is looked for in its own project', async () => {
  const other = await openLab(service);
  await newLab();
  const gate = join(lab.root, 'gate');
  const flow = await lab.workflow([{ type: 'parallel', plan: { '*': { wait_for: gate } } }]);
  const id = await submit(flow, await lab.dataset(['a']));
  const member = async (permissions: 'r' | 'rw' | 'rwx', fields = {}) => {
    const person = await addPerson(service, lab.profile_id, fields);
    await shareProject(service, lab.project, person, permissions);
    return person.client;
  };
  const path = `${lab.base}/job/${id}/stop/`;
  const short = `/api/v2/job/${id}/stop/`;
  for (const client of [
    await member('r'),
    await member('rw'),
    await member('rwx', { is_guest: true }),
    other.owner.client,
  ]) {
    expect([(await client.get(path)).status, (await client.post(short)).status]).toEqual([403, 403]);
  }
  expect((await service.anyone.get(path)).status).toBe(401);
  expect((await other.owner.client.get(`${other.base}/job/${id}/stop/`)).status).toBe(404);
  expect((await lab.owner.client.get(`${lab.base}/job/1000000/stop/`)).status).toBe(404);
  expect((await lab.owner.client.post('/api/v2/job/1000000/stop/')).status).toBe(404);
  expect((await lab.job(id)).stop_requested_at).toBeNull();
  writeFileSync(gate, '');
  expect((await lab.end(id)).status).toBe('done');
});
