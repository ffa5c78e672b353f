import { beforeAll, describe, expect, it } from 'vitest';

import type { User } from '@service/contract';

import { chooseUserGroup } from '../../src/tasks/visibility.ts';
import { addPerson, type Person } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';
import { addResourceAndProfile, addTask, addTaskGroup } from '../support/tasks.ts';

const URL = '/api/v2/task/';

let service: TestService;
let owner: Person;
let member: Person;
let guest: Person;
/** In the same group, on another resource. */
let elsewhere: Person;
let client: Client;
let resource_id: number;
let profile_id: number;
let allGroup: number;
let ownGroup: number;
let foreignGroup: number;
let names = 0;

const newName = () => `Task ${++names}`;
const body = (fields: object = {}) => ({ name: newName(), version: '1', command_parallel: 'echo', ...fields });

async function newGroup(name: string, ...people: Person[]): Promise<number> {
  const { body: group } = await service.admin.post('/auth/group/', { name });
  for (const { id } of people) await service.admin.post(`/auth/group/${group.id}/add-user/${id}/`);
  return group.id;
}

beforeAll(async () => {
  service = await startService();
  ({ profile_id, resource_id } = await addResourceAndProfile(service));
  owner = await addPerson(service, profile_id);
  member = await addPerson(service, profile_id);
  guest = await addPerson(service, profile_id, { is_guest: true });
  elsewhere = await addPerson(service, (await addResourceAndProfile(service)).profile_id);
  ({ client } = owner);
  allGroup = (await service.admin.get('/auth/group/')).body[0].id;
  ownGroup = await newGroup('own', owner, member);
  foreignGroup = await newGroup('foreign', member);
});

describe('creating a task', () => {
  it('makes a task and a task group for it, and infers the type', async () => {
    const { status, body: task } = await client.post(URL, {
      name: ' My Task ',
      version: ' 1.0 ',
      command_parallel: ' echo "a" ',
      meta_parallel: { ' mem ': 1 },
      input_types: { a: 'yes' },
      tags: [' x ', 'y'],
      docs_link: 'https://example.org',
    });
    expect(status).toBe(201);
    expect(task).toEqual({
      id: expect.any(Number),
      taskgroupv2_id: expect.any(Number),
      name: 'My Task',
      type: 'parallel',
      version: '1.0',
      is_core: false,
      command_non_parallel: null,
      command_parallel: 'echo "a"',
      meta_non_parallel: {},
      meta_parallel: { mem: 1 },
      args_schema_non_parallel: null,
      args_schema_parallel: null,
      args_schema_version: null,
      docs_info: null,
      docs_link: 'https://example.org',
      input_types: { a: true },
      output_types: {},
      category: null,
      modality: null,
      authors: null,
      tags: ['x', 'y'],
    });
    expect((await client.get(`${URL}${task.id}/`)).body).toEqual(task);
    const group = await client.get(`/api/v2/task-group/${task.taskgroupv2_id}/`);
    expect(group.body).toMatchObject({
      pkg_name: 'My Task',
      version: '1.0',
      origin: 'other',
      active: true,
      user_group_id: allGroup,
      user_email: owner.email,
      path: null,
      task_list: [task],
      in_use: false,
    });
    expect((await client.get('/api/v2/task-group/activity/')).body).toEqual([]);
  });

  it('takes the health check of existing clients', async () => {
    const check = {
      name: '__TEST_ECHO_TASK__',
      type: 'converter_non_parallel',
      command_non_parallel: 'echo',
      version: '9.9.9',
    };
    const answer = await client.post(`${URL}?private=true`, check);
    expect([answer.status, answer.body.type]).toEqual([201, 'converter_non_parallel']);
    const listed = await client.get('/api/v2/task-group/?only_active=true');
    expect(listed.body.map(([name]: [string]) => name)).toContain('__TEST_ECHO_TASK__');
  });

  it.each([
    [{ command_parallel: undefined, command_non_parallel: 'b' }, 'non_parallel'],
    [{ command_non_parallel: 'b' }, 'compound'],
    [{ type: null }, 'parallel'],
    [{ type: 'converter_compound' }, 'converter_compound'],
    [{ meta_parallel: null, meta_non_parallel: null }, 'parallel'],
    [{ type: 'converter_non_parallel', meta_parallel: {} }, 'converter_non_parallel'],
    [{ meta_parallel: { a: { b: [1, null] } }, args_schema_parallel: null, args_schema_version: 'v' }, 'parallel'],
  ])('takes %j as %s', async (fields, type) => {
    const answer = await client.post(URL, body(fields));
    expect([answer.status, answer.body.type]).toEqual([201, type]);
    expect([typeof answer.body.meta_parallel, typeof answer.body.meta_non_parallel]).toEqual(['object', 'object']);
    expect(answer.body.meta_parallel).not.toBeNull();
  });

  it.each([
    [{ name: ' ' }],
    [{ name: 'a\u0000b' }],
    [{ version: '' }],
    [{ extra: 1 }],
    [{ command_parallel: undefined }],
    [{ command_parallel: null }],
    [{ command_parallel: 'echo; rm' }],
    [{ command_parallel: 'echo\nrm' }],
    [{ command_parallel: 'a\u0000b' }],
    [{ args_schema_version: null }],
    [{ type: 'odd' }],
    [{ tags: ['a', 'a'] }],
    [{ tags: null }],
    [{ docs_link: 'example.org' }],
    [{ input_types: { a: 'maybe' } }],
    [{ meta_parallel: { 'a ': 1, a: 2 } }],
    [{ category: '' }],
  ])('refuses %j with a list of what is wrong', async (fields) => {
    const { status, body: refusal } = await client.post(URL, body(fields));
    expect([status, Array.isArray(refusal.detail)]).toEqual([422, true]);
  });

  it.each([
    [{ meta_non_parallel: {} }],
    [{ args_schema_non_parallel: {} }],
    [{ command_parallel: undefined, command_non_parallel: 'x', meta_parallel: {} }],
    [{ command_parallel: undefined, command_non_parallel: 'x', args_schema_parallel: {} }],
    [{ type: 'non_parallel', args_schema_parallel: {} }],
  ])('refuses parts that the task has not: %j', async (fields) => {
    const { status, body: refusal } = await client.post(URL, body(fields));
    expect([status, refusal.detail]).toEqual([422, expect.stringContaining('Leave them out')]);
  });

  it.each([
    ['?private=true', 201, null],
    ['', 201, 'all'],
    ['?private=no&user_group_id=own', 201, 'own'],
    ['?user_group_id=own&private=true', 422, undefined],
    ['?user_group_id=foreign', 403, undefined],
    ['?user_group_id=99999', 404, undefined],
    ['?user_group_id=99999999999999999999', 404, undefined],
    ['?user_group_id=x', 422, undefined],
    ['?private=maybe', 422, undefined],
  ])('with %s answers %i', async (query, expected, group) => {
    const ids = { all: allGroup, own: ownGroup };
    const url = URL + query.replace('=own', `=${ownGroup}`).replace('=foreign', `=${foreignGroup}`);
    const { status, body: task } = await client.post(url, body());
    expect(status).toBe(expected);
    if (status !== 201) return;
    const { user_group_id } = (await client.get(`/api/v2/task-group/${task.taskgroupv2_id}/`)).body;
    expect(user_group_id).toBe(group === null ? null : ids[group as 'all']);
  });

  it('refuses what its owner has, and what its user group has, and names the other one', async () => {
    const task = body();
    const first = await client.post(`${URL}?private=true`, task);
    const again = await client.post(`${URL}?user_group_id=${ownGroup}`, task);
    expect(again.status).toBe(422);
    expect(again.body.detail).toContain(`task group ${first.body.taskgroupv2_id}`);
    expect((await member.client.post(`${URL}?user_group_id=${ownGroup}`, task)).status).toBe(201);
    const third = await addPerson(service, profile_id);
    await service.admin.post(`/auth/group/${ownGroup}/add-user/${third.id}/`);
    const shared = await third.client.post(`${URL}?user_group_id=${ownGroup}`, task);
    expect([shared.status, shared.body.detail]).toEqual([422, expect.stringContaining(member.email)]);
    expect((await third.client.post(`${URL}?private=true`, task)).status).toBe(201);
    expect((await client.post(URL, { ...task, version: '2' })).status).toBe(201);
  });

  it('makes one when eight ask for the same together', async () => {
    const task = body();
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.post(URL, task)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(7).fill(422)]);
  });

  it('refuses names that are too long for an index', async () => {
    const name = Array.from({ length: 4000 }, () =>
      String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 9000)),
    ).join('');
    expect((await client.post(URL, body({ name }))).status).toBe(422);
  });

  it('is for members: not for guests, people without profile, strangers', async () => {
    const unplaced = await service.person({ patch: { is_verified: true } });
    const callers = [guest.client, unplaced.client, service.anyone, service.admin];
    const answers = await Promise.all(callers.map((caller) => caller.post(URL, body())));
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 401, 403]);
  });

  it('says so when the default group is missing, and makes it private where there is to be none', async () => {
    const { db } = service.database;
    await db.updateTable('user_groups').set({ name: 'Gone' }).where('id', '=', allGroup).execute();
    const missing = await client.post(URL, body());
    const list = await client.get('/api/v2/task-group/');
    await db.updateTable('user_groups').set({ name: 'All' }).where('id', '=', allGroup).execute();
    expect([missing.status, list.status]).toEqual([404, 404]);
    const me = { id: owner.id } as User;
    expect(await chooseUserGroup(db, me, { private: false }, null)).toBeNull();
  });

  it('refuses a resource that is not usable any more', async () => {
    const place = await addResourceAndProfile(service);
    const person = await addPerson(service, place.profile_id);
    const { db } = service.database;
    await db.updateTable('resources').set({ tasks_python_config: '{}' }).where('id', '=', place.resource_id).execute();
    const { status, body: refusal } = await person.client.post(URL, body());
    expect([status, refusal.detail]).toEqual([422, expect.stringContaining('tasks_python_config')]);
  });
});

describe('who sees a task', () => {
  let group: number;
  let task: number;
  let foreign: number;
  beforeAll(async () => {
    group = await addTaskGroup(service, { user_id: owner.id, resource_id, user_group_id: ownGroup, active: false });
    task = await addTask(service, { taskgroupv2_id: group, name: 'Seen' });
    const other = await addResourceAndProfile(service);
    const onOther = await addTaskGroup(service, { user_id: owner.id, resource_id: other.resource_id });
    foreign = await addTask(service, { taskgroupv2_id: onOther, name: 'On another resource' });
    await service.admin.post(`/auth/group/${ownGroup}/add-user/${elsewhere.id}/`);
  });

  it('owner and members of its user group do, on its resource; inactive ones too', async () => {
    const stranger = await addPerson(service, profile_id);
    const url = `${URL}${task}/`;
    const answers = await Promise.all(
      [client, member.client, elsewhere.client, stranger.client, service.admin, service.anyone].map((caller) =>
        caller.get(url),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 403, 403, 403, 401]);
    const lists = await Promise.all(
      [client, member.client, elsewhere.client, stranger.client].map(async (caller) =>
        (await caller.get(`${URL}?slim=false`)).body.some(({ id }: { id: number }) => id === task),
      ),
    );
    expect(lists).toEqual([true, true, false, false]);
  });

  it('the owner reads a task of another resource only through its group', async () => {
    expect((await client.get(`${URL}${foreign}/`)).status).toBe(403);
    expect((await client.patch(`${URL}${foreign}/`, { category: 'x' })).status).toBe(403);
    expect((await client.get(URL)).body.map(({ id }: { id: number }) => id)).not.toContain(foreign);
  });

  it('the list is in order of ids and short', async () => {
    const { body: list } = await client.get(URL);
    const ids = list.map(({ id }: { id: number }) => id);
    expect(ids).toEqual(ids.toSorted((one: number, other: number) => one - other));
    expect(Object.keys(list[0]).sort()).toEqual(
      [
        'authors',
        'category',
        'docs_info',
        'docs_link',
        'id',
        'input_types',
        'is_core',
        'modality',
        'name',
        'tags',
      ].concat(['type', 'version']),
    );
  });

  it.each([
    ['0', 404],
    ['-1', 404],
    ['99999999999999999999', 404],
    ['x', 422],
  ])('a task with the id %s is answered with %i', async (id, status) => {
    expect((await client.get(`${URL}${id}/`)).status).toBe(status);
    expect((await client.patch(`${URL}${id}/`, {})).status).toBe(status);
  });
});

describe('changing a task', () => {
  it('changes what is given and keeps the rest', async () => {
    const { body: task } = await client.post(URL, body({ command_non_parallel: 'n', tags: ['a'], authors: 'me' }));
    const url = `${URL}${task.id}/`;
    expect((await client.patch(url, {})).body).toEqual(task);
    const change = {
      command_parallel: ' new ',
      command_non_parallel: 'other',
      input_types: { a: true },
      output_types: { b: false },
      category: 'C',
      modality: 'M',
      authors: null,
      tags: ['t'],
    };
    const changed = await client.patch(url, change);
    expect([changed.status, changed.body]).toEqual([200, { ...task, ...change, command_parallel: 'new' }]);
    expect((await client.get(url)).body).toEqual(changed.body);
  });

  it('stores no tags for null', async () => {
    const { body: task } = await client.post(URL, body({ tags: ['a'] }));
    expect((await client.patch(`${URL}${task.id}/`, { tags: null })).body.tags).toEqual([]);
    expect((await client.get(`${URL}${task.id}/`)).body.tags).toEqual([]);
  });

  it.each([
    [{ command_parallel: null }],
    [{ command_parallel: 'a; b' }],
    [{ command_parallel: 'a\nb' }],
    [{ input_types: null }],
    [{ tags: ['a', ' a'] }],
    [{ category: '' }],
    [{ authors: 'a\u0000' }],
    [{ name: 'x' }],
    [{ command_non_parallel: 'x' }],
  ])('refuses %j for a parallel task', async (change) => {
    const { body: task } = await client.post(URL, body());
    expect((await client.patch(`${URL}${task.id}/`, change)).status).toBe(422);
  });

  it('refuses a parallel command for a non-parallel task, and takes one for a converter', async () => {
    const plain = body({ command_parallel: undefined, command_non_parallel: 'x' });
    const statuses = [];
    for (const type of ['non_parallel', 'converter_non_parallel']) {
      const { body: task } = await client.post(URL, { ...plain, name: newName(), type });
      statuses.push((await client.patch(`${URL}${task.id}/`, { command_parallel: 'y' })).status);
    }
    expect(statuses).toEqual([422, 200]);
  });

  it.each([
    [{ command_parallel: 'x' }, 422],
    [{ input_types: {} }, 422],
    [{ output_types: {} }, 422],
    [{ category: 'x', modality: null, authors: 'x', tags: ['x'] }, 200],
  ])('of an installed package takes %j with %i', async (change, status) => {
    const taskgroupv2_id = await addTaskGroup(service, { user_id: owner.id, resource_id });
    const task = await addTask(service, { taskgroupv2_id });
    expect((await client.patch(`${URL}${task}/`, change)).status).toBe(status);
  });

  it('is for the owner', async () => {
    const { body: task } = await client.post(`${URL}?user_group_id=${ownGroup}`, body());
    const callers = [member.client, guest.client, service.anyone];
    const answers = await Promise.all(callers.map((caller) => caller.patch(`${URL}${task.id}/`, { category: 'x' })));
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 401]);
    expect(answers[0]!.body.detail).toContain(owner.email);
  });
});

describe('deleting a task', () => {
  it('is not possible, and the answer names the way', async () => {
    const answer = await client.delete(`${URL}1/`);
    expect([answer.status, answer.body.detail]).toEqual([405, expect.stringContaining('/api/v2/task-group/')]);
    expect((await service.anyone.delete(`${URL}1/`)).status).toBe(401);
    expect((await guest.client.delete(`${URL}1/`)).status).toBe(403);
  });
});

describe('two hundred groups of thirty tasks', () => {
  it('are listed with at most five statements', async () => {
    const place = await addResourceAndProfile(service);
    const person = await addPerson(service, place.profile_id);
    const { pool } = service.database;
    await pool.query(
      `with g as (insert into task_groups (user_id, resource_id, origin, pkg_name, version)
         select $1, $2, 'pypi', 'many-' || i, '1' from generate_series(1, 200) i returning id)
       insert into tasks (taskgroupv2_id, name, type, version)
       select g.id, 'task ' || j, 'parallel', '1' from g, generate_series(1, 30) j`,
      [person.id, place.resource_id],
    );
    const paths: [Client, string, (body: unknown) => number][] = [
      [person.client, URL, (list) => (list as []).length],
      [
        person.client,
        '/api/v2/task-group/',
        (list) => (list as [string, [{ task_list: [] }]][]).flatMap(([, [group]]) => group.task_list).length,
      ],
      [service.admin, `/admin/v2/task/?owner_id=${person.id}`, (page) => (page as { items: [] }).items.length],
      [
        service.admin,
        `/admin/v2/task-group/?user_id=${person.id}`,
        (page) => (page as { items: { task_list: [] }[] }).items.flatMap((group) => group.task_list).length,
      ],
    ];
    for (const [caller, path, count] of paths) {
      let answer: unknown;
      const statements = await statementsOf(async () => {
        answer = (await caller.get(path)).body;
      });
      expect([path, count(answer)]).toEqual([path, 6000]);
      // the queue looks for work now and then
      const own = statements.filter((statement) => !statement.includes('background_work'));
      expect(own.length).toBeLessThanOrEqual(5);
    }
  });
});
