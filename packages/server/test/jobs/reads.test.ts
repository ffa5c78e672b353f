import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

import { listJobs } from '../../src/jobs/reads.ts';
import { temporaryFolder } from '../support/file-end.ts';
import { addWorkflow } from '../support/people.ts';
import { addPerson, addProfile, addProject, type Person, shareProject } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';
import { addDataset, addJob, addScene, addRunWithUnits, type Scene } from '../support/tasks.ts';

const EVERYWHERE = { page: 1, page_size: null, log: true };

let service: TestService;
let scene: Scene;
let client: Client;
let reader: Person;
let invited: Person;
let stranger: Person;
let guest: Person;
/** From the oldest to the newest. */
let jobs: number[];
let otherWorkflow: number;
let base: string;
let resource_id: number;

const idsOf = (items: { id: number }[]) => items.map((job) => jobs.indexOf(job.id));

beforeAll(async () => {
  service = await startService({ background: false });
  scene = await addScene(service, ['parallel']);
  client = scene.owner.client;
  const profile = await addProfile(service);
  reader = await addPerson(service, profile);
  invited = await addPerson(service, profile);
  stranger = await addPerson(service, profile);
  guest = await addPerson(service, profile, { is_guest: true });
  await shareProject(service, scene.project, reader, 'r');
  await shareProject(service, scene.project, invited, 'rwx', false);
  await shareProject(service, scene.project, guest, 'rwx');
  otherWorkflow = await addWorkflow(service, scene.project, 'another');
  const otherDataset = await addDataset(service, scene.project, 'another');
  const { project: project_id, workflow: workflow_id, dataset: dataset_id } = scene;
  const at = (minute: number) => ({ start_timestamp: `2026-03-01T10:0${minute}:00.5Z` });
  jobs = [
    await addJob(service, { project_id, workflow_id, dataset_id, status: 'done', log: 'zero', ...at(0) }),
    await addJob(service, {
      project_id,
      workflow_id,
      dataset_id: otherDataset,
      status: 'failed',
      log: 'one',
      ...at(1),
    }),
    await addJob(service, {
      project_id,
      workflow_id: otherWorkflow,
      dataset_id,
      status: 'submitted',
      user_email: 'other@example.org',
      ...at(2),
    }),
  ];
  base = `/api/v2/project/${project_id}`;
  ({ resource_id } = await service.database.db
    .selectFrom('projects')
    .select('resource_id')
    .where('id', '=', project_id)
    .executeTakeFirstOrThrow());
});

describe('a job', () => {
  it('has every field, in the order of the contract', async () => {
    const id = jobs[1]!;
    const stored = { id: scene.project, name: 'P', timestamp_created: 'then', description: 'not shown' };
    const failure = { kind: 'task', workflowtask_id: scene.steps[0]!, message: 'It failed.', num_images: 3 } as const;
    await service.database.db
      .updateTable('jobs')
      .set({
        project_dump: JSON.stringify(stored),
        failure: JSON.stringify(failure),
        attribute_filters: '{"plate": ["a", "b"]}',
        type_filters: '{"is_3D": true}',
        end_timestamp: '2026-03-01T11:00:00Z',
        stop_requested_at: '2026-03-01T10:59:00Z',
        stop_requested_by: 'somebody@example.org',
        timestamp_first_unit: '2026-03-01T10:02:00Z',
      })
      .where('id', '=', id)
      .execute();
    const { body } = await client.get(`${base}/job/${id}/`);
    expect(Object.entries(body).map(([key, value]) => [key, value])).toEqual([
      ['id', id],
      ['project_id', scene.project],
      ['project_dump', { id: scene.project, name: 'P', timestamp_created: 'then' }],
      ['user_email', 'somebody@example.org'],
      ['slurm_account', null],
      ['workflow_id', scene.workflow],
      ['workflow_dump', body.workflow_dump],
      ['dataset_id', body.dataset_id],
      ['dataset_dump', body.dataset_dump],
      ['start_timestamp', '2026-03-01T10:01:00.500000+00:00'],
      ['end_timestamp', '2026-03-01T11:00:00+00:00'],
      ['status', 'failed'],
      ['log', 'one'],
      ['executor_error_log', null],
      ['working_dir', null],
      ['working_dir_user', null],
      ['first_task_index', 0],
      ['last_task_index', 0],
      ['worker_init', null],
      ['attribute_filters', { plate: ['a', 'b'] }],
      ['type_filters', { is_3D: true }],
      ['fractal_server_version', '0'],
      ['resource_id', resource_id],
      ['stop_requested_at', '2026-03-01T10:59:00+00:00'],
      ['stop_requested_by', 'somebody@example.org'],
      ['timestamp_first_unit', '2026-03-01T10:02:00+00:00'],
      ['failure', failure],
      ['workflow_log', null],
      ['archive_bytes', null],
    ]);
    expect(Object.keys(body.dataset_dump)).toEqual(['id', 'name', 'project_id', 'timestamp_created', 'zarr_dir']);
  });

  it('is the same in a list and on a page, number for number', async () => {
    const odd = '"workflow_dump" : null, "dataset_dump" : null, \\"log" : "\n';
    const number = '[12345678901234567890, 1.0, 0.10]';
    const dump = { id: 1, name: odd, project_id: scene.project, timestamp_created: odd, zarr_dir: odd, more: odd };
    const times = { start_timestamp: '2026-03-01T10:01:00Z', end_timestamp: '2026-03-01T10:01:00.000001Z' };
    const workflow_id = await addWorkflow(service, scene.project, 'listed');
    const written = { slurm_account: odd, log: odd, attribute_filters: `{"size": ${number}}`, ...times };
    const id = await addJob(service, {
      ...{ project_id: scene.project, workflow_id, dataset_id: null, status: 'failed' as const },
      ...written,
      ...{
        project_dump: JSON.stringify(dump),
        workflow_dump: JSON.stringify(dump),
        dataset_dump: JSON.stringify(dump),
      },
    });
    const { body: single } = await client.get(`${base}/job/${id}/`);
    // what only a single job has
    const job: Record<string, unknown> = { ...single };
    for (const name of ['workflow_log', 'archive_bytes']) delete job[name];
    const list = await client.get(`${base}/job/?workflow_id=${workflow_id}`);
    const page = await client.get(`${base}/job/?workflow_id=${workflow_id}&page_size=10`);
    expect(job).toMatchObject({ log: odd, end_timestamp: '2026-03-01T10:01:00.000001+00:00' });
    expect(Object.entries(list.body[0])).toEqual(Object.entries(job));
    expect(list.body).toHaveLength(1);
    expect(page.body).toEqual({ current_page: 1, page_size: 10, total_count: 1, items: list.body });
    for (const { text } of [list, page]) expect(text).toContain(number);
    const without = await client.get(`${base}/job/?workflow_id=${workflow_id}&log=false`);
    expect(without.body).toEqual([{ ...job, log: null }]);
    await service.database.db.deleteFrom('jobs').where('id', '=', id).execute();
  });

  it('shows what it has written so far, where that is asked for and the job is not over', async () => {
    const working_dir = join(temporaryFolder('reads'), 'job');
    await mkdir(working_dir);
    await writeFile(join(working_dir, 'workflow.log'), 'so far');
    const { db } = service.database;
    await db.updateTable('jobs').set({ working_dir }).where('id', 'in', [jobs[0]!, jobs[2]!]).execute();
    const read = async (index: number, query = '') => {
      const { body } = await client.get(`${base}/job/${jobs[index]}/${query}`);
      return [body.log, body.workflow_log];
    };
    expect(await read(2)).toEqual([null, 'so far']);
    expect(await read(2, '?show_tmp_logs=true')).toEqual(['so far', 'so far']);
    expect(await read(0, '?show_tmp_logs=true')).toEqual(['zero', 'so far']);
    const download = await client.get(`${base}/job/${jobs[0]}/download/`);
    expect([download.status, download.headers.get('content-type')]).toEqual([200, 'application/x-zip-compressed']);
    expect(download.headers.get('content-disposition')).toContain('job_archive.zip');
  });
});

describe('lists of jobs', () => {
  it.each([
    ['all of mine', '/api/v2/job/', [2, 1, 0]],
    ['of a project', '{base}/job/', [2, 1, 0]],
    ['of a workflow', '{base}/workflow/{workflow}/job/', [1, 0]],
    ['of a status', '/api/v2/job/?status=done', [0]],
    ['of a workflow, among all', '/api/v2/job/?workflow_id={other}', [2]],
    ['of another project, among all', '/api/v2/job/?project_id=999999', []],
    ['of a dataset', '{base}/job/?dataset_id={dataset}', [2, 0]],
    ['of a person', '{base}/job/?user_email=other@example.org', [2]],
    ['of a workflow with a filter', '{base}/workflow/{workflow}/job/?status=failed', [1]],
  ])('%s', async (_, path, expected) => {
    const filled = path
      .replace('{base}', base)
      .replace('{workflow}', String(scene.workflow))
      .replace('{other}', String(otherWorkflow))
      .replace('{dataset}', String(scene.dataset));
    const { status, body } = await client.get(filled);
    expect([status, idsOf(body)]).toEqual([200, expected]);
  });

  it.each(['/api/v2/job/', '{base}/job/', '{base}/workflow/{workflow}/job/'])(
    'leave out logs and come in pages where asked: %s',
    async (path) => {
      const filled = path.replace('{base}', base).replace('{workflow}', String(scene.workflow));
      const complete = (await client.get(filled)).body;
      expect(complete.map((job: { log: string | null }) => job.log)).toContain('one');
      const bare = (await client.get(`${filled}?log=false`)).body;
      expect(bare.map((job: { log: string | null }) => job.log)).toEqual(complete.map(() => null));
      const total_count = complete.length;
      const { body } = await client.get(`${filled}?page=2&page_size=1`);
      expect(body).toEqual({ current_page: 2, page_size: 1, total_count, items: [complete[1]] });
      const past = await client.get(`${filled}?page=9&page_size=1`);
      expect(past.body).toEqual({ current_page: 9, page_size: 1, total_count, items: [] });
    },
  );

  it.each(['page=2', 'page=0&page_size=1', 'page_size=0'])('refuse %s in words', async (query) => {
    const { status, body } = await client.get(`/api/v2/job/?${query}`);
    expect([status, typeof body.detail]).toEqual([422, 'string']);
  });

  it('hold at most as many as an administrator allows, the newest; pages are not cut', async () => {
    const { db } = service.database;
    const filter = { project_id: scene.project };
    const listed = async (page: Parameters<typeof listJobs>[2], most: number | null) =>
      JSON.parse((await listJobs(db, filter, page, most)).answer.text) as unknown;
    expect(idsOf((await listed(EVERYWHERE, 2)) as { id: number }[])).toEqual([2, 1]);
    expect(idsOf((await listed(EVERYWHERE, null)) as { id: number }[])).toEqual([2, 1, 0]);
    expect(await listed({ ...EVERYWHERE, page_size: 3 }, 2)).toMatchObject({ total_count: 3 });
  });

  it('cost as many statements for many jobs as for one', async () => {
    const small = await addScene(service, []);
    const { project: project_id, workflow: workflow_id, owner } = small;
    const list = () => statementsOf(() => owner.client.get('/api/v2/job/'));
    await addJob(service, { project_id, workflow_id, dataset_id: null, status: 'done' });
    const one = await list();
    for (let more = 0; more < 5; more++)
      await addJob(service, { project_id, workflow_id, dataset_id: null, status: 'done' });
    expect(await list()).toEqual(one);
  });
});

describe('the newest job of all', () => {
  it('is the first of the list', async () => {
    expect(idsOf([(await client.get('/api/v2/job/latest/')).body])).toEqual([2]);
    expect(idsOf([(await client.get(`/api/v2/job/latest/?workflow_id=${scene.workflow}`)).body])).toEqual([1]);
    expect(
      idsOf([(await client.get(`/api/v2/job/latest/?dataset_id=${scene.dataset}&workflow_id=${scene.workflow}`)).body]),
    ).toEqual([0]);
  });

  it('is refused with 404 where there is none', async () => {
    expect((await stranger.client.get('/api/v2/job/latest/')).status).toBe(404);
    expect((await client.get('/api/v2/job/latest/?project_id=999999')).status).toBe(404);
  });
});

describe('who may read', () => {
  const PATHS = [
    'job/',
    'job/{job}/',
    'job/{job}/download/',
    'job/{job}/timeline/',
    'job/{job}/workflow/',
    'job/{job}/queue/',
  ];
  const urlOf = (path: string) => `${base}/${path.replace('{job}', String(jobs[0]))}`;

  it.each(PATHS)('%s: everybody with a link, nobody else', async (path) => {
    const statuses = await Promise.all(
      [client, reader.client, guest.client, invited.client, stranger.client, service.anyone].map(
        async (who) => (await who.get(urlOf(path))).status,
      ),
    );
    expect(statuses).toEqual([200, 200, 200, 403, 403, 401]);
  });

  it('sees jobs of projects with an accepted link in the list of all', async () => {
    const numbers = await Promise.all(
      [client, reader.client, guest.client, invited.client, stranger.client].map(
        async (who) => (await who.get('/api/v2/job/')).body.length,
      ),
    );
    expect(numbers).toEqual([3, 3, 3, 0, 0]);
  });

  it.each([
    ['an unknown project', '/api/v2/project/999999/job/', 404],
    ['an unknown workflow', '{base}/workflow/999999/job/', 404],
    ['an unknown job', '{base}/job/999999/', 404],
    ['an id that is no number', '{base}/job/x/', 422],
    ['a job of another project', '{elsewhere}', 404],
    ['a workflow of another project', '{workflow elsewhere}', 404],
  ])('is told about %s', async (_, path, expected) => {
    const project = await addProject(service, scene.owner, `Elsewhere ${Math.random()}`);
    const workflow = await addWorkflow(service, project);
    const filled = path
      .replace('{base}', base)
      .replace('{elsewhere}', `/api/v2/project/${project}/job/${jobs[0]}/`)
      .replace('{workflow elsewhere}', `${base}/workflow/${workflow}/job/`);
    expect((await client.get(filled)).status).toBe(expected);
  });
});

describe('what a job waits for', () => {
  it('is a place, behind the jobs of the same resource that came earlier and have not begun', async () => {
    const here = await addScene(service, []);
    const elsewhere = await addScene(service, []);
    const { db } = service.database;
    const submit = async (place: Scene, start_timestamp: string) =>
      addJob(service, {
        project_id: place.project,
        workflow_id: place.workflow,
        dataset_id: await addDataset(service, place.project),
        start_timestamp,
      });
    const first = await submit(here, '2026-01-01T00:00:00Z');
    await submit(elsewhere, '2026-01-01T00:00:01Z');
    const second = await submit(here, '2026-01-01T00:00:02Z');
    const ask = async (job: number) =>
      (await here.owner.client.get(`/api/v2/project/${here.project}/job/${job}/queue/`)).body;
    expect(await ask(first)).toEqual({
      state: 'waiting',
      jobs_ahead: 0,
      reason: 'This job is next and starts when a slot is free.',
    });
    expect(await ask(second)).toEqual({
      state: 'waiting',
      jobs_ahead: 1,
      reason: '1 job submitted earlier on the same resource has not started either.',
    });
    await db
      .updateTable('jobs')
      .set({ timestamp_first_unit: '2026-01-01T00:01:00Z' })
      .where('id', '=', first)
      .execute();
    expect(await ask(first)).toEqual({ state: 'running', jobs_ahead: null, reason: null });
    // jobs that run share the slots with who comes later
    expect(await ask(second)).toMatchObject({ state: 'waiting', jobs_ahead: 0 });
    await db.updateTable('jobs').set({ status: 'failed' }).where('id', '=', first).execute();
    expect(await ask(first)).toEqual({ state: 'ended', jobs_ahead: null, reason: null });
    expect(await ask(second)).toMatchObject({ jobs_ahead: 0 });
  });
});

describe('the workflow as a job ran it', () => {
  const workflowtask = {
    id: 1,
    workflow_id: 1,
    order: 0,
    meta_parallel: { mem: 1 },
    meta_non_parallel: null,
    args_parallel: { a: 1.5 },
    args_non_parallel: null,
    type_filters: { is_3D: true },
    task_type: 'parallel',
    task_id: 3,
    alias: 'short',
    description: 'long',
  };
  const task = { id: 3, name: 'Measure', version: '7' };
  const task_group = { id: 4, pkg_name: 'pkg', version: '1.2' };
  const exported = {
    meta_non_parallel: null,
    meta_parallel: { mem: 1 },
    args_non_parallel: null,
    args_parallel: { a: 1.5 },
    type_filters: { is_3D: true },
    description: 'long',
    alias: 'short',
    task: { pkg_name: 'pkg', version: '1.2', name: 'Measure' },
  };
  const add = (fields: object) =>
    addJob(service, {
      project_id: scene.project,
      workflow_id: scene.workflow,
      dataset_id: scene.dataset,
      status: 'done',
      start_timestamp: '2025-01-01T00:00:00Z',
      ...fields,
    });
  const ask = async (job: number) => (await client.get(`${base}/job/${job}/workflow/`)).body;

  it('comes from the snapshot', async () => {
    const job = await add({ snapshot: JSON.stringify({ tasks: [{ workflowtask, task, task_group }] }) });
    expect(await ask(job)).toEqual({ name: 'the flow', description: null, task_list: [exported] });
  });

  it('comes from the runs of older jobs, in order', async () => {
    const job = await add({});
    const dumps = (name: string) => ({
      workflowtask_dump: JSON.stringify({ ...workflowtask, task: { ...task, name } }),
      task_group_dump: JSON.stringify(task_group),
    });
    const run = { dataset_id: scene.dataset, job_id: job };
    await addRunWithUnits(service, { ...run, ...dumps('Second'), timestamp_started: '2025-01-01T00:02:00Z' });
    await addRunWithUnits(service, { ...run, ...dumps('First'), timestamp_started: '2025-01-01T00:01:00Z' });
    expect((await ask(job)).task_list).toEqual(
      ['First', 'Second'].map((name) => ({ ...exported, task: { ...exported.task, name } })),
    );
  });

  it('is empty where nothing began', async () => {
    expect(await ask(await add({}))).toEqual({ name: 'the flow', description: null, task_list: [] });
  });
});
