import { beforeAll, describe, expect, it } from 'vitest';

import { addPerson, addProject, type Person, shareProject } from '../support/plates.ts';
import { type Answer, type Client, startService, type TestService } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';
import {
  addDataset,
  addHistoryRun,
  addJob,
  addResourceAndProfile,
  addTask,
  addTaskGroup,
  endJob,
} from '../support/tasks.ts';

let service: TestService;
let owner: Person;
let client: Client;
let profile_id: number;
let resource_id: number;
let allGroup: number;
let project: number;
let url: string;
let taskGroup: number;
let task: number;
let names = 0;

beforeAll(async () => {
  service = await startService();
  ({ profile_id, resource_id } = await addResourceAndProfile(service));
  owner = await addPerson(service, profile_id);
  ({ client } = owner);
  project = await addProject(service, owner, 'Project');
  url = `/api/v2/project/${project}/workflow/`;
  allGroup = (await service.admin.get('/auth/group/')).body[0].id;
  taskGroup = await addTaskGroup(service, { user_id: owner.id, resource_id, user_group_id: allGroup });
  task = await addTask(service, { taskgroupv2_id: taskGroup, name: 'Threshold' });
});

async function newWorkflow(tasks = 0): Promise<{ id: number; url: string; tasks: number[] }> {
  const { body } = await client.post(url, { name: `w${++names}` });
  const at = `${url}${body.id}/`;
  const added = await client.post(
    `${at}wftask/`,
    Array.from({ length: tasks }, () => ({ task_id: task })),
  );
  return { id: body.id, url: at, tasks: added.body.map((item: { id: number }) => item.id) };
}

const statusOf = async (answer: Promise<Answer>) => (await answer).status;

describe('creating a workflow', () => {
  it('answers it empty, with its project', async () => {
    const { status, body } = await client.post(url, { name: ' wf/@ é ', description: ' about ' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'wf/@ é',
      project_id: project,
      is_starred: false,
      project: {
        id: project,
        name: 'Project',
        description: null,
        is_starred: false,
        timestamp_created: expect.any(String),
        is_owner: true,
        permissions: 'rwx',
        owner_email: owner.email,
      },
      timestamp_created: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/),
      description: 'about',
      template_id: null,
      task_list: [],
    });
  });

  it.each([
    [{}],
    [{ name: '  ' }],
    [{ name: null }],
    [{ name: 3 }],
    [{ name: 'a', description: '  ' }],
    [{ name: 'a', extra: 1 }],
    [{ name: 'a\u0000b' }],
    [{ name: 'a\ud800b' }],
    [[]],
  ])('refuses %j', async (body) => {
    const answer = await client.post(url, body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toEqual([expect.objectContaining({ loc: expect.any(Array), msg: expect.any(String) })]);
  });

  it('refuses a name that the project has, and takes it in another project', async () => {
    const { body } = await client.post(url, { name: 'same' });
    expect(body.name).toBe('same');
    const again = await client.post(url, { name: ' same ' });
    expect([again.status, typeof again.body.detail]).toEqual([422, 'string']);
    const other = await addProject(service, owner, 'Other');
    expect(await statusOf(client.post(`/api/v2/project/${other}/workflow/`, { name: 'same' }))).toBe(201);
  });

  it('gives a name once when eight ask for it together', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.post(url, { name: 'wanted' })));
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array<number>(7).fill(422)]);
  });

  it('takes names of any length', async () => {
    const name = 'long '.repeat(100_000).trim();
    expect(await statusOf(client.post(url, { name }))).toBe(201);
    expect(await statusOf(client.post(url, { name }))).toBe(422);
  });
});

describe('the list of workflows', () => {
  let listUrl: string;
  beforeAll(async () => {
    listUrl = `/api/v2/project/${await addProject(service, owner, 'List')}/workflow/`;
    for (const name of ['b', 'a b', 'Z z', 'é', '_c', 'a', 'B']) await client.post(listUrl, { name });
    const { body } = await client.get(listUrl);
    const starred = body.find((workflow: { name: string }) => workflow.name === '_c');
    await client.post(`${listUrl}${starred.id}/star/`);
    await client.post(`${listUrl}${starred.id}/wftask/`, [{ task_id: task }, { task_id: task }]);
  });

  it('has the starred ones first, then by name, byte by byte', async () => {
    const { status, body } = await client.get(listUrl);
    expect(status).toBe(200);
    expect(body.map((workflow: { name: string }) => workflow.name)).toEqual(['_c', 'B', 'Z z', 'a', 'a b', 'b', 'é']);
    expect(body[0].task_list.map((item: { order: number }) => item.order)).toEqual([0, 1]);
    expect(body[0].task_list[0].task.name).toBe('Threshold');
    expect(body[0].task_list[0]).not.toHaveProperty('warning');
    expect(body[0]).not.toHaveProperty('num_tasks');
    expect(body[1].task_list).toEqual([]);
  });

  it('has numbers instead of tasks when it is slim', async () => {
    const { body } = await client.get(listUrl, { query: { slim: true } });
    expect(body.map((workflow: { num_tasks: number }) => workflow.num_tasks)).toEqual([2, 0, 0, 0, 0, 0, 0]);
    expect(body[0]).not.toHaveProperty('task_list');
  });

  it('takes the same statements for one workflow and for many', async () => {
    expect(await statementsOf(() => client.get(listUrl))).toHaveLength(4);
  });
});

describe('reading a workflow', () => {
  it('tells how many jobs it has and which dataset was used last', async () => {
    const workflow = await newWorkflow(1);
    const before = await client.get(workflow.url);
    expect(before.body).toMatchObject({ num_jobs: 0, num_submitted_jobs: 0, last_dataset_id: null });
    const [first, second] = [await addDataset(service, project), await addDataset(service, project)];
    const base = { project_id: project, workflow_id: workflow.id };
    await addJob(service, { ...base, dataset_id: first, status: 'done' });
    await addJob(service, { ...base, dataset_id: second });
    await addJob(service, { ...base, dataset_id: null, status: 'failed' });
    const after = await client.get(workflow.url);
    expect(after.body).toMatchObject({ num_jobs: 3, num_submitted_jobs: 1, last_dataset_id: second });
  });

  it('warns of tasks that the caller cannot use, each caller for himself', async () => {
    const elsewhere = await addResourceAndProfile(service);
    const group = (fields: object) => addTaskGroup(service, { user_id: owner.id, resource_id, ...fields });
    const groups = [
      await group({}),
      await group({ user_group_id: allGroup }),
      await group({ user_group_id: allGroup, active: false }),
      await group({ user_group_id: allGroup, resource_id: elsewhere.resource_id }),
    ];
    const workflow = await newWorkflow();
    for (const [order, taskgroupv2_id] of groups.entries()) {
      const task_id = await addTask(service, { taskgroupv2_id });
      await service.database.db
        .insertInto('workflow_tasks')
        .values({ workflow_id: workflow.id, task_id, order, task_type: 'compound' })
        .execute();
    }
    const guest = await addPerson(service, profile_id);
    await shareProject(service, project, guest, 'r');
    const warned = async (reader: Client) => {
      const { body } = await reader.get(workflow.url);
      return body.task_list.map((item: { warning: string | null }) => item.warning && typeof item.warning);
    };
    expect(await warned(client)).toEqual([null, null, 'string', null]);
    expect(await warned(guest.client)).toEqual(['string', null, 'string', 'string']);
    const { body } = await guest.client.get(workflow.url);
    expect(body.task_list[0].warning).not.toBe(body.task_list[2].warning);
  });

  it.each(['0', '-1', '999999', '99999999999', '%20999999', '+999999'])('does not know workflow %s', async (id) => {
    expect(await statusOf(client.get(`${url}${id}/`))).toBe(404);
  });

  it('does not find a workflow through another project', async () => {
    const workflow = await newWorkflow();
    const other = await addProject(service, owner, 'Elsewhere');
    expect(await statusOf(client.get(`/api/v2/project/${other}/workflow/${workflow.id}/`))).toBe(404);
  });

  it('reads "import" as a bad id', async () => {
    expect(await statusOf(client.get(`${url}import/`))).toBe(422);
  });

  it('takes two statements for twenty tasks, and the version candidates at most six', async () => {
    const workflow = await newWorkflow();
    const tasks = await Promise.all(
      Array.from({ length: 20 }, () => addTask(service, { taskgroupv2_id: taskGroup, args_schema_parallel: { a: 1 } })),
    );
    const added = await client.post(
      `${workflow.url}wftask/`,
      tasks.map((task_id) => ({ task_id })),
    );
    expect(added.body).toHaveLength(20);
    const reading = await statementsOf(() => client.get(workflow.url));
    expect(reading).toHaveLength(2);
    const candidates = await statementsOf(() => client.get(`${workflow.url}version-update-candidates/`));
    expect(candidates.length).toBeLessThanOrEqual(6);
  });
});

describe('changing a workflow', () => {
  it('changes what is given and keeps the rest', async () => {
    const workflow = await newWorkflow();
    const first = await client.patch(workflow.url, { name: ' renamed ', description: 'd' });
    expect([first.status, first.body.name, first.body.description]).toEqual([200, 'renamed', 'd']);
    expect(first.body).toHaveProperty('num_jobs');
    const second = await client.patch(workflow.url, { description: null });
    expect([second.body.name, second.body.description]).toEqual(['renamed', null]);
    expect((await client.patch(workflow.url, {})).body).toEqual(second.body);
    expect((await client.patch(workflow.url, { name: 'renamed' })).status).toBe(200);
  });

  it.each([
    [{ name: null }],
    [{ name: '' }],
    [{ description: ' ' }],
    [{ extra: 1 }],
    [{ reordered_workflowtask_ids: [1, 1] }],
    [{ reordered_workflowtask_ids: [-1] }],
    [{ reordered_workflowtask_ids: 'x' }],
  ])('refuses %j', async (body) => {
    const workflow = await newWorkflow();
    const answer = await client.patch(workflow.url, body);
    expect([answer.status, Array.isArray(answer.body.detail)]).toEqual([422, true]);
  });

  it('refuses a taken name, and changes nothing then', async () => {
    const [one, other] = [await newWorkflow(2), await newWorkflow()];
    const { name } = (await client.get(other.url)).body;
    const order = one.tasks.toReversed();
    const answer = await client.patch(one.url, { name, description: 'x', reordered_workflowtask_ids: order });
    expect([answer.status, typeof answer.body.detail]).toEqual([422, 'string']);
    const { body } = await client.get(one.url);
    expect(body.description).toBeNull();
    expect(body.task_list.map((item: { id: number }) => item.id)).toEqual(one.tasks);
  });

  it('orders the tasks as listed', async () => {
    const { url: at, tasks } = await newWorkflow(3);
    const order = [tasks[2], tasks[0], tasks[1]];
    const { status, body } = await client.patch(at, { reordered_workflowtask_ids: order });
    expect(status).toBe(200);
    expect(body.task_list.map((item: { id: number }) => item.id)).toEqual(order);
    expect(body.task_list.map((item: { order: number }) => item.order)).toEqual([0, 1, 2]);
  });

  it('refuses an order that is not of these tasks, with a text', async () => {
    const { url: at, tasks } = await newWorkflow(2);
    const stranger = (await newWorkflow(1)).tasks[0];
    for (const ids of [[], [tasks[0]], [...tasks, stranger], [tasks[0], stranger], [tasks[0], 99999999999]]) {
      const answer = await client.patch(at, { name: `new ${++names}`, reordered_workflowtask_ids: ids });
      expect([answer.status, typeof answer.body.detail]).toEqual([422, 'string']);
    }
    expect((await client.get(at)).body.name).not.toMatch(/^new/);
  });

  it('takes the empty order of an empty workflow, and null as no order', async () => {
    const { url: at } = await newWorkflow();
    expect((await client.patch(at, { reordered_workflowtask_ids: [] })).status).toBe(200);
    expect((await client.patch(at, { reordered_workflowtask_ids: null })).status).toBe(200);
  });

  it('keeps the order while a job runs, but not the name', async () => {
    const workflow = await newWorkflow(2);
    const dataset_id = await addDataset(service, project);
    const job = await addJob(service, { project_id: project, workflow_id: workflow.id, dataset_id });
    for (const ids of [workflow.tasks, []]) {
      expect((await client.patch(workflow.url, { reordered_workflowtask_ids: ids })).status).toBe(422);
    }
    expect((await client.patch(workflow.url, { name: `free ${++names}` })).status).toBe(200);
    await endJob(service, job);
    expect((await client.patch(workflow.url, { reordered_workflowtask_ids: workflow.tasks })).status).toBe(200);
  });

  it('stars and takes the star away, any number of times', async () => {
    const { url: at } = await newWorkflow();
    for (const [what, starred] of [
      ['star', true],
      ['star', true],
      ['unstar', false],
      ['unstar', false],
    ] as const) {
      const answer = await client.post(`${at}${what}/`);
      expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([200, '', null]);
      expect((await client.get(at)).body.is_starred).toBe(starred);
    }
  });
});

describe('deleting a workflow', () => {
  it('waits for its jobs', async () => {
    const workflow = await newWorkflow();
    const dataset_id = await addDataset(service, project);
    const job = await addJob(service, { project_id: project, workflow_id: workflow.id, dataset_id });
    expect(await statusOf(client.delete(workflow.url))).toBe(422);
    await endJob(service, job);
    const answer = await client.delete(workflow.url);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await statusOf(client.get(workflow.url))).toBe(404);
  });

  it('takes its tasks and their image states along, and leaves jobs and runs', async () => {
    const { db } = service.database;
    const workflow = await newWorkflow(1);
    const dataset_id = await addDataset(service, project);
    const fields = { project_id: project, workflow_id: workflow.id, dataset_id, status: 'done' } as const;
    const job_id = await addJob(service, fields);
    const workflowtask_id = workflow.tasks[0]!;
    const run = await addHistoryRun(service, { dataset_id, workflowtask_id, job_id });
    await client.delete(workflow.url);
    const states = db.selectFrom('history_image_cache').selectAll().where('workflowtask_id', '=', workflowtask_id);
    expect(await states.execute()).toEqual([]);
    const kept = await db.selectFrom('history_runs').selectAll().where('id', '=', run).executeTakeFirstOrThrow();
    expect(kept).toMatchObject({ workflowtask_id: null, job_id });
    const units = db.selectFrom('history_units').select('id').where('history_run_id', '=', run);
    expect(await units.execute()).toHaveLength(1);
    const job = await db.selectFrom('jobs').selectAll().where('id', '=', job_id).executeTakeFirstOrThrow();
    expect(job).toMatchObject({ workflow_id: null, dataset_id, project_id: project });
    const tasks = db.selectFrom('workflow_tasks').select('id').where('id', '=', workflowtask_id);
    expect(await tasks.execute()).toEqual([]);
  });
});

describe('the flow of types', () => {
  it('needs a task', async () => {
    expect(await statusOf(client.get(`${(await newWorkflow()).url}type-filters-flow/`))).toBe(422);
  });

  it('shows what reaches each task', async () => {
    const workflow = await newWorkflow();
    const make = (fields: object) => addTask(service, { taskgroupv2_id: taskGroup, ...fields });
    const maker = await make({ output_types: { a: true } });
    const taker = await make({ input_types: { a: true }, output_types: { b: false } });
    const { body: added } = await client.post(`${workflow.url}wftask/`, [
      { task_id: maker },
      { task_id: taker, type_filters: { c: true } },
      { task_id: maker },
    ]);
    const { status, body } = await client.get(`${workflow.url}type-filters-flow/`);
    expect(status).toBe(200);
    const step = (index: number, current: object, input: object, output: object) => ({
      workflowtask_id: added[index].id,
      current_type_filters: current,
      input_type_filters: input,
      output_type_filters: output,
    });
    expect(body).toEqual([
      step(0, {}, {}, { a: true }),
      step(1, { a: true }, { a: true, c: true }, { b: false }),
      step(2, { a: true, b: false }, {}, { a: true }),
    ]);
    await service.database.db
      .updateTable('tasks')
      .set({ input_types: '{"c": false}' })
      .where('id', '=', taker)
      .execute();
    expect(await statusOf(client.get(`${workflow.url}type-filters-flow/`))).toBe(422);
  });
});

describe('who may do what', () => {
  const people: Record<string, Client> = {};
  let target: { id: number; url: string; tasks: number[] };

  beforeAll(async () => {
    for (const permissions of ['r', 'rw', 'rwx'] as const) {
      const guest = await addPerson(service, profile_id);
      await shareProject(service, project, guest, permissions);
      people[permissions] = guest.client;
    }
    const pending = await addPerson(service, profile_id);
    await shareProject(service, project, pending, 'rwx', false);
    people['pending'] = pending.client;
    people['stranger'] = (await addPerson(service, profile_id)).client;
    people['superuser'] = service.admin;
    const serviceGuest = await addPerson(service, profile_id, { is_guest: true });
    await shareProject(service, project, serviceGuest, 'rwx');
    people['service guest'] = serviceGuest.client;
    people['anyone'] = service.anyone;
    target = await newWorkflow(2);
    await service.admin.patch('/auth/users/1/', { profile_id, is_verified: true });
  });

  const READS: [string, (caller: Client) => Promise<Answer>][] = [
    ['list', (caller) => caller.get(url)],
    ['read', (caller) => caller.get(target.url)],
    ['export', (caller) => caller.get(`${target.url}export/`)],
    ['see the flow of types', (caller) => caller.get(`${target.url}type-filters-flow/`)],
    ['see version candidates', (caller) => caller.get(`${target.url}version-update-candidates/`)],
    ['read a task', (caller) => caller.get(`${target.url}wftask/${target.tasks[0]}/`)],
  ];
  const WRITES: [string, (caller: Client) => Promise<Answer>][] = [
    ['create', (caller) => caller.post(url, { name: `created ${++names}` })],
    ['import', (caller) => caller.post(`${url}import/`, { name: `imported ${++names}`, task_list: [] })],
    ['change', (caller) => caller.patch(target.url, { description: 'x' })],
    ['star', (caller) => caller.post(`${target.url}star/`)],
    ['unstar', (caller) => caller.post(`${target.url}unstar/`)],
    ['add a task', (caller) => caller.post(`${target.url}wftask/`, [{ task_id: task }])],
    ['change a task', (caller) => caller.patch(`${target.url}wftask/${target.tasks[0]}/`, { alias: 'x' })],
    [
      'replace a task',
      (caller) =>
        caller.post(`${target.url}wftask/replace-task/?workflow_task_id=${target.tasks[0]}&task_id=${task}`, {}),
    ],
    [
      'delete a task',
      async (caller) => {
        const { tasks, url: at } = await newWorkflow(1);
        return caller.delete(`${at}wftask/${tasks[0]}/`);
      },
    ],
    ['delete', async (caller) => caller.delete((await newWorkflow()).url)],
  ];
  const statuses = async (work: (caller: Client) => Promise<Answer>) => {
    const entries = Object.entries(people).map(async ([name, caller]) => [name, (await work(caller)).status] as const);
    return Object.fromEntries(await Promise.all(entries)) as Record<string, number>;
  };
  const refused = { pending: 403, stranger: 403, superuser: 403, anyone: 401 };

  it.each(READS)('everybody with an accepted link can %s', async (_, work) => {
    const found = await statuses(work);
    expect(found).toEqual({ ...refused, r: 200, rw: 200, rwx: 200, 'service guest': 200 });
  });

  it.each(WRITES)('rw is needed to %s', async (_, work) => {
    const { rw, rwx, ...others } = await statuses(work);
    expect([200, 201, 204]).toContain(rw);
    expect(rwx).toBe(rw);
    expect(others).toEqual({ ...refused, r: 403, 'service guest': 403 });
  });

  it.each([...READS, ...WRITES].filter(([what]) => !what.startsWith('delete')))(
    'there is nothing to %s in an unknown project',
    async (_, work) => {
      const moved = { ...target };
      const before = url;
      url = '/api/v2/project/99999999999/workflow/';
      target = { ...moved, url: moved.url.replace(`/project/${project}/`, '/project/99999999999/') };
      const { status } = await work(client);
      url = before;
      target = moved;
      expect(status).toBe(404);
    },
  );
});
