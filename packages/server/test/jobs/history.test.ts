import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

import { temporaryFolder } from '../support/file-end.ts';
import { addPerson, addProfile, type Person, shareProject } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';
import { addJob, addRunWithUnits, addScene, type Scene } from '../support/tasks.ts';

const STATUS = '__wftask_dataset_image_status__';

let service: TestService;
let scene: Scene;
let other: Scene;
let client: Client;
let stranger: Person;
let reader: Person;
let job: number;
let working_dir: string;
let runs: { run: number; units: number[] }[];
let base: string;
let task: { dataset_id: number; workflowtask_id: number };

beforeAll(async () => {
  service = await startService({ background: false });
  scene = await addScene(service, ['parallel', 'parallel']);
  other = await addScene(service, ['parallel']);
  ({ client } = scene.owner);
  const profile = await addProfile(service);
  stranger = await addPerson(service, profile);
  reader = await addPerson(service, profile, { is_guest: true });
  await shareProject(service, scene.project, reader, 'r');
  base = `/api/v2/project/${scene.project}/status`;
  task = { dataset_id: scene.dataset, workflowtask_id: scene.steps[0]! };
  working_dir = join(temporaryFolder('history'), 'job');
  await mkdir(working_dir);
  job = await addJob(service, {
    project_id: scene.project,
    workflow_id: scene.workflow,
    dataset_id: scene.dataset,
    status: 'done',
    working_dir,
  });
  const { task_id } = await service.database.db
    .selectFrom('workflow_tasks')
    .select('task_id')
    .where('id', '=', task.workflowtask_id)
    .executeTakeFirstOrThrow();
  await service.database.db
    .updateTable('tasks')
    .set({ args_schema_parallel: '{"a": 1}', version: '7' })
    .where('id', '=', task_id)
    .execute();
  await writeFile(join(working_dir, 'b.log'), 'the log of b');
  const run = { ...task, job_id: job };
  runs = [
    await addRunWithUnits(
      service,
      {
        ...run,
        task_id,
        timestamp_started: '2026-01-01T00:00:00Z',
        timestamp_ended: '2026-01-01T00:10:00Z',
        status: 'failed',
        num_available_images: 5,
        workflowtask_dump: '{"id": 1, "unknown": "kept"}',
      },
      [
        { status: 'done', zarr_urls: ['/d/a'], logfile: join(working_dir, 'missing.log') },
        {
          status: 'failed',
          zarr_urls: ['/d/b'],
          has_warnings: true,
          logfile: join(working_dir, 'b.log'),
          timestamp_started: '2026-01-01T00:00:01Z',
          timestamp_ended: '2026-01-01T00:00:02Z',
          exit_code: 1,
          cause: 'error',
          message: 'It broke.',
          num_warnings: 2,
          cpu_seconds: 0.5,
          peak_memory_bytes: 8_000_000_000,
          memory_limit_bytes: 9_000_000_000,
          scheduler_job_id: 77,
          node: 'n1',
        },
        { status: 'submitted', zarr_urls: ['/d/c'] },
      ],
    ),
    await addRunWithUnits(service, { ...run, timestamp_started: '2026-01-02T00:00:00Z' }),
  ];
  const attributes = [{ plate: 'p1', well: 'B' }, { plate: 'p1', well: 'A' }, { plate: 'p2' }, {}];
  for (const [position, zarr_url] of ['/d/c', '/d/b', '/d/a', '/d/e'].entries()) {
    await service.database.db
      .insertInto('images')
      .values({
        dataset_id: scene.dataset,
        position,
        zarr_url,
        origin: null,
        attributes: JSON.stringify(attributes[position]),
        types: JSON.stringify(position < 2 ? { is_3D: true } : {}),
      })
      .execute();
  }
});

describe('before anything of a history is read', () => {
  const calls: [string, (who: Client, place: { project: number; dataset: number; step: number }) => Promise<number>][] =
    [
      [
        'runs',
        async (who, { project, dataset, step }) =>
          (
            await who.get(`/api/v2/project/${project}/status/run/`, {
              query: { dataset_id: dataset, workflowtask_id: step },
            })
          ).status,
      ],
      [
        'units',
        async (who, { project, dataset, step }) =>
          (
            await who.get(`/api/v2/project/${project}/status/run/${runs[0]!.run}/units/`, {
              query: { dataset_id: dataset, workflowtask_id: step },
            })
          ).status,
      ],
      [
        'images',
        async (who, { project, dataset, step }) =>
          (
            await who.post(
              `/api/v2/project/${project}/status/images/`,
              {},
              { query: { dataset_id: dataset, workflowtask_id: step } },
            )
          ).status,
      ],
      [
        'groups of images',
        async (who, { project, dataset, step }) =>
          (
            await who.post(
              `/api/v2/project/${project}/status/images/groups/`,
              {},
              { query: { dataset_id: dataset, workflowtask_id: step } },
            )
          ).status,
      ],
      [
        'log of an image',
        async (who, { project, dataset, step }) =>
          (
            await who.post(`/api/v2/project/${project}/status/image-log/`, {
              dataset_id: dataset,
              workflowtask_id: step,
              zarr_url: '/d/b',
            })
          ).status,
      ],
      [
        'log of a unit',
        async (who, { project, dataset, step }) =>
          (
            await who.get(`/api/v2/project/${project}/status/unit-log/`, {
              query: {
                dataset_id: dataset,
                workflowtask_id: step,
                history_run_id: runs[0]!.run,
                history_unit_id: runs[0]!.units[1]!,
              },
            })
          ).status,
      ],
    ];

  it.each(calls)('access and places are checked, in this order: %s', async (_, call) => {
    const here = { project: scene.project, dataset: scene.dataset, step: scene.steps[0]! };
    const none = 999_999;
    expect(await call(service.anyone, here)).toBe(401);
    expect(await call(stranger.client, { ...here, step: none })).toBe(404);
    expect(await call(client, { ...here, project: none })).toBe(404);
    expect(await call(stranger.client, { ...here, step: other.steps[0]! })).toBe(403);
    expect(await call(client, { ...here, step: other.steps[0]!, dataset: none })).toBe(422);
    expect(await call(client, { ...here, dataset: none })).toBe(404);
    expect(await call(client, { ...here, dataset: other.dataset })).toBe(422);
    expect(await call(reader.client, here)).toBe(200);
  });
});

describe('runs', () => {
  it('come oldest first, with the task as it is now and as it was', async () => {
    const { status, body } = await client.get(`${base}/run/`, { query: task });
    expect(status).toBe(200);
    expect(body).toEqual([
      {
        id: runs[0]!.run,
        timestamp_started: '2026-01-01T00:00:00+00:00',
        workflowtask_dump: { id: 1, unknown: 'kept' },
        num_submitted_units: 1,
        num_done_units: 1,
        num_failed_units: 1,
        num_units_with_warnings: 1,
        args_schema_parallel: { a: 1 },
        args_schema_non_parallel: null,
        version: '7',
        status: 'failed',
        job_id: job,
        num_available_images: 5,
        timestamp_ended: '2026-01-01T00:10:00+00:00',
      },
      {
        id: runs[1]!.run,
        timestamp_started: '2026-01-02T00:00:00+00:00',
        workflowtask_dump: {},
        num_submitted_units: 0,
        num_done_units: 0,
        num_failed_units: 0,
        num_units_with_warnings: 0,
        args_schema_parallel: null,
        args_schema_non_parallel: null,
        version: null,
        status: 'done',
        job_id: job,
        num_available_images: 0,
        timestamp_ended: null,
      },
    ]);
  });

  it('are none where a task never ran', async () => {
    const { body } = await client.get(`${base}/run/`, { query: { ...task, workflowtask_id: scene.steps[1]! } });
    expect(body).toEqual([]);
  });
});

describe('units', () => {
  const units = (query: object = {}, run = runs[0]!.run) =>
    client.get(`${base}/run/${run}/units/`, { query: { ...task, ...query } });

  it('tell what happened to them', async () => {
    const { body } = await units({ page: 2, page_size: 1 });
    expect(body).toEqual({
      current_page: 2,
      page_size: 1,
      total_count: 3,
      items: [
        {
          id: runs[0]!.units[1],
          logfile: join(working_dir, 'b.log'),
          has_warnings: true,
          status: 'failed',
          zarr_urls: ['/d/b'],
          is_init: false,
          timestamp_started: '2026-01-01T00:00:01+00:00',
          timestamp_ended: '2026-01-01T00:00:02+00:00',
          exit_code: 1,
          signal: null,
          cause: 'error',
          message: 'It broke.',
          num_warnings: 2,
          cpu_seconds: 0.5,
          peak_memory_bytes: 8_000_000_000,
          memory_limit_bytes: 9_000_000_000,
          scheduler_job_id: 77,
          node: 'n1',
        },
      ],
    });
  });

  it.each([
    [{}, [0, 1, 2], 3],
    [{ unit_status: 'failed' }, [1], 1],
    [{ page: 2, page_size: 2 }, [2], 3],
    [{ page: 9, page_size: 2 }, [], 3],
  ])('come by id, filtered and in pages: %j', async (query, expected, total) => {
    const { body } = await units(query);
    expect(body.items.map((unit: { id: number }) => runs[0]!.units.indexOf(unit.id))).toEqual(expected);
    expect(body.total_count).toBe(total);
  });

  it('that have ended come with the last one first', async () => {
    const urls = ['/d/1', '/d/2', '/d/3'];
    const { run, units: made } = await addRunWithUnits(
      service,
      { ...task, workflowtask_id: scene.steps[1]!, job_id: job },
      urls.map((zarr_url) => ({ status: 'submitted' as const, zarr_urls: [zarr_url] })),
    );
    for (const at of [2, 0])
      await service.database.db
        .updateTable('history_units')
        .set({ timestamp_ended: '2026-01-03T00:00:00Z' })
        .where('id', '=', made[at]!)
        .execute();
    const { body } = await units({ workflowtask_id: scene.steps[1]!, ended: true, page: 1, page_size: 5 }, run);
    expect(body.items.map((unit: { id: number }) => made.indexOf(unit.id))).toEqual([0, 2]);
    expect(body.total_count).toBe(2);
  });

  it('are refused for a run that is not there or not of this task', async () => {
    expect((await units({}, 999_999)).status).toBe(404);
    const foreign = await addRunWithUnits(service, { ...task, workflowtask_id: scene.steps[1]!, job_id: job });
    expect((await units({}, foreign.run)).status).toBe(422);
    expect((await units({ unit_status: 'unset' })).status).toBe(422);
    expect((await units({ page: 2 })).status).toBe(422);
  });
});

describe('images with their status', () => {
  const query = (body: object = {}, extra: object = {}) =>
    client.post(`${base}/images/`, body, { query: { ...task, ...extra } });
  const urls = (items: { zarr_url: string }[]) => items.map((item) => item.zarr_url.at(-1)).join('');
  const COUNTS = { done: 1, submitted: 1, failed: 1, unset: 1 };

  it('are sorted by address and carry the status as an attribute', async () => {
    const { status, body } = await query();
    expect(status).toBe(200);
    expect(body).toMatchObject({ current_page: 1, page_size: 4, total_count: 4, status_counts: COUNTS });
    expect(body.items.slice(0, 2)).toEqual([
      {
        zarr_url: '/d/a',
        origin: null,
        attributes: { plate: 'p2', [STATUS]: 'done' },
        types: {},
        has_warnings: null,
      },
      {
        zarr_url: '/d/b',
        origin: null,
        attributes: { plate: 'p1', well: 'A', [STATUS]: 'failed' },
        types: { is_3D: true },
        has_warnings: null,
      },
    ]);
    expect(body.attributes).toEqual({
      plate: ['p1', 'p2'],
      well: ['A', 'B'],
      [STATUS]: ['done', 'submitted', 'failed', 'unset'],
    });
    expect(body.types).toEqual(['is_3D']);
  });

  it.each<[object, object, string, number]>([
    [{}, {}, 'abce', 4],
    [{}, { page: 2, page_size: 3 }, 'e', 4],
    [{}, { page: 3, page_size: 3 }, '', 4],
    [{}, { page: 1, page_size: 2, sort: '-zarr_url' }, 'ec', 4],
    [{}, { sort: 'status' }, 'bcae', 4],
    [{}, { sort: '-status' }, 'eacb', 4],
    [{}, { sort: 'status', page: 1, page_size: 1 }, 'b', 4],
    [{}, { sort: 'attribute:well' }, 'bcae', 4],
    [{}, { sort: '-attribute:well', page: 1, page_size: 1 }, 'c', 4],
    [{ type_filters: { is_3D: true } }, {}, 'bc', 2],
    [{ attribute_filters: { plate: ['p2'] } }, {}, 'a', 1],
    [{ attribute_filters: { [STATUS]: ['failed', 'unset'] } }, {}, 'be', 2],
    [{ attribute_filters: { [STATUS]: ['failed', 'unset'] } }, { page: 2, page_size: 1 }, 'e', 2],
    [{ attribute_filters: { [STATUS]: ['failed'], plate: ['p2'] } }, {}, '', 0],
    [{ attribute_filters: { [STATUS]: ['nonsense'] } }, {}, '', 0],
  ])('are filtered, sorted and paged: %j %j', async (body, extra, expected, total) => {
    const answer = await query(body, extra);
    expect([urls(answer.body.items), answer.body.total_count]).toEqual([expected, total]);
  });

  it('are counted by status without the filter on the status', async () => {
    const { body } = await query({ attribute_filters: { [STATUS]: ['done'], plate: ['p1', 'p2'] } });
    expect(body.status_counts).toEqual({ ...COUNTS, unset: 0 });
  });

  it('tell of warnings and of units where asked', async () => {
    const warned = (await query({}, { include_warnings: true })).body.items;
    expect(warned.map((item: { has_warnings: boolean }) => item.has_warnings)).toEqual([false, true, false, false]);
    const items = (await query({}, { include_units: true })).body.items;
    expect(items[1].unit).toEqual({
      id: runs[0]!.units[1],
      history_run_id: runs[0]!.run,
      started: true,
      timestamp_started: '2026-01-01T00:00:01+00:00',
      timestamp_ended: '2026-01-01T00:00:02+00:00',
      cause: 'error',
      message: 'It broke.',
      num_warnings: 2,
      peak_memory_bytes: 8_000_000_000,
    });
    expect([items[2].unit.started, items[3].unit]).toEqual([false, null]);
  });

  it.each(['nonsense', 'attribute:', '-'])('are not sorted by %s', async (sort) => {
    expect((await query({}, { sort })).status).toBe(422);
  });
});

describe('images by the values of attributes', () => {
  const counted = (body: object = {}, query: Record<string, number> = task) =>
    client.post(`${base}/images/groups/`, body, { query });
  const NONE = { done: 0, submitted: 0, failed: 0, unset: 0 };
  const REST = { num_running: 0, num_stopped: 0, num_with_warnings: 0 };
  const group = (values: object, counts: object | null, more: object = {}) => ({
    values,
    num_images: 1,
    counts: counts && { ...NONE, ...counts },
    ...REST,
    newest_unit_id: Object.keys(counts ?? {}).some((one) => one !== 'unset') ? (expect.any(Number) as number) : null,
    ...more,
  });

  it('are wells of plates where nothing else is said, in their order', async () => {
    const { status, body } = await counted();
    expect(status).toBe(200);
    expect(body).toEqual({
      num_groups: 4,
      groups: [
        group({ plate: 'p1', well: 'A' }, { failed: 1 }),
        group({ plate: 'p1', well: 'B' }, { submitted: 1 }),
        group({ plate: 'p2' }, { done: 1 }),
        group({}, { unset: 1 }),
      ],
    });
  });

  it.each<[object, [object, number, object | null][]]>([
    [
      { by: ['plate'] },
      [
        [{ plate: 'p1' }, 2, { failed: 1, submitted: 1 }],
        [{ plate: 'p2' }, 1, { done: 1 }],
        [{}, 1, { unset: 1 }],
      ],
    ],
    [
      { by: ['well'], attribute_filters: { plate: ['p1'] } },
      [
        [{ well: 'A' }, 1, { failed: 1 }],
        [{ well: 'B' }, 1, { submitted: 1 }],
      ],
    ],
    [{ by: ['nothing'] }, [[{}, 4, { done: 1, submitted: 1, failed: 1, unset: 1 }]]],
    [{ by: ['plate'], attribute_filters: { [STATUS]: ['failed'] } }, [[{ plate: 'p1' }, 1, { failed: 1 }]]],
    [{ by: ['plate'], type_filters: { is_3D: true } }, [[{ plate: 'p1' }, 2, { failed: 1, submitted: 1 }]]],
    [{ attribute_filters: { plate: ['p9'] } }, []],
  ])('are filtered, and grouped by what was asked for: %j', async (body, expected) => {
    const answer = (await counted(body)).body;
    expect(answer).toEqual({
      num_groups: expected.length,
      groups: expected.map(([values, num_images, counts]) => group(values, counts, { num_images })),
    });
  });

  it('are only counted without a task', async () => {
    const alone = { dataset_id: scene.dataset };
    expect((await counted({ by: ['plate'] }, alone)).body.groups).toEqual([
      group({ plate: 'p1' }, null, { num_images: 2 }),
      group({ plate: 'p2' }, null),
      group({}, null),
    ]);
    expect((await counted({ attribute_filters: { [STATUS]: ['done'] } }, alone)).body.groups).toEqual([]);
    const path = `${base}/images/groups/`;
    expect((await stranger.client.post(path, {}, { query: alone })).status).toBe(403);
    expect((await reader.client.post(path, {}, { query: alone })).status).toBe(200);
    expect((await counted({}, { dataset_id: other.dataset })).status).toBe(404);
  });

  it('tell what is running, stopped, or done with warnings', async () => {
    const { db } = service.database;
    const started = { timestamp_started: '2026-01-03T00:00:00Z' };
    const { dataset, steps, project, owner } = await addScene(service, ['parallel']);
    const step = { dataset_id: dataset, workflowtask_id: steps[0]! };
    await addRunWithUnits(service, { ...step, job_id: job, ...started }, [
      { status: 'submitted', zarr_urls: ['/w/1'], ...started },
      { status: 'submitted', zarr_urls: ['/w/2'] },
      { status: 'failed', zarr_urls: ['/w/3'], cause: 'stopped' },
      { status: 'failed', zarr_urls: ['/w/4'], cause: 'memory', has_warnings: true },
      { status: 'done', zarr_urls: ['/w/5'], has_warnings: true },
      { status: 'done', zarr_urls: ['/w/6'] },
    ]);
    const rows = Array.from({ length: 7 }, (_, position) => ({
      dataset_id: dataset,
      position,
      zarr_url: `/w/${position + 1}`,
      origin: null,
      attributes: JSON.stringify({ plate: 1, well: position < 3 ? 1 : 2.5 }),
      types: '{}',
    }));
    await db.insertInto('images').values(rows).execute();
    const path = `/api/v2/project/${project}/status/images/groups/`;
    const { body } = await owner.client.post(path, {}, { query: step });
    expect(body.groups).toEqual([
      group(
        { plate: 1, well: 1 },
        { submitted: 2, failed: 1 },
        { num_images: 3, num_running: 1, num_stopped: 1, num_with_warnings: 0 },
      ),
      group(
        { plate: 1, well: 2.5 },
        { failed: 1, done: 2, unset: 1 },
        { num_images: 4, num_running: 0, num_stopped: 0, num_with_warnings: 1 },
      ),
    ]);
    expect(body.groups[1].newest_unit_id).toBeGreaterThan(body.groups[0].newest_unit_id);
  });

  it.each([[[]], [['a', 'b', 'c', 'd']], [['']], ['well'], [[1]]])('are not grouped by %j', async (by) => {
    expect((await counted({ by })).status).toBe(422);
  });
});

describe('logs', () => {
  const ofImage = (zarr_url: string) => client.post(`${base}/image-log/`, { ...task, zarr_url });
  const ofUnit = (query: object) =>
    client.get(`${base}/unit-log/`, {
      query: { ...task, history_run_id: runs[0]!.run, history_unit_id: runs[0]!.units[1]!, ...query },
    });

  it('are the text of the unit', async () => {
    expect((await ofImage('/d/b')).body).toBe('the log of b');
    expect((await ofUnit({})).body).toBe('the log of b');
  });

  it('are a sentence where there is no file', async () => {
    const { status, body } = await ofImage('/d/a');
    expect([status, body]).toEqual([
      200,
      'The log of task "Task 0" on dataset "Data" is not available. Its files may have been removed.',
    ]);
    expect(service.log.filter(({ message }) => message.includes('missing.log')).map(({ level }) => level)).toEqual([
      'warning',
    ]);
  });

  it('are a sentence where the file cannot be read', async () => {
    await mkdir(join(working_dir, 'folder.log'));
    const { units } = await addRunWithUnits(service, { ...task, job_id: job }, [
      { logfile: join(working_dir, 'folder.log', 'b\u0001'.repeat(200)), zarr_urls: ['/d/long'] },
    ]);
    expect(units).toHaveLength(1);
    const { status, body } = await ofImage('/d/long');
    expect([status, body]).toEqual([
      200,
      'The log of task "Task 0" on dataset "Data" could not be read. Try again, or ask an administrator.',
    ]);
  });

  it('are refused where there is no such unit', async () => {
    expect((await ofImage('/d/e')).status).toBe(404);
    expect((await ofImage('/d/b/')).status).toBe(404);
    expect((await ofUnit({ history_unit_id: 999_999 })).status).toBe(404);
    expect((await ofUnit({ history_run_id: runs[1]!.run })).status).toBe(422);
    expect((await ofUnit({ workflowtask_id: scene.steps[1]! })).status).toBe(422);
  });
});
