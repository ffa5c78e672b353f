/** Submitting a job: who may, what is checked in which order, what is read from the body, and what it leaves. */
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';

import type { JsonObject } from '@service/contract';

import { dataFolder, type Flow, type Lab, openLab } from '../support/lab.ts';
import { addPerson, shareProject } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';
import { addJob, addResourceAndProfile, addTaskGroup } from '../support/tasks.ts';

let service: TestService;
let lab: Lab;
let flow: Flow;

beforeAll(async () => {
  service = await startService({ background: false, settings: { SERVICE_DATA_DIR: dataFolder() } });
  lab = await openLab(service);
  flow = await lab.workflow([{ type: 'parallel' }, { type: 'parallel' }, { type: 'parallel' }]);
});

const submitAs = (
  client: Client,
  place: { project?: number; workflow_id: number; dataset_id: number },
  body: unknown,
) => {
  const { project = lab.project, ...query } = place;
  return client.post(`/api/v2/project/${project}/job/submit/`, body, { query });
};

const everybody = () =>
  service.database.db.selectFrom('user_groups').select('id').where('name', '=', 'All').executeTakeFirstOrThrow();

describe('who may submit', () => {
  let people: Record<string, Client>;

  beforeAll(async () => {
    const { id: user_group_id } = await everybody();
    await service.database.db.updateTable('task_groups').set({ user_group_id }).where('id', '=', lab.group).execute();
    const member = async (permissions: 'r' | 'rw' | 'rwx', fields = {}, verified = true) => {
      const person = await addPerson(service, lab.profile_id, fields);
      await shareProject(service, lab.project, person, permissions, verified);
      return person.client;
    };
    people = {
      owner: lab.owner.client,
      'guest with rwx': await member('rwx'),
      'guest with rw': await member('rw'),
      'guest with r': await member('r'),
      'invited with rwx': await member('rwx', {}, false),
      'guest user with rwx': await member('rwx', { is_guest: true }),
      'unverified user with rwx': await member('rwx', { patch: {} }),
      stranger: (await addPerson(service, lab.profile_id)).client,
      superuser: service.admin,
      anybody: service.anyone,
      'somebody without a profile': (await service.person({ patch: { is_verified: true } })).client,
    };
  });

  it.each([
    ['owner', 202],
    ['guest with rwx', 202],
    ['guest with rw', 403],
    ['guest with r', 403],
    ['invited with rwx', 403],
    ['guest user with rwx', 403],
    ['unverified user with rwx', 403],
    ['stranger', 403],
    ['superuser', 403],
    ['anybody', 401],
    ['somebody without a profile', 403],
  ])('%s: %i', async (who, expected) => {
    const { status } = await submitAs(people[who]!, { workflow_id: flow.id, dataset_id: await lab.dataset() }, {});
    expect(status).toBe(expected);
  });
});

it('every problem shows when those before it are solved', async () => {
  const { db } = service.database;
  const caller = await addPerson(service, (await addResourceAndProfile(service)).profile_id);
  const elsewhere = await addResourceAndProfile(service);
  const lab = await openLab(service);
  const [group, resource] = [
    await addTaskGroup(service, { user_id: lab.owner.id, resource_id: elsewhere.resource_id, active: false }),
    lab.resource_id,
  ];
  const empty = await lab.workflow([]);
  const broken = await lab.workflow([
    { type: 'parallel', group, input_types: { x: true }, type_filters: { x: false } },
    { type: 'parallel', group },
  ]);
  const dataset_id = await lab.dataset();
  await addJob(service, { project_id: lab.project, workflow_id: null, dataset_id });
  const ofGroup = (set: object) => db.updateTable('task_groups').set(set).where('id', '=', group).execute();
  const ofResource = (set: object) => db.updateTable('resources').set(set).where('id', '=', resource).execute();
  await ofResource({ prevent_new_submissions: true, tasks_python_config: '{}' });
  await db
    .updateTable('users')
    .set({ slurm_accounts: ['mine'] })
    .where('id', '=', caller.id)
    .execute();
  const request = { project: 10 ** 6, workflow_id: 10 ** 6, dataset_id: 10 ** 6 };
  const body: JsonObject = { first_task_index: 0, last_task_index: 2, slurm_account: 'theirs' };

  const steps: [string, () => unknown, number, RegExp][] = [
    ['unknown project', () => undefined, 404, /project/],
    ['not shared', () => (request.project = lab.project), 403, /./],
    ['only rw', () => shareProject(service, lab.project, caller, 'rw'), 403, /./],
    ['unknown dataset', () => db.updateTable('project_guests').set({ permissions: 'rwx' }).execute(), 404, /dataset/],
    ['another resource', () => (request.dataset_id = dataset_id), 422, /another resource/],
    [
      'unknown workflow',
      () => db.updateTable('users').set({ profile_id: lab.profile_id }).where('id', '=', caller.id).execute(),
      404,
      /workflow/,
    ],
    ['workflow without tasks', () => (request.workflow_id = empty.id), 422, /no tasks/],
    ['outside the workflow', () => (request.workflow_id = broken.id), 422, /^The workflow has 2 tasks, so that /],
    ['no access to a task', () => (body['last_task_index'] = 1), 403, /no access to/],
    ['task of another resource', () => ofGroup({ user_id: caller.id }), 403, /another resource/],
    ['inactive task', () => ofGroup({ resource_id: resource }), 422, /not active/],
    ['types that contradict', () => ofGroup({ active: true }), 422, /x = true/],
    ['unusable resource', () => db.updateTable('workflow_tasks').set({ type_filters: '{}' }).execute(), 422, /usable/],
    [
      'no new submissions',
      () =>
        ofResource({
          tasks_python_config:
            '{"default_version": "3.12", "versions": {"3.12": "/usr/bin/python3"}, "pip_cache_dir": null}',
        }),
      422,
      /accepting new jobs/,
    ],
    ['foreign account', () => ofResource({ prevent_new_submissions: false }), 422, /theirs/],
    ['unfinished job', () => (body['slurm_account'] = 'mine'), 422, /not over/],
    ['nothing', () => db.updateTable('jobs').set({ status: 'failed' }).execute(), 202, /mine/],
  ];
  for (const [problem, solveTheOneBefore, expected, words] of steps) {
    await solveTheOneBefore();
    const answer = await submitAs(caller.client, request, body);
    expect([problem, answer.status]).toEqual([problem, expected]);
    expect(expected === 202 ? answer.text : answer.body.detail).toMatch(words);
  }
});

it('objects of another project are not found', async () => {
  const other = await openLab(service);
  const [theirs, mine] = [await other.dataset(), await lab.dataset()];
  const theirFlow = await other.workflow([{ type: 'parallel' }]);
  const { client } = lab.owner;
  expect((await submitAs(client, { workflow_id: flow.id, dataset_id: theirs }, {})).status).toBe(404);
  expect((await submitAs(client, { workflow_id: theirFlow.id, dataset_id: mine }, {})).status).toBe(404);
});

describe('tasks outside the range', () => {
  it('are not looked at', async () => {
    const group = await addTaskGroup(service, { user_id: lab.owner.id, resource_id: lab.resource_id, active: false });
    const broken = await lab.workflow([{ type: 'parallel', group }, { type: 'parallel' }, { type: 'parallel', group }]);
    const dataset_id = await lab.dataset();
    expect((await lab.submit(broken, dataset_id)).status).toBe(422);
    expect((await lab.submit(broken, dataset_id, { first_task_index: 1, last_task_index: 1 })).status).toBe(202);
  });
});

describe('the body', () => {
  const NOTHING = {
    first_task_index: 0,
    last_task_index: 2,
    worker_init: null,
    attribute_filters: {},
    type_filters: {},
  };

  it.each<[string, object]>([
    ['{}', NOTHING],
    ['{"first_task_index": null, "last_task_index": null, "slurm_account": null}', NOTHING],
    ['{"first_task_index": 1}', { first_task_index: 1, last_task_index: 2 }],
    ['{"last_task_index": 1}', { first_task_index: 0, last_task_index: 1 }],
    ['{"first_task_index": "1", "last_task_index": 2.0}', { first_task_index: 1, last_task_index: 2 }],
    ['{"first_task_index": true}', { first_task_index: 1 }],
    ['{"worker_init": " export A=1\\nexport B=2 "}', { worker_init: 'export A=1\nexport B=2' }],
    ['{"attribute_filters": {" well ": ["A01", "B02"]}}', { attribute_filters: { well: ['A01', 'B02'] } }],
    [
      '{"attribute_filters": {"a": [1, 2], "b": [1.5], "c": [true]}}',
      { attribute_filters: { a: [1, 2], b: [1.5], c: [true] } },
    ],
    ['{"type_filters": {" t ": "yes", "u": 0, "v": false}}', { type_filters: { t: true, u: false, v: false } }],
  ])('%s is read', async (body, expected) => {
    const { status, body: job } = await raw(body);
    expect([status, job]).toEqual([202, expect.objectContaining(expected)]);
  });

  it.each<[string, (string | number)[]]>([
    ['[]', []],
    ['"text"', []],
    ['1', []],
    ['null', []],
    ['', []],
    ['{"first_task_index"', []],
    ['{"unknown": 1}', ['unknown']],
    ['{"first_task_index": -1}', ['first_task_index']],
    ['{"first_task_index": 1.5}', ['first_task_index']],
    ['{"last_task_index": "x"}', ['last_task_index']],
    ['{"first_task_index": 2, "last_task_index": 1}', []],
    ['{"first_task_index": "1", "last_task_index": 0}', []],
    ['{"first_task_index": [], "last_task_index": 0}', ['first_task_index']],
    ['{"slurm_account": 1}', ['slurm_account']],
    ['{"worker_init": null}', ['worker_init']],
    ['{"worker_init": "  "}', ['worker_init']],
    ['{"worker_init": 1}', ['worker_init']],
    ['{"attribute_filters": null}', ['attribute_filters']],
    ['{"attribute_filters": []}', ['attribute_filters']],
    ['{"attribute_filters": {"a": []}}', ['attribute_filters']],
    ['{"attribute_filters": {"a": 1}}', ['attribute_filters']],
    ['{"attribute_filters": {"a": [null]}}', ['attribute_filters']],
    ['{"attribute_filters": {"a": [1, "1"]}}', ['attribute_filters']],
    ['{"attribute_filters": {"a": [1, true]}}', ['attribute_filters']],
    ['{"attribute_filters": {"a": [[1]]}}', ['attribute_filters']],
    ['{"attribute_filters": {" ": [1]}}', ['attribute_filters']],
    ['{"attribute_filters": {"a": [1], " a": [1]}}', ['attribute_filters']],
    ['{"type_filters": null}', ['type_filters']],
    ['{"type_filters": {"t": 2}}', ['type_filters']],
    ['{"type_filters": {"t": true, "t ": true}}', ['type_filters']],
    ['{"type_filters": {"": true}}', ['type_filters']],
    ['{"first_task_image_status": []}', ['first_task_image_status']],
    ['{"first_task_image_status": ["running"]}', ['first_task_image_status']],
  ])('%s is refused', async (body, place) => {
    const { status, body: answer } = await raw(body);
    expect(status).toBe(422);
    expect(answer.detail[0].loc.slice(0, place.length + 1)).toEqual(['body', ...place]);
  });

  it.each([{ slurm_account: '' }, { slurm_account: 'not mine' }])('%j is refused in words', async (body) => {
    const { status, body: answer } = await lab.submit(flow, await lab.dataset(), body);
    expect([status, answer.detail]).toEqual([422, expect.stringContaining('not one of your Slurm accounts')]);
  });

  it.each(['workflow_id', 'dataset_id'])('%s is needed in the query', async (name) => {
    const query: Record<string, number> = { workflow_id: flow.id, dataset_id: await lab.dataset() };
    delete query[name];
    const { status, body } = await lab.owner.client.post(`${lab.base}/job/submit/`, {}, { query });
    expect([status, body.detail[0].loc]).toEqual([422, ['query', name]]);
  });

  async function raw(body: string) {
    const query = `workflow_id=${flow.id}&dataset_id=${await lab.dataset()}`;
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, ...(body === '' ? {} : { body }) };
    return lab.owner.client.raw(`${lab.base}/job/submit/?${query}`, init);
  }
});

describe('a submitted job', () => {
  it('shows what it was made of, and its folders', async () => {
    const { db } = service.database;
    const dataset_id = await lab.dataset();
    const { status, body: job } = await lab.submit(flow, dataset_id, { first_task_index: 1 });
    expect(status).toBe(202);
    const stamp = job.start_timestamp.slice(0, 19).replace(/[-:]/g, '').replace('T', '_');
    const padded = (id: number) => String(id).padStart(7, '0');
    const name = `proj_v2_${padded(lab.project)}_wf_${padded(flow.id)}_job_${padded(job.id)}_${stamp}`;
    const working_dir = `${lab.folders.jobs}/${job.start_timestamp.slice(0, 7)}/${name}`;
    const created = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const { name: project } = await db
      .selectFrom('projects')
      .select('name')
      .where('id', '=', lab.project)
      .executeTakeFirstOrThrow();
    expect(job).toMatchObject({
      project_id: lab.project,
      workflow_id: flow.id,
      dataset_id,
      user_email: lab.owner.email,
      status: 'submitted',
      end_timestamp: null,
      log: null,
      executor_error_log: null,
      first_task_index: 1,
      last_task_index: 2,
      working_dir,
      working_dir_user: working_dir,
      stop_requested_at: null,
      failure: null,
    });
    expect(job.project_dump).toEqual({ id: lab.project, name: project, timestamp_created: created });
    expect(job.workflow_dump).toEqual({
      id: flow.id,
      name: expect.stringMatching(/^Flow/),
      project_id: lab.project,
      timestamp_created: created,
    });
    expect(job.dataset_dump).toEqual({
      id: dataset_id,
      name: expect.stringMatching(/^Data/),
      project_id: lab.project,
      timestamp_created: created,
      zarr_dir: lab.folders.zarr,
    });
  });

  it('marks the task groups of its range as used, and no others', async () => {
    const { db } = service.database;
    const add = () => addTaskGroup(service, { user_id: lab.owner.id, resource_id: lab.resource_id });
    const groups = [await add(), await add(), await add()];
    const three = await lab.workflow(groups.map((group) => ({ type: 'parallel', group })));
    const used = async () =>
      (
        await db
          .selectFrom('task_groups')
          .select('timestamp_last_used')
          .where('id', 'in', groups)
          .orderBy('id')
          .execute()
      ).map((row) => row.timestamp_last_used);
    const before = await used();
    const { body: job } = await lab.submit(three, await lab.dataset(), { first_task_index: 1, last_task_index: 1 });
    const { rows } = await sql<{
      start_timestamp: string;
    }>`select start_timestamp from jobs where id = ${job.id}`.execute(db);
    expect(await used()).toEqual([before[0], rows[0]!.start_timestamp, before[2]]);
  });

  it.each([
    [['first', 'second'], {}, 'first'],
    [['first', 'second'], { slurm_account: 'second' }, 'second'],
    [[], {}, null],
  ])('of a person with the accounts %j who asked for %j has the account %s', async (slurm_accounts, body, expected) => {
    await service.admin.patch(`/auth/users/${lab.owner.id}/`, { slurm_accounts });
    const { body: job } = await lab.submit(flow, await lab.dataset(), body);
    expect(job.slurm_account).toBe(expected);
  });

  it('is the only one on its dataset, however many ask at once', async () => {
    const dataset_id = await lab.dataset();
    const answers = await Promise.all(Array.from({ length: 20 }, () => lab.submit(flow, dataset_id)));
    const statuses = answers.map((answer) => answer.status).sort();
    expect(statuses).toEqual([202, ...Array.from({ length: 19 }, () => 422)]);
    const { rows } = await sql<{
      count: number;
    }>`select count(*)::int from jobs where dataset_id = ${dataset_id}`.execute(service.database.db);
    expect(rows[0]!.count).toBe(1);
  });
});

describe('while a job is submitted', () => {
  let used: Lab;
  let client: Client;
  let base: string;
  let groups: number[];
  let flow: Flow;
  let places: Record<'dataset' | 'task' | 'job', number>;

  beforeAll(async () => {
    used = await openLab(service);
    ({ base } = used);
    ({ client } = used.owner);
    const add = () => addTaskGroup(service, { user_id: used.owner.id, resource_id: used.resource_id });
    groups = [await add(), await add()];
    flow = await used.workflow(groups.map((group) => ({ type: 'parallel', group })));
    const { task_id } = await service.database.db
      .selectFrom('workflow_tasks')
      .select('task_id')
      .where('id', '=', flow.steps[0]!)
      .executeTakeFirstOrThrow();
    const dataset = await used.dataset();
    const { body } = await used.submit(flow, dataset, { last_task_index: 0 });
    places = { dataset, task: task_id, job: body.id };
  });

  const tasks = () => `${base}/workflow/${flow.id}/wftask/`;
  const refused: [string, () => Promise<{ status: number }>][] = [
    ['the project cannot be deleted', () => client.delete(`${base}/`)],
    ['the dataset cannot be deleted', () => client.delete(`${base}/dataset/${places.dataset}/`)],
    ['the workflow cannot be deleted', () => client.delete(`${base}/workflow/${flow.id}/`)],
    ['a task of the workflow cannot be deleted', () => client.delete(`${tasks()}${flow.steps[1]}/`)],
    [
      'tasks cannot change places',
      () => client.patch(`${base}/workflow/${flow.id}/`, { reordered_workflowtask_ids: [...flow.steps].reverse() }),
    ],
    ['no task can be put before the end', () => client.post(`${tasks()}?order=0`, [{ task_id: places.task }])],
    [
      'a task group of its range cannot be deactivated',
      () => client.post(`/api/v2/task-group/${groups[0]}/deactivate/`),
    ],
  ];
  it.each(refused)('%s', async (_, ask) => expect((await ask()).status).toBe(422));

  it('arguments can be edited, and a task can be added at the end', async () => {
    const edit = await client.patch(`${tasks()}${flow.steps[0]}/`, { args_parallel: { sigma: 1 } });
    expect(edit.status).toBe(200);
    expect((await client.post(tasks(), [{ task_id: places.task }])).status).toBe(201);
  });

  it('a task group outside its range can be deactivated', async () => {
    expect((await client.post(`/api/v2/task-group/${groups[1]}/deactivate/`)).status).toBe(202);
  });

  it('it can be stopped on every path, which leaves it submitted until somebody hears', async () => {
    const { job } = places;
    const paths: [Client, 'get' | 'post', string][] = [
      [client, 'get', `${base}/job/${job}/stop/`],
      [client, 'post', `${base}/job/${job}/stop/`],
      [client, 'post', `/api/v2/job/${job}/stop/`],
      [service.admin, 'get', `/admin/v2/job/${job}/stop/`],
      [service.admin, 'post', `/admin/v2/job/${job}/stop/`],
    ];
    for (const [who, method, path] of paths) {
      const { status, text } = await who[method](path);
      expect([path, status, text]).toEqual([path, 202, '']);
    }
    const { body } = await client.get(`${base}/job/${job}/`);
    expect(body).toMatchObject({ status: 'submitted', stop_requested_by: used.owner.email });
  });
});
