import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';

import { startService, type TestService } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';
import { addJob, addRunWithUnits, addScene, type Scene } from '../support/tasks.ts';

let service: TestService;
let scene: Scene;

beforeAll(async () => {
  service = await startService({ background: false });
  scene = await addScene(service, ['parallel', 'parallel']);
});

const newJob = () =>
  addJob(service, {
    project_id: scene.project,
    workflow_id: scene.workflow,
    dataset_id: scene.dataset,
    status: 'done',
    end_timestamp: '2026-01-01T01:00:00Z',
  });

const ask = async (job: number) =>
  (await scene.owner.client.get(`/api/v2/project/${scene.project}/job/${job}/timeline/`)).body;

const second = (number: number) => `2026-01-01T00:00:${String(number).padStart(2, '0')}Z`;

it('a job in which nothing began has no bins', async () => {
  const job = await newJob();
  await addRunWithUnits(service, { dataset_id: scene.dataset, job_id: job }, [{ status: 'submitted' }]);
  const { tasks, bins } = await ask(job);
  expect(tasks).toHaveLength(1);
  expect(bins).toEqual({ start: null, seconds: 1, running: [], finished: [], peak_memory_bytes: [] });
});

it('a job shows its tasks in order, and how many units ran at once', async () => {
  const job = await newJob();
  const run = { dataset_id: scene.dataset, job_id: job };
  await addRunWithUnits(service, {
    ...run,
    workflowtask_id: scene.steps[1]!,
    task_index: 1,
    timestamp_started: second(4),
    workflowtask_dump: '{"alias": "short", "task": {"name": "Second"}}',
  });
  const first = await addRunWithUnits(
    service,
    {
      ...run,
      workflowtask_id: scene.steps[0]!,
      task_index: 0,
      timestamp_started: second(0),
      timestamp_ended: second(4),
      status: 'failed',
      num_available_images: 3,
      num_new_images: 5,
      workflowtask_dump: '{"task": {"name": "First"}}',
    },
    [
      // two after each other within a second count once, two at the same time twice
      { timestamp_started: '2026-01-01T00:00:00.1Z', timestamp_ended: '2026-01-01T00:00:00.4Z', cpu_seconds: 1.5 },
      { timestamp_started: '2026-01-01T00:00:00.5Z', timestamp_ended: second(3), peak_memory_bytes: 300 },
      {
        timestamp_started: second(1),
        timestamp_ended: '2026-01-01T00:00:01.5Z',
        peak_memory_bytes: 500,
        memory_limit_bytes: 900,
        has_warnings: true,
        cpu_seconds: 0.5,
        scheduler_job_id: 12,
      },
      { timestamp_started: second(3), status: 'failed', scheduler_job_id: 11 },
      { status: 'submitted', scheduler_job_id: 12 },
    ],
  );
  const { tasks, bins } = await ask(job);
  expect(tasks.map((task: { name: string }) => task.name)).toEqual(['First', 'Second']);
  expect(tasks[0]).toEqual({
    workflowtask_id: scene.steps[0],
    task_index: 0,
    name: 'First',
    alias: null,
    history_run_id: first.run,
    status: 'failed',
    timestamp_started: '2026-01-01T00:00:00+00:00',
    timestamp_ended: '2026-01-01T00:00:04+00:00',
    num_available_images: 3,
    num_units: 5,
    num_submitted_units: 1,
    num_done_units: 3,
    num_failed_units: 1,
    num_units_with_warnings: 1,
    num_new_images: 5,
    cpu_seconds: 2,
    peak_memory_bytes: 500,
    memory_limit_bytes: 900,
    scheduler_job_ids: [11, 12],
    is_starting: false,
  });
  expect(tasks[1]).toMatchObject({ alias: 'short', num_units: 0, cpu_seconds: null, scheduler_job_ids: [] });
  expect(bins).toEqual({
    start: '2026-01-01T00:00:00.100000+00:00',
    seconds: 1,
    running: [2, 2, 1, 1],
    finished: [1, 1, 1, 0],
    peak_memory_bytes: [500, 500, 300, 0],
  });
});

it('a unit that runs still does', async () => {
  const job = await addJob(service, {
    project_id: scene.project,
    workflow_id: scene.workflow,
    dataset_id: scene.dataset,
  });
  const started = new Date(Date.now() - 10_000).toISOString();
  const run = { dataset_id: scene.dataset, job_id: job, status: 'submitted' as const };
  await addRunWithUnits(service, run, [{ status: 'submitted', timestamp_started: started }]);
  const { bins } = await ask(job);
  expect(bins.running.length).toBeGreaterThanOrEqual(10);
  expect(bins.running.every((number: number) => number === 1)).toBe(true);
  expect(bins.finished.every((number: number) => number === 0)).toBe(true);
});

it('a hundred thousand units make a small answer', async () => {
  const job = await newJob();
  const { run } = await addRunWithUnits(service, { dataset_id: scene.dataset, job_id: job });
  // 8 slots, each taken for 9 of 10 seconds
  await sql`
    insert into history_units (history_run_id, logfile, status, timestamp_started, timestamp_ended, peak_memory_bytes)
    select ${run}, '/log', 'done', moment, moment + interval '9 seconds', 1000 + number % 7
    from generate_series(0, 99999) as number,
      lateral (select timestamptz '2026-01-01T00:00:00Z' + interval '10 seconds' * (number / 8) as moment) at`.execute(
    service.database.db,
  );
  let answer: Awaited<ReturnType<typeof ask>>;
  const statements = await statementsOf(async () => (answer = await ask(job)));
  const { bins, tasks } = answer;
  expect(tasks[0].num_units).toBe(100_000);
  expect(bins.running.length).toBeLessThanOrEqual(400);
  expect(bins.running.length).toBeGreaterThan(390);
  expect(new Set(bins.running)).toEqual(new Set([8]));
  expect(bins.finished.reduce((total: number, number: number) => total + number, 0)).toBe(100_000);
  expect(new Set(bins.peak_memory_bytes)).toEqual(new Set([1006]));
  expect(JSON.stringify(answer).length).toBeLessThan(10_000);
  expect(statements.length).toBeLessThanOrEqual(7);
});
