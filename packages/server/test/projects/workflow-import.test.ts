import { beforeAll, describe, expect, it } from 'vitest';

import { addPerson, addProject, type Person } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';
import {
  addResourceAndProfile,
  addTask,
  addTaskGroup,
  type TaskFields,
  type TaskGroupFields,
} from '../support/tasks.ts';

let service: TestService;
let owner: Person;
let other: Person;
let client: Client;
let resource_id: number;
let elsewhere: number;
let allGroup: number;
let url: string;
let names = 0;

/** A task in a task group of its own. */
async function install(group: Partial<TaskGroupFields>, task: Partial<TaskFields> = {}): Promise<number> {
  const taskgroupv2_id = await addTaskGroup(service, { user_id: owner.id, resource_id, ...group });
  return addTask(service, { name: 'T', ...task, taskgroupv2_id });
}

beforeAll(async () => {
  service = await startService();
  const place = await addResourceAndProfile(service);
  ({ resource_id } = place);
  elsewhere = (await addResourceAndProfile(service)).resource_id;
  owner = await addPerson(service, place.profile_id);
  other = await addPerson(service, place.profile_id);
  ({ client } = owner);
  url = `/api/v2/project/${await addProject(service, owner, 'Project')}/workflow/`;
  allGroup = (await service.admin.get('/auth/group/')).body[0].id;
});

const pkg = () => `pkg${++names}`;
const wanted = (pkg_name: string, version?: string | null, name = 'T') => ({
  task: { pkg_name, name, ...(version === undefined ? {} : { version }) },
});
const send = (task_list: unknown, fields: object = {}) =>
  client.post(`${url}import/`, { name: `import ${++names}`, task_list, ...fields });

describe('an export', () => {
  it('holds what makes the workflow, with the versions of the packages', async () => {
    const pkg_name = pkg();
    const task_id = await install({ pkg_name, version: '1.2' }, { meta_parallel: { m: 1 } });
    const { body: workflow } = await client.post(url, { name: 'to export', description: 'about' });
    const given = { args_parallel: { b: 1, a: 2 }, type_filters: { t: true }, alias: 'A', description: 'D' };
    await client.post(`${url}${workflow.id}/wftask/`, [{ task_id, ...given }, { task_id }]);
    const { status, body } = await client.get(`${url}${workflow.id}/export/`);
    expect(status).toBe(200);
    const item = { meta_non_parallel: null, meta_parallel: { m: 1 }, args_non_parallel: null };
    const task = { pkg_name, version: '1.2', name: 'T' };
    expect(body).toEqual({
      name: 'to export',
      description: 'about',
      task_list: [
        { ...item, ...given, task },
        { ...item, args_parallel: null, type_filters: {}, alias: null, description: null, task },
      ],
    });
  });

  it('comes back unchanged from an import', async () => {
    const pkg_name = pkg();
    for (let index = 0; index < 30; index++) {
      const meta_parallel = { a: index, b: 1 };
      await install({ pkg_name, version: `${index}` }, { meta_parallel });
    }
    const task_list = Array.from({ length: 30 }, (_, index) => ({
      ...wanted(pkg_name, `${29 - index}`),
      args_non_parallel: index % 2 ? { [`x${index}`]: index } : null,
      meta_parallel: { b: 2, c: 3 },
      type_filters: { t: index % 3 === 0 },
      alias: `alias ${index}`,
    }));
    const first = await send(task_list, { description: 'd' });
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({ template_id: null, description: 'd', num_jobs: 0, last_dataset_id: null });
    const orders = first.body.task_list.map((item: { order: number }) => item.order);
    expect(orders).toEqual(Array.from({ length: 30 }, (_, index) => index));
    expect(first.body.task_list[0]).toMatchObject({
      alias: 'alias 0',
      meta_parallel: { a: 29, b: 2, c: 3 },
      warning: null,
    });
    const exported = await client.get(`${url}${first.body.id}/export/`);
    const again = await client.post(`${url}import/`, { ...exported.body, name: 'again' });
    expect(again.status).toBe(201);
    const twice = await client.get(`${url}${again.body.id}/export/`);
    expect(twice.body).toEqual({ ...exported.body, name: 'again' });
  });
});

describe('what an import may hold', () => {
  let pkg_name: string;
  beforeAll(async () => {
    pkg_name = pkg();
    await install({ pkg_name, version: '1' }, { type: 'parallel', input_types: { a: true } });
  });
  const item = (fields: object = {}) => ({ ...wanted(pkg_name, '1'), ...fields });

  it('may be no task at all', async () => {
    const { status, body } = await send([]);
    expect([status, body.task_list]).toEqual([201, []]);
  });

  it.each<[string, () => unknown]>([
    ['no list', () => undefined],
    ['an item that is no object', () => [3]],
    ['an item without task', () => [{}]],
    ['a task without name', () => [{ task: { pkg_name } }]],
    ['the retired source', () => [{ task: { ...item().task, source: 'x' } }]],
    ['an unknown key', () => [item({ order: 1 })]],
    ['a reserved argument', () => [item({ args_parallel: { zarr_urls: [] } })]],
    ['both kinds of filters', () => [item({ type_filters: {}, input_filters: { attributes: {} } })]],
    ['both kinds of filters, one null', () => [item({ type_filters: null, input_filters: { attributes: {} } })]],
    ['filters by attribute', () => [item({ input_filters: { attributes: { a: [1] } } })]],
    ['filters without attributes', () => [item({ input_filters: { types: {} } })]],
    ['filters with a list of attributes', () => [item({ input_filters: { attributes: [] } })]],
    ['filters with odd types', () => [item({ input_filters: { attributes: {}, types: { a: 'maybe' } } })]],
    ['NUL', () => [item({ args_parallel: { a: '\u0000' } })]],
    ['NUL in a name', () => [{ task: { pkg_name, name: 'x\u0000', version: '1' } }]],
    ['NUL in filters', () => [item({ input_filters: { attributes: {}, types: { 'x\u0000': true } } })]],
  ])('is refused: %s', async (_, taskList) => {
    const answer = await send(taskList());
    expect([answer.status, Array.isArray(answer.body.detail)]).toEqual([422, true]);
  });

  it.each([
    [{}, {}],
    [{ type_filters: null }, {}],
    [{ type_filters: { a: true } }, { a: true }],
    [{ input_filters: null, type_filters: { b: false } }, { b: false }],
    [{ input_filters: { attributes: {} } }, {}],
    [{ input_filters: { attributes: {}, types: { a: true, ' c ': false } } }, { a: true, c: false }],
  ])('reads filters %j as %j', async (fields, filters) => {
    const { status, body } = await send([item(fields)]);
    expect([status, body.task_list[0].type_filters]).toEqual([201, filters]);
  });

  it('may not ask a task for images it does not take, and stores nothing then', async () => {
    const name = `contradiction ${++names}`;
    const answer = await send([item(), item({ type_filters: { a: false } })], { name });
    expect([answer.status, typeof answer.body.detail]).toEqual([422, 'string']);
    expect((await send([], { name })).status).toBe(201);
  });

  it('may have a part that the task has not', async () => {
    const { status, body } = await send([item({ args_non_parallel: { x: 1 }, meta_non_parallel: { y: 1 } })]);
    expect([status, body.task_list[0].args_non_parallel]).toEqual([201, { x: 1 }]);
  });

  it('has a name that is free, told before anything about tasks', async () => {
    const { body } = await send([]);
    const answer = await send([wanted('unknown', '1')], { name: body.name });
    expect([answer.status, answer.body.detail]).toEqual([422, expect.not.stringContaining('HAS_ERROR_DATA')]);
  });
});

describe('matching tasks', () => {
  it('answers each task of the list when one is missing', async () => {
    const pkg_name = pkg();
    const known = await install({ pkg_name, version: '2.0.0' }, { is_core: true });
    await install({ pkg_name, version: '1.0.0', active: false });
    const versions = (older: [boolean, boolean]) => [
      { version: '2.0.0', older_than_target: older[0], active: true, is_core: true },
      { version: '1.0.0', older_than_target: older[1], active: false, is_core: false },
    ];
    const answer = await send([
      wanted(pkg_name, '2.0.0'),
      wanted(pkg_name, '1.5'),
      wanted(pkg_name, 'weird'),
      wanted(pkg_name, null),
      wanted(pkg_name),
      wanted(pkg_name, '2.0'),
      wanted(pkg_name, '2.0.0', 't'),
      wanted(pkg_name.toUpperCase(), '2.0.0'),
      wanted(pkg_name, '3'),
    ]);
    const fail = (version: string | null, available_tasks: object[], names: object = {}) => ({
      outcome: 'fail',
      pkg_name,
      version,
      task_name: 'T',
      available_tasks,
      ...names,
    });
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({
      detail: '[HAS_ERROR_DATA]',
      data: [
        { outcome: 'success', pkg_name, version: '2.0.0', task_name: 'T', task_id: known },
        fail('1.5', versions([false, true])),
        fail('weird', versions([false, false])),
        fail(null, versions([false, false])),
        fail(null, versions([false, false])),
        fail('2.0', versions([false, true])),
        fail('2.0.0', [], { task_name: 't' }),
        fail('2.0.0', [], { pkg_name: pkg_name.toUpperCase() }),
        fail('3', versions([true, true])),
      ],
    });
  });

  it('takes an inactive task, with a warning', async () => {
    const pkg_name = pkg();
    await install({ pkg_name, version: '1', active: false });
    const { status, body } = await send([wanted(pkg_name, '1')]);
    expect([status, typeof body.task_list[0].warning]).toEqual([201, 'string']);
  });

  it('sees neither tasks of others nor those of other resources', async () => {
    const pkg_name = pkg();
    await install({ pkg_name, version: '1', user_id: other.id });
    await install({ pkg_name, version: '1', resource_id: elsewhere });
    await install({ pkg_name, version: '1', user_id: other.id, user_group_id: allGroup, resource_id: elsewhere });
    const { body } = await send([wanted(pkg_name, '1')]);
    expect(body.data[0].available_tasks).toEqual([]);
  });

  it('prefers the own task, then that of the default group, then that of the group joined first', async () => {
    const join = async (group_id: number, timestamp_joined: string) =>
      service.database.db
        .insertInto('group_members')
        .values({ group_id, user_id: owner.id, timestamp_joined })
        .execute();
    const newGroup = async () =>
      (await service.admin.post('/auth/group/', { name: `group ${++names}` })).body.id as number;
    const [late, early, foreign] = [await newGroup(), await newGroup(), await newGroup()];
    await join(late, '2021-01-01T00:00:00.5Z');
    await join(early, '2021-01-01T00:00:00Z');
    const pkg_name = pkg();
    const chosen = async () => (await send([wanted(pkg_name, '1')])).body.task_list[0].task_id as number;
    const shared = async (user_group_id: number) =>
      install({ pkg_name, version: '1', user_id: (await service.person()).id, user_group_id });

    await shared(foreign);
    const ofLate = await shared(late);
    expect(await chosen()).toBe(ofLate);
    const ofEarly = await shared(early);
    const ofSameTime = await newGroup();
    await join(ofSameTime, '2021-01-01T00:00:00Z');
    await shared(ofSameTime);
    expect(await chosen()).toBe(ofEarly);
    const ofDefault = await shared(allGroup);
    expect(await chosen()).toBe(ofDefault);
    const own = await install({ pkg_name, version: '1' });
    expect(await chosen()).toBe(own);
  });

  it('lists every installed copy of a version, newest first', async () => {
    const pkg_name = pkg();
    for (const version of ['0.9', '0.10', 'dev', '0.10a1']) await install({ pkg_name, version });
    await install({ pkg_name, version: '0.10', user_id: other.id, user_group_id: allGroup });
    const { body } = await send([wanted(pkg_name, null)]);
    const versions = body.data[0].available_tasks.map((task: { version: string }) => task.version);
    expect(versions).toEqual(['0.10', '0.10', '0.10a1', '0.9', 'dev']);
  });

  it('takes as many statements for thirty tasks as for one', async () => {
    const pkg_name = pkg();
    for (let index = 0; index < 30; index++) await install({ pkg_name, version: `${index}` });
    const all = Array.from({ length: 30 }, (_, index) => wanted(pkg_name, `${index}`));
    const [one, many] = [await statementsOf(() => send(all.slice(0, 1))), await statementsOf(() => send(all))];
    expect(many).toEqual(one);
    expect(many.length).toBeLessThanOrEqual(10);
  });

  it('gives a name once when eight import together', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => send([], { name: 'one of eight' })));
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array<number>(7).fill(422)]);
  });

  it('needs the default group that the settings name', async () => {
    const { db } = service.database;
    await db.updateTable('user_groups').set({ name: 'Gone' }).where('id', '=', allGroup).execute();
    const answer = await send([wanted('unknown')]);
    await db.updateTable('user_groups').set({ name: 'All' }).where('id', '=', allGroup).execute();
    expect([answer.status, answer.body.detail]).toEqual([404, [expect.stringContaining('All')]]);
  });
});
