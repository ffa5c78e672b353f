import { beforeAll, describe, expect, it } from 'vitest';

import { untilWaiting } from '../support/locks.ts';
import { addPerson, addProject, type Person } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';
import {
  addDataset,
  addHistoryRun,
  addJob,
  addResourceAndProfile,
  addTask,
  addTaskGroup,
  endJob,
  type TaskFields,
  type TaskGroupFields,
} from '../support/tasks.ts';

let service: TestService;
let owner: Person;
let other: Person;
let client: Client;
let resource_id: number;
let allGroup: number;
let project: number;
let url: string;
let group: number;
let task: number;
let names = 0;

const newGroup = (fields: Partial<TaskGroupFields> = {}) =>
  addTaskGroup(service, { user_id: owner.id, resource_id, ...fields });
const newTask = (fields: Partial<TaskFields> = {}) => addTask(service, { taskgroupv2_id: group, ...fields });

beforeAll(async () => {
  service = await startService();
  const place = await addResourceAndProfile(service);
  ({ resource_id } = place);
  owner = await addPerson(service, place.profile_id);
  other = await addPerson(service, place.profile_id);
  ({ client } = owner);
  project = await addProject(service, owner, 'Project');
  url = `/api/v2/project/${project}/workflow/`;
  allGroup = (await service.admin.get('/auth/group/')).body[0].id;
  group = await newGroup();
  task = await newTask();
});

async function newWorkflow(tasks = 0): Promise<{ id: number; url: string; tasks: number[] }> {
  const { body } = await client.post(url, { name: `w${++names}` });
  const at = `${url}${body.id}/wftask/`;
  const added = await client.post(
    at,
    Array.from({ length: tasks }, () => ({ task_id: task })),
  );
  return { id: body.id, url: at, tasks: added.body.map((item: { id: number }) => item.id) };
}

const tasksOf = async (workflowId: number): Promise<{ id: number; order: number }[]> =>
  (await client.get(`${url}${workflowId}/`)).body.task_list;
const idsOf = async (workflowId: number) => (await tasksOf(workflowId)).map((item) => item.id);
const ordersOf = async (workflowId: number) => (await tasksOf(workflowId)).map((item) => item.order);

async function addedTask(taskFields: Partial<TaskFields>, given: object = {}) {
  const workflow = await newWorkflow();
  const task_id = await newTask(taskFields);
  const { status, body } = await client.post(workflow.url, [{ task_id, ...given }]);
  expect(status).toBe(201);
  return { workflow, url: `${workflow.url}${body[0].id}/`, body: body[0] };
}

const submit = async (workflow_id: number, range: [number, number] = [0, 0]) => {
  const dataset_id = await addDataset(service, project);
  const [first_task_index, last_task_index] = range;
  const fields = { project_id: project, workflow_id, dataset_id, first_task_index, last_task_index };
  return { dataset_id, job_id: await addJob(service, fields) };
};

describe('inserting tasks', () => {
  it('answers what is stored, with the whole task', async () => {
    const workflow = await newWorkflow();
    const task_id = await newTask({
      name: 'Segment',
      args_schema_parallel: { properties: {} },
      input_types: { a: true },
    });
    const { status, body } = await client.post(workflow.url, [
      { task_id, alias: ' mine ', description: ' d ', args_parallel: { ' k ': 1 }, type_filters: { ' a ': 'yes' } },
    ]);
    expect(status).toBe(201);
    expect(body).toEqual([
      {
        id: expect.any(Number),
        workflow_id: workflow.id,
        order: 0,
        meta_non_parallel: null,
        meta_parallel: null,
        args_non_parallel: null,
        args_parallel: { k: 1 },
        type_filters: { a: true },
        task_type: 'compound',
        task_id,
        task: {
          id: task_id,
          name: 'Segment',
          type: 'compound',
          version: '0',
          is_core: false,
          command_non_parallel: null,
          command_parallel: null,
          meta_parallel: {},
          meta_non_parallel: {},
          args_schema_non_parallel: null,
          args_schema_parallel: { properties: {} },
          args_schema_version: null,
          docs_info: null,
          docs_link: null,
          input_types: { a: true },
          output_types: {},
          taskgroupv2_id: group,
          category: null,
          modality: null,
          authors: null,
          tags: [],
        },
        alias: 'mine',
        description: 'd',
        revision: 1,
        timestamp_modified: expect.stringMatching(/\+00:00$/),
      },
    ]);
    expect((await client.get(`${workflow.url}${body[0].id}/`)).body).toEqual(body[0]);
  });

  it.each([
    [undefined, [0, 1, 2, 3, 4]],
    [0, [3, 4, 0, 1, 2]],
    [1, [0, 3, 4, 1, 2]],
    [2, [0, 1, 3, 4, 2]],
    [3, [0, 1, 2, 3, 4]],
    [99, [0, 1, 2, 3, 4]],
    [Number.MAX_SAFE_INTEGER, [0, 1, 2, 3, 4]],
  ])('puts them at position %s', async (order, expected) => {
    const workflow = await newWorkflow(3);
    const { body } = await client.post(
      workflow.url,
      [
        { task_id: task, alias: 'one' },
        { task_id: task, alias: 'two' },
      ],
      {
        query: order === undefined ? {} : { order },
      },
    );
    expect(body.map((item: { alias: string }) => item.alias)).toEqual(['one', 'two']);
    const all = [...workflow.tasks, body[0].id, body[1].id];
    expect(await idsOf(workflow.id)).toEqual(expected.map((index) => all[index]));
    expect(await ordersOf(workflow.id)).toEqual([0, 1, 2, 3, 4]);
  });

  it.each([
    ['an object', { task_id: 1 }, {}],
    ['a negative position', [], { order: -1 }],
    ['no task', [{}], {}],
    ['an unknown key', [{ task_id: 1, x: 1 }], {}],
    ['filters null', [{ task_id: 1, type_filters: null }], {}],
    ['filters that are no flags', [{ task_id: 1, type_filters: { a: 'maybe' } }], {}],
    ['an empty alias', [{ task_id: 1, alias: ' ' }], {}],
    ['equal keys', [{ task_id: 1, meta_parallel: { a: 1, ' a': 2 } }], {}],
    ['an empty key', [{ task_id: 1, args_parallel: { ' ': 1 } }], {}],
    ['a reserved argument', [{ task_id: 1, args_parallel: { zarr_url: 'x' } }], {}],
    ['a reserved argument', [{ task_id: 1, args_non_parallel: { ' zarr_dir ': 'x' } }], {}],
    ['NUL in an argument', [{ task_id: 1, args_parallel: { a: ['x\u0000'] } }], {}],
    ['NUL in a key', [{ task_id: 1, meta_parallel: { a: { 'x\u0000': 1 } } }], {}],
    ['arguments that are no object', [{ task_id: 1, args_parallel: [] }], {}],
  ])('refuses %s', async (_, body, query) => {
    const { url: at } = await newWorkflow();
    const answer = await client.post(at, body, { query });
    expect([answer.status, Array.isArray(answer.body.detail)]).toEqual([422, true]);
  });

  it('answers an empty list with an empty list', async () => {
    const { url: at } = await newWorkflow();
    const answer = await client.post(at, []);
    expect([answer.status, answer.body]).toEqual([201, []]);
  });

  it('judges item after item, and stores all or none', async () => {
    const elsewhere = await addResourceAndProfile(service);
    const inactive = await newTask({ taskgroupv2_id: await newGroup({ active: false }) });
    const foreign = await newTask({ taskgroupv2_id: await newGroup({ user_id: other.id }) });
    const shared = await newTask({ taskgroupv2_id: await newGroup({ user_id: other.id, user_group_id: allGroup }) });
    const onOther = { resource_id: elsewhere.resource_id, active: false };
    const ownElsewhere = await newTask({ taskgroupv2_id: await newGroup(onOther) });
    const sharedElsewhere = await newTask({
      taskgroupv2_id: await newGroup({ ...onOther, user_id: other.id, user_group_id: allGroup }),
    });
    const parallel = await newTask({ type: 'parallel', input_types: { a: true } });
    const single = await newTask({ type: 'non_parallel' });
    const converter = await newTask({ type: 'converter_non_parallel' });
    const workflow = await newWorkflow(1);
    const cases: [object[], number][] = [
      [[{ task_id: task }, { task_id: 99999 }], 404],
      [[{ task_id: 99999999999 }], 404],
      [[{ task_id: 0 }], 404],
      [[{ task_id: foreign }], 403],
      [[{ task_id: ownElsewhere }], 403],
      [[{ task_id: sharedElsewhere }], 403],
      [[{ task_id: inactive }], 422],
      [[{ task_id: inactive }, { task_id: 99999 }], 422],
      [[{ task_id: 99999 }, { task_id: foreign }], 404],
      [[{ task_id: foreign }, { task_id: 99999 }], 403],
      [[{ task_id: parallel, meta_non_parallel: {} }], 422],
      [[{ task_id: parallel, args_non_parallel: {} }], 422],
      [[{ task_id: single, meta_parallel: {} }], 422],
      [[{ task_id: single, args_parallel: {} }, { task_id: 99999 }], 422],
      [[{ task_id: parallel, type_filters: { a: false } }], 422],
    ];
    for (const [items, status] of cases) {
      const answer = await client.post(workflow.url, items);
      expect([items, answer.status, typeof answer.body.detail]).toEqual([items, status, 'string']);
    }
    expect(await idsOf(workflow.id)).toEqual(workflow.tasks);
    const fine = [
      { task_id: shared },
      { task_id: parallel, args_parallel: {}, type_filters: { a: true, b: false } },
      { task_id: single, args_non_parallel: {} },
      { task_id: converter, args_parallel: { x: 1 } },
    ];
    const { status, body } = await client.post(workflow.url, fine);
    expect(status).toBe(201);
    expect(body[1].args_parallel).toEqual({});
  });

  it('lays configuration over that of the task', async () => {
    const task_id = await newTask({ meta_parallel: { a: 1, b: 2 }, meta_non_parallel: {} });
    const { url: at } = await newWorkflow();
    const { body } = await client.post(at, [{ task_id, meta_parallel: { b: 5, q: 1 } }, { task_id }]);
    expect([body[0].meta_parallel, body[0].meta_non_parallel]).toEqual([{ a: 1, b: 5, q: 1 }, null]);
    expect(body[1].meta_parallel).toEqual({ a: 1, b: 2 });
  });

  it('keeps numbers as written and the order of keys', async () => {
    const { url: at } = await newWorkflow();
    const args = '{"zz":1.0,"a":12345678901234567890,"m":[1e3,-0.0,0.10],"b":{"y":2.50,"x":1}}';
    const sent = `[{"task_id":${task},"args_parallel":${args},"meta_parallel":${args}}]`;
    const headers = { 'content-type': 'application/json' };
    const created = await client.raw(at, { method: 'POST', body: sent, headers });
    expect(created.text).toContain(`"args_parallel":${args}`);
    expect(created.text).toContain(`"meta_parallel":${args}`);
    const one = `${at}${created.body[0].id}/`;
    expect((await client.get(one)).text).toContain(`"args_parallel":${args}`);
    const change = args.replace('1.0', '3.0');
    const patched = await client.raw(one, { method: 'PATCH', body: `{"args_parallel":${change}}`, headers });
    expect(patched.text).toContain(`"args_parallel":${change}`);
    expect((await client.get(at.replace('wftask/', 'export/'))).text).toContain(`"args_parallel":${change}`);
  });

  it('appends while a job runs, and inserts before the end only afterwards', async () => {
    const workflow = await newWorkflow(2);
    const { job_id } = await submit(workflow.id);
    const insert = async (order: number | undefined, items: object[] = [{ task_id: task }]) =>
      (await client.post(workflow.url, items, { query: order === undefined ? {} : { order } })).status;
    expect(await insert(1)).toBe(422);
    expect(await insert(0, [])).toBe(422);
    expect(await insert(0, [{ task_id: 99999 }])).toBe(422);
    expect(await insert(2)).toBe(201);
    expect(await insert(undefined)).toBe(201);
    await endJob(service, job_id);
    expect(await insert(1)).toBe(201);
  });

  it('numbers them without gaps when fifty come together', async () => {
    const workflow = await newWorkflow();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        client.post(workflow.url, [{ task_id: task }], { query: index % 2 === 0 ? {} : { order: 0 } }),
      ),
    );
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
    expect(await ordersOf(workflow.id)).toEqual(Array.from({ length: 50 }, (_, index) => index));
  });

  it('takes thousands at once', async () => {
    const { id, url: at } = await newWorkflow();
    const items = Array.from({ length: 7000 }, (_, index) => ({ task_id: task, alias: `t${index}` }));
    const { status, body } = await client.post(at, items);
    expect([status, body.length, body[6999].alias, body[6999].order]).toEqual([201, 7000, 't6999', 6999]);
    await client.delete(`${url}${id}/`);
  });
});

describe('changing a task', () => {
  it('replaces each block that is given, and nothing else', async () => {
    const { url: at, body } = await addedTask(
      { meta_parallel: { a: 1 } },
      { args_parallel: { x: 1, y: 2 }, args_non_parallel: { n: 1 }, alias: 'A', description: 'D' },
    );
    const { status, body: changed } = await client.patch(at, {
      args_parallel: { y: 3 },
      meta_parallel: { b: 2 },
      alias: null,
    });
    expect(status).toBe(200);
    expect(changed).toEqual({
      ...body,
      args_parallel: { y: 3 },
      meta_parallel: { b: 2 },
      alias: null,
      revision: 2,
      timestamp_modified: expect.any(String),
    });
    expect(changed.timestamp_modified > body.timestamp_modified).toBe(true);
  });

  it('stores empty arguments as none, empty configuration as it is', async () => {
    const { url: at } = await addedTask({ meta_parallel: { a: 1 } }, { args_parallel: { x: 1 } });
    const { body } = await client.patch(at, {
      args_parallel: {},
      args_non_parallel: {},
      meta_parallel: {},
      meta_non_parallel: null,
    });
    expect([body.args_parallel, body.args_non_parallel, body.meta_parallel, body.meta_non_parallel]).toEqual([
      null,
      null,
      {},
      null,
    ]);
  });

  it.each([
    ['parallel', 'args_non_parallel', { a: 1 }, 422],
    ['parallel', 'meta_non_parallel', {}, 422],
    ['parallel', 'args_parallel', { a: 1 }, 200],
    ['non_parallel', 'args_parallel', { a: 1 }, 422],
    ['non_parallel', 'meta_parallel', {}, 422],
    ['converter_non_parallel', 'args_parallel', { a: 1 }, 422],
    ['converter_non_parallel', 'meta_parallel', { a: 1 }, 422],
    ['converter_non_parallel', 'args_non_parallel', { a: 1 }, 200],
    ['converter_compound', 'args_parallel', { a: 1 }, 200],
    ['compound', 'args_non_parallel', { a: 1 }, 200],
  ] as const)('answers a %s task with %s %j: %s', async (type, block, value, status) => {
    const { url: at } = await addedTask({ type });
    expect((await client.patch(at, { [block]: value })).status).toBe(status);
    expect((await client.patch(at, { [block]: null })).status).toBe(200);
  });

  it.each([
    [{ type_filters: null }],
    [{ type_filters: { a: false } }],
    [{ type_filters: { a: 2 } }],
    [{ args_parallel: { init_args: {} } }],
    [{ alias: ' ' }],
    [{ task_id: 1 }],
    [{ order: 1 }],
    [{ args_parallel: { a: 'x\u0000' } }],
  ])('refuses %j', async (change) => {
    const { url: at, body } = await addedTask({ input_types: { a: true } });
    expect((await client.patch(at, change)).status).toBe(422);
    expect((await client.get(at)).body).toEqual(body);
  });

  it('needs no access to the task, and goes on while a job runs', async () => {
    const { workflow, url: at, body } = await addedTask({});
    await submit(workflow.id);
    const { db } = service.database;
    const lost = await newGroup({ user_id: other.id, active: false });
    await db.updateTable('tasks').set({ taskgroupv2_id: lost }).where('id', '=', body.task_id).execute();
    expect((await client.patch(at, { type_filters: { z: true } })).body.type_filters).toEqual({ z: true });
  });

  it('refuses to overwrite what somebody else changed', async () => {
    const { url: at } = await addedTask({});
    const change = (alias: string, revision: number) => client.patch(at, { alias }, { query: { revision } });
    expect((await change('a', 1)).body.revision).toBe(2);
    const late = await change('b', 1);
    expect([late.status, typeof late.body.detail]).toEqual([409, 'string']);
    expect((await change('c', 99999999999)).status).toBe(409);
    expect((await client.get(at)).body).toMatchObject({ alias: 'a', revision: 2 });
    const together = await Promise.all(Array.from({ length: 8 }, (_, index) => change(`t${index}`, 2)));
    expect(together.map((answer) => answer.status).sort()).toEqual([200, ...Array<number>(7).fill(409)]);
    expect((await client.patch(at, { alias: 'z' })).body.revision).toBe(4);
    expect((await client.patch(at, {})).body.revision).toBe(4);
  });

  it('is found in its own workflow only', async () => {
    const { body } = await addedTask({});
    const { url: at } = await newWorkflow();
    for (const id of [body.id, 0, -1, 99999999999]) {
      expect((await client.get(`${at}${id}/`)).status).toBe(404);
      expect((await client.patch(`${at}${id}/`, {})).status).toBe(404);
      expect((await client.delete(`${at}${id}/`)).status).toBe(404);
    }
    expect((await client.get(`${at}x/`)).status).toBe(422);
  });
});

describe('deleting a task', () => {
  it('closes the gap', async () => {
    const workflow = await newWorkflow(4);
    const answer = await client.delete(`${workflow.url}${workflow.tasks[1]}/`);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await idsOf(workflow.id)).toEqual(workflow.tasks.toSpliced(1, 1));
    expect(await ordersOf(workflow.id)).toEqual([0, 1, 2]);
  });

  it('waits for jobs of the workflow', async () => {
    const workflow = await newWorkflow(1);
    const { job_id } = await submit(workflow.id);
    expect((await client.delete(`${workflow.url}${workflow.tasks[0]}/`)).status).toBe(422);
    await endJob(service, job_id);
    expect((await client.delete(`${workflow.url}${workflow.tasks[0]}/`)).status).toBe(204);
  });

  it('removes the states of its images and leaves the runs', async () => {
    const { db } = service.database;
    const workflow = await newWorkflow(1);
    const workflowtask_id = workflow.tasks[0]!;
    const { dataset_id, job_id } = await submit(workflow.id);
    await endJob(service, job_id);
    const run = await addHistoryRun(service, { dataset_id, workflowtask_id, job_id });
    await client.delete(`${workflow.url}${workflowtask_id}/`);
    const states = db.selectFrom('history_image_cache').selectAll().where('dataset_id', '=', dataset_id);
    expect(await states.execute()).toEqual([]);
    const kept = await db.selectFrom('history_runs').selectAll().where('id', '=', run).executeTakeFirstOrThrow();
    expect(kept.workflowtask_id).toBeNull();
  });

  it('leaves no gap when all go together', async () => {
    const workflow = await newWorkflow(12);
    const answers = await Promise.all(workflow.tasks.slice(0, 9).map((id) => client.delete(`${workflow.url}${id}/`)));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([204]));
    expect(await ordersOf(workflow.id)).toEqual([0, 1, 2]);
  });
});

describe('replacing a task', () => {
  const replace = (at: string, from: number, to: number, body: unknown = {}, query: Record<string, number> = {}) =>
    client.post(`${at}replace-task/`, body, { query: { workflow_task_id: from, task_id: to, ...query } });

  it('keeps what belongs to the workflow and merges the configuration', async () => {
    const { workflow, body } = await addedTask(
      {
        type: 'compound',
        meta_parallel: { a: 1, b: 2 },
        meta_non_parallel: { mem: 6000, cpus_per_task: 1, needs_gpu: true },
      },
      { args_parallel: { x: 1 }, args_non_parallel: { n: 1 }, alias: 'A', description: 'D', type_filters: { t: true } },
    );
    await client.patch(`${workflow.url}${body.id}/`, {
      meta_parallel: { a: 7, b: 2 },
      meta_non_parallel: { mem: 6000, cpus_per_task: 2 },
    });
    const newer = await newTask({
      type: 'converter_compound',
      meta_parallel: { a: 10, z: 9 },
      meta_non_parallel: { needs_luck: true },
    });
    const answer = await replace(workflow.url, body.id, newer, { args_parallel: { zarr_url: 1 }, ignored: true });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      id: body.id,
      order: 0,
      task_id: newer,
      task_type: 'converter_compound',
      alias: 'A',
      description: 'D',
      type_filters: { t: true },
      args_parallel: { zarr_url: 1 },
      args_non_parallel: { n: 1 },
      revision: 3,
    });
    expect(answer.body.meta_parallel).toEqual({ a: 7, z: 9 });
    expect(answer.body.meta_non_parallel).toEqual({ cpus_per_task: 2, needs_luck: true });
    expect(answer.body).not.toHaveProperty('warning');
    const late = await replace(workflow.url, body.id, newer, {}, { revision: 2 });
    expect(late.status).toBe(409);
    expect((await replace(workflow.url, body.id, newer, {}, { revision: 3 })).body.revision).toBe(4);
  });

  it.each([
    ['compound', 'compound', 201],
    ['compound', 'converter_compound', 201],
    ['non_parallel', 'converter_non_parallel', 201],
    ['parallel', 'parallel', 201],
    ['converter_compound', 'compound', 422],
    ['converter_non_parallel', 'non_parallel', 422],
    ['parallel', 'non_parallel', 422],
    ['non_parallel', 'compound', 422],
    ['compound', 'parallel', 422],
  ] as const)('lets a %s task become a %s one: %s', async (before, after, status) => {
    const { workflow, body } = await addedTask({ type: before });
    expect((await replace(workflow.url, body.id, await newTask({ type: after }))).status).toBe(status);
  });

  it('checks the new task as inserting does, then arguments and filters', async () => {
    const elsewhere = await addResourceAndProfile(service);
    const { workflow, url: at, body } = await addedTask({ type: 'parallel' }, { type_filters: { a: true } });
    const parallel = async (fields: Partial<TaskGroupFields>) =>
      newTask({ type: 'parallel', taskgroupv2_id: await newGroup(fields) });
    const cases: [number, object, number][] = [
      [99999, {}, 404],
      [99999999999, {}, 404],
      [await parallel({ user_id: other.id }), {}, 403],
      [await parallel({ resource_id: elsewhere.resource_id }), {}, 403],
      [await parallel({ active: false }), {}, 422],
      [await parallel({}), { args_non_parallel: {} }, 422],
      [await newTask({ type: 'parallel', input_types: { a: false } }), {}, 422],
      [await parallel({}), { args_parallel: 3 }, 422],
    ];
    for (const [to, args, status] of cases) {
      expect([to, (await replace(workflow.url, body.id, to, args)).status]).toEqual([to, status]);
    }
    expect((await client.get(at)).body).toEqual(body);
    expect((await replace(workflow.url, 99999, task)).status).toBe(404);
    expect((await replace(workflow.url, body.id, body.task_id)).status).toBe(201);
    const withoutBody = await client.post(`${workflow.url}replace-task/?workflow_task_id=${body.id}&task_id=${task}`);
    expect(withoutBody.status).toBe(422);
    expect((await client.post(`${workflow.url}replace-task/?task_id=${task}`, {})).status).toBe(422);
  });

  it('keeps what a running job has yet to execute, and only that', async () => {
    const workflow = await newWorkflow(6);
    const { dataset_id, job_id } = await submit(workflow.id, [1, 4]);
    const statuses = async () => {
      const answers = await Promise.all(workflow.tasks.map((id) => replace(workflow.url, id, task)));
      return answers.map((answer) => answer.status);
    };
    expect(await statuses()).toEqual([201, 422, 422, 422, 422, 201]);
    await addHistoryRun(service, { dataset_id, job_id, workflowtask_id: workflow.tasks[1]! });
    await addHistoryRun(service, { dataset_id, job_id, workflowtask_id: workflow.tasks[2]! });
    expect(await statuses()).toEqual([201, 201, 201, 422, 422, 201]);
    const second = await submit(workflow.id, [0, 0]);
    expect(await statuses()).toEqual([422, 201, 201, 422, 422, 201]);
    await endJob(service, job_id);
    await endJob(service, second.job_id);
    expect(await statuses()).toEqual([201, 201, 201, 201, 201, 201]);
  });
});

describe('newer versions', () => {
  const SCHEMA = { args_schema_parallel: { properties: {} } };
  const pkg = () => `pkg${++names}`;
  const version = async (groupFields: Partial<TaskGroupFields>, fields: Partial<TaskFields> = {}) =>
    newTask({ name: 'T', ...SCHEMA, ...fields, taskgroupv2_id: await newGroup(groupFields) });
  const candidatesOf = async (...taskIds: number[]) => {
    const workflow = await newWorkflow();
    for (const [order, task_id] of taskIds.entries()) {
      await service.database.db
        .insertInto('workflow_tasks')
        .values({ workflow_id: workflow.id, task_id, order, task_type: 'compound' })
        .execute();
    }
    const { status, body } = await client.get(`${url}${workflow.id}/version-update-candidates/`);
    expect(status).toBe(200);
    return body as { task_id: number; version: string }[][];
  };

  it('are offered oldest first, pre-releases and both owners of one version included', async () => {
    const pkg_name = pkg();
    const current = await version({ pkg_name, version: '0.10.0a0' });
    const versions = ['2', '0.10.0', '0.10.0b4', '0.10.0alpha', '0.2.0', 'weird', '1.0.0rc4.dev7'];
    const made: Record<string, number> = {};
    for (const one of versions) made[one] = await version({ pkg_name, version: one });
    const shared = await version({ pkg_name, version: '2', user_id: other.id, user_group_id: allGroup });
    expect(await candidatesOf(current)).toEqual([
      [
        { task_id: made['0.10.0b4'], version: '0.10.0b4' },
        { task_id: made['0.10.0'], version: '0.10.0' },
        { task_id: made['1.0.0rc4.dev7'], version: '1.0.0rc4.dev7' },
        { task_id: made['2'], version: '2' },
        { task_id: shared, version: '2' },
      ],
    ]);
  });

  it('are those that the caller could choose', async () => {
    const pkg_name = pkg();
    const elsewhere = await addResourceAndProfile(service);
    const current = await version({ pkg_name, version: '1' });
    const next = (number: string, fields: Partial<TaskGroupFields> = {}) => ({ pkg_name, version: number, ...fields });
    await version(next('2', { active: false }));
    await version(next('2', { user_id: other.id }));
    await version(next('2', { resource_id: elsewhere.resource_id }));
    await version(next('2', { pkg_name: `${pkg_name}x` }));
    await version(next('3', { user_id: other.id, user_group_id: allGroup, resource_id: elsewhere.resource_id }));
    await version(next('4'), { name: 'other' });
    await version(next('5'), { type: 'parallel' });
    await version(next('6'), { args_schema_parallel: null });
    const empty = await version(next('7'), { args_schema_parallel: {} });
    const converter = await version(next('8'), { type: 'converter_compound' });
    const answered = await candidatesOf(current);
    expect(answered[0]!.map((candidate) => candidate.task_id)).toEqual([empty, converter]);
  });

  it('are none for tasks without schema or version, and stand at the place of their task', async () => {
    const pkg_name = pkg();
    const bare = await version({ pkg_name, version: '0.1' }, { args_schema_parallel: null });
    const empty = await version({ pkg_name, version: '0.2' }, { args_schema_parallel: {} });
    const odd = await version({ pkg_name, version: 'weird' });
    const current = await version(
      { pkg_name, version: '1' },
      { args_schema_parallel: null, args_schema_non_parallel: { a: 1 } },
    );
    const next = await version({ pkg_name, version: '2' });
    const offered = [{ task_id: next, version: '2' }];
    expect(await candidatesOf(bare, current, empty, odd, current, next)).toEqual([[], offered, [], [], offered, []]);
    expect(await candidatesOf()).toEqual([]);
  });
});

describe('what somebody deletes at the same moment', () => {
  /** Deletes in a transaction that ends when the service waits for it. */
  async function whileDeleting<T>(table: 'projects' | 'tasks', id: number, work: () => Promise<T>): Promise<T> {
    return service.database.db
      .transaction()
      .execute(async (trx) => {
        await trx.deleteFrom(table).where('id', '=', id).execute();
        const answer = work();
        await untilWaiting(service.database);
        return { answer };
      })
      .then(({ answer }) => answer);
  }

  it('is answered as unknown', async () => {
    const doomed = await addProject(service, owner, 'Doomed');
    const create = () => client.post(`/api/v2/project/${doomed}/workflow/`, { name: 'late' });
    expect((await whileDeleting('projects', doomed, create)).status).toBe(404);

    const { url: at, tasks } = await newWorkflow(1);
    const [first, second] = [await newTask(), await newTask()];
    expect((await whileDeleting('tasks', first, () => client.post(at, [{ task_id: first }]))).status).toBe(404);
    const replace = () =>
      client.post(`${at}replace-task/`, {}, { query: { workflow_task_id: tasks[0]!, task_id: second } });
    expect((await whileDeleting('tasks', second, replace)).status).toBe(404);
    expect((await client.get(`${at}${tasks[0]}/`)).body.task_id).toBe(task);
  });
});
