import { beforeAll, describe, expect, it } from 'vitest';

import type { TaskType } from '@service/contract';

import { addPerson, addProfile, shareProject } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';
import { addDataset, addJob, addRunWithUnits, addScene, type Scene, type UnitFields } from '../support/tasks.ts';

let service: TestService;

beforeAll(async () => {
  service = await startService({ background: false });
});

const idsOf = ({ project, workflow, dataset }: Scene) => ({
  project_id: project,
  workflow_id: workflow,
  dataset_id: dataset,
});

const ask = ({ owner, project, workflow, dataset }: Scene, client = owner.client) =>
  client.get(`/api/v2/project/${project}/latest-job/`, { query: { workflow_id: workflow, dataset_id: dataset } });

/** A scene with one task that ran once, with these units. */
async function ranOnce(units: UnitFields[], { type = 'parallel', run = {} }: { type?: TaskType; run?: object } = {}) {
  const scene = await addScene(service, [type]);
  const job_id = await addJob(service, { ...idsOf(scene), status: 'done' });
  const fields = { dataset_id: scene.dataset, workflowtask_id: scene.steps[0]!, job_id, ...run };
  const { run: history_run_id } = await addRunWithUnits(service, fields, units);
  const { body } = await ask(scene);
  return { scene, job_id, history_run_id, status: body.task_statuses[scene.steps[0]!] };
}

describe('the newest job of a workflow on a dataset', () => {
  it('comes with the status of each task: of its newest run, or waiting in a job that has not come to it', async () => {
    const scene = await addScene(service, ['parallel', 'parallel', 'parallel', 'parallel', 'parallel', 'parallel']);
    const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`;
    const job = (minute: number, fields: object) =>
      addJob(service, { ...idsOf(scene), start_timestamp: at(minute), ...fields });
    const a = await job(0, { status: 'done', first_task_index: 0, last_task_index: 3 });
    const b = await job(10, { status: 'submitted', first_task_index: 1, last_task_index: 4 });
    const run = (job_id: number, index: number, minute: number, status: 'done' | 'submitted') =>
      addRunWithUnits(service, {
        dataset_id: scene.dataset,
        workflowtask_id: scene.steps[index]!,
        job_id,
        status,
        timestamp_started: at(minute),
      });
    for (const index of [0, 1, 2, 3]) await run(a, index, index + 1, 'done');
    await run(b, 1, 11, 'done');
    await run(b, 2, 12, 'submitted');
    const { status, body } = await ask(scene);
    expect([status, body.id]).toEqual([200, b]);
    expect(Object.keys(body.task_statuses)).toEqual(scene.steps.map(String));
    const statuses = scene.steps.map((step) => body.task_statuses[step]);
    expect(statuses.map((one) => one?.status ?? null)).toEqual([
      'done',
      'done',
      'submitted',
      'submitted',
      'submitted',
      null,
    ]);
    expect(statuses[4]).toEqual({ status: 'submitted' });
    expect(statuses.slice(0, 4).map((one) => one.job_id)).toEqual([a, b, b, a]);
  });

  it('may be older than the submitted one that decides about waiting', async () => {
    const scene = await addScene(service, ['parallel']);
    await addJob(service, { ...idsOf(scene), status: 'submitted', start_timestamp: '2026-01-01T00:00:00Z' });
    const newest = await addJob(service, {
      ...idsOf(scene),
      status: 'done',
      start_timestamp: '2026-01-02T00:00:00Z',
    });
    const { body } = await ask(scene);
    expect([body.id, body.task_statuses]).toEqual([newest, { [scene.steps[0]!]: { status: 'submitted' } }]);
  });

  it('does not look at jobs on other datasets', async () => {
    const scene = await addScene(service, ['parallel']);
    const other = await addDataset(service, scene.project, 'another');
    const job_id = await addJob(service, { ...idsOf(scene), dataset_id: other });
    await addRunWithUnits(service, { dataset_id: other, workflowtask_id: scene.steps[0]!, job_id });
    expect((await ask(scene)).status).toBe(404);
    await addJob(service, { ...idsOf(scene), status: 'done' });
    expect((await ask(scene)).body.task_statuses).toEqual({ [scene.steps[0]!]: null });
  });

  it('is asked for by readers; 404 for what is not there', async () => {
    const { scene } = await ranOnce([]);
    const profile = await addProfile(service);
    const reader = await addPerson(service, profile);
    const guest = await addPerson(service, profile, { is_guest: true });
    const stranger = await addPerson(service, profile);
    await shareProject(service, scene.project, reader, 'r');
    await shareProject(service, scene.project, guest, 'r');
    const statuses = [];
    for (const client of [reader.client, guest.client, stranger.client, service.anyone])
      statuses.push((await ask(scene, client)).status);
    expect(statuses).toEqual([200, 200, 403, 401]);
    expect((await ask({ ...scene, workflow: 999999 })).status).toBe(404);
    expect((await ask({ ...scene, dataset: 999999 })).status).toBe(404);
    expect((await ask({ ...scene, project: 999999 })).status).toBe(404);
    const other = await addScene(service, []);
    expect((await ask({ ...scene, dataset: other.dataset })).status).toBe(404);
    expect((await ask({ ...scene, workflow: other.workflow })).status).toBe(404);
  });

  it('takes as many statements for many tasks as for one', async () => {
    const counts: number[] = [];
    for (const types of [['parallel'], new Array<TaskType>(12).fill('parallel')] as TaskType[][]) {
      const scene = await addScene(service, types);
      const job_id = await addJob(service, { ...idsOf(scene), status: 'done' });
      for (const workflowtask_id of scene.steps)
        await addRunWithUnits(service, { dataset_id: scene.dataset, workflowtask_id, job_id }, [{ zarr_urls: ['/a'] }]);
      counts.push((await statementsOf(() => ask(scene))).length);
    }
    expect(counts[1]).toBe(counts[0]);
    expect(counts[0]).toBeLessThanOrEqual(9);
  });
});

describe('a task that ran', () => {
  it('tells everything about its latest run', async () => {
    const times = { timestamp_started: '2026-01-01T00:00:00Z', timestamp_ended: '2026-01-01T01:00:00Z' };
    const { status, job_id, history_run_id } = await ranOnce([{ zarr_urls: ['/a'], has_warnings: true, ...times }], {
      run: { ...times, num_available_images: 4, num_new_images: 2 },
    });
    expect(status).toEqual({
      status: 'done',
      num_submitted_images: 0,
      num_done_images: 1,
      num_failed_images: 0,
      num_available_images: 4,
      has_warnings: true,
      job_id,
      history_run_id,
      timestamp_started: '2026-01-01T00:00:00+00:00',
      timestamp_ended: '2026-01-01T01:00:00+00:00',
      progress: { waiting: 0, running: 0, done: 1, failed: 0 },
      is_starting: false,
      num_images_with_warnings: 1,
      num_new_images: 2,
      causes: {},
    });
  });

  it('counts images by the units that looked at them last, whichever run these are of', async () => {
    const scene = await addScene(service, ['parallel']);
    const job_id = await addJob(service, { ...idsOf(scene), status: 'done' });
    const run = { dataset_id: scene.dataset, workflowtask_id: scene.steps[0]!, job_id };
    await addRunWithUnits(service, { ...run, timestamp_started: '2026-01-01T00:00:00Z', num_available_images: 4 }, [
      { status: 'failed', zarr_urls: ['/a', '/b'], has_warnings: true },
      { status: 'failed', zarr_urls: ['/c'], has_warnings: true },
    ]);
    await addRunWithUnits(service, { ...run, timestamp_started: '2026-01-02T00:00:00Z', num_available_images: 2 }, [
      { status: 'done', zarr_urls: ['/a'] },
      { status: 'submitted', zarr_urls: ['/d'] },
    ]);
    expect((await ask(scene)).body.task_statuses[scene.steps[0]!]).toMatchObject({
      num_submitted_images: 1,
      num_done_images: 1,
      num_failed_images: 2,
      num_available_images: null,
      num_images_with_warnings: 2,
      has_warnings: false,
    });
  });

  const began = '2026-01-01T00:00:00Z';
  const ended = '2026-01-01T00:01:00Z';
  it.each<[string, TaskType, UnitFields[], object, object]>([
    [
      'a parallel task under way',
      'parallel',
      [
        { status: 'submitted' },
        { status: 'submitted', timestamp_started: began },
        { status: 'done', timestamp_started: began, timestamp_ended: ended },
        { status: 'failed', timestamp_started: began, timestamp_ended: ended, cause: 'memory' },
        { status: 'failed', cause: 'stopped' },
      ],
      { waiting: 1, running: 1, done: 1, failed: 2 },
      { memory: 1, stopped: 1 },
    ],
    [
      'a compound task whose units are submitted until the end',
      'compound',
      [
        { is_init: true, status: 'submitted', timestamp_started: began, timestamp_ended: ended },
        { status: 'submitted', timestamp_started: began, timestamp_ended: ended },
        { status: 'submitted', timestamp_started: began },
        { status: 'submitted' },
      ],
      { waiting: 1, running: 1, done: 1, failed: 0 },
      {},
    ],
    [
      'a compound task whose units all failed together',
      'compound',
      [
        { is_init: true, status: 'failed', timestamp_started: began, timestamp_ended: ended },
        { status: 'failed', timestamp_started: began, timestamp_ended: ended },
        { status: 'failed', timestamp_started: began, timestamp_ended: ended, cause: 'error' },
      ],
      { waiting: 0, running: 0, done: 1, failed: 1 },
      { error: 1 },
    ],
    [
      'a compound task that failed in its first phase',
      'converter_compound',
      [{ is_init: true, status: 'failed', timestamp_started: began, timestamp_ended: ended, cause: 'start' }],
      { waiting: 0, running: 0, done: 0, failed: 0 },
      { start: 1 },
    ],
    [
      'a task of one unit',
      'converter_non_parallel',
      [{ status: 'submitted', timestamp_started: began }],
      { waiting: 0, running: 1, done: 0, failed: 0 },
      {},
    ],
    [
      'rows without times',
      'parallel',
      [{ status: 'done' }, { status: 'failed' }, { status: 'submitted' }],
      { waiting: 1, running: 0, done: 1, failed: 1 },
      {},
    ],
  ])('has progress and causes: %s', async (_, type, units, progress, causes) => {
    const { status } = await ranOnce(units, { type });
    expect([status.progress, status.causes]).toEqual([progress, causes]);
  });

  it.each<TaskType>(['compound', 'converter_non_parallel', 'parallel'])(
    'has warnings when a unit of its latest run has, of the kind %s',
    async (type) => {
      const { scene, job_id, status } = await ranOnce([{ has_warnings: true }, {}], { type });
      expect(status.has_warnings).toBe(true);
      const run = { dataset_id: scene.dataset, workflowtask_id: scene.steps[0]!, job_id };
      await addRunWithUnits(service, { ...run, timestamp_started: '2099-01-01T00:00:00Z' }, [{}]);
      const again = (await ask(scene)).body.task_statuses[scene.steps[0]!];
      expect(again.has_warnings).toBe(false);
    },
  );
});
