import { beforeAll, describe, expect, it } from 'vitest';

import { addWorkflow } from '../support/people.ts';
import { addPerson, addProject, type Person } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';
import { addResourceAndProfile, addTask, addTaskGroup } from '../support/tasks.ts';

const TASKS = '/admin/v2/task/';
const GROUPS = '/admin/v2/task-group/';

let service: TestService;
let admin: Client;
let owner: Person;
let other: Person;
let resource_id: number;
let elsewhere: { resource_id: number; profile_id: number };
let allGroup: number;

beforeAll(async () => {
  service = await startService();
  ({ admin } = service);
  const place = await addResourceAndProfile(service);
  ({ resource_id } = place);
  elsewhere = await addResourceAndProfile(service);
  owner = await addPerson(service, place.profile_id);
  other = await addPerson(service, place.profile_id);
  allGroup = (await admin.get('/auth/group/')).body[0].id;
});

describe('the lists of administrators', () => {
  let shared: number;
  let own: number;
  let away: number;
  /** 0 and 1 in the shared group, 2 in the private one, 3 on another resource. */
  let tasks: number[];
  let workflow: number;
  let project: number;

  beforeAll(async () => {
    const { db } = service.database;
    shared = await addTaskGroup(service, {
      user_id: owner.id,
      resource_id,
      user_group_id: allGroup,
      pkg_name: 'Shared_pkg',
    });
    own = await addTaskGroup(service, { user_id: other.id, resource_id, pkg_name: 'own-pkg', active: false });
    away = await addTaskGroup(service, { user_id: owner.id, resource_id: elsewhere.resource_id, pkg_name: 'away' });
    await db
      .updateTable('task_groups')
      .set({ origin: 'pixi', timestamp_last_used: '2026-01-01T00:00:00Z' })
      .where('id', '=', away)
      .execute();
    tasks = [
      await addTask(service, { taskgroupv2_id: shared, name: 'First', type: 'parallel', is_core: true }),
      await addTask(service, { taskgroupv2_id: shared, name: 'Second 50%' }),
      await addTask(service, { taskgroupv2_id: own, name: 'Third' }),
      await addTask(service, { taskgroupv2_id: away, name: 'Fourth' }),
    ];
    await db
      .updateTable('tasks')
      .set({
        category: 'Segmentation',
        modality: 'HCS',
        authors: 'Ada Lovelace',
        version: '7',
        command_parallel: 'run',
      })
      .where('id', '=', tasks[0]!)
      .execute();
    project = await addProject(service, other, 'The project');
    workflow = await addWorkflow(service, project, 'The workflow');
    for (const order of [0, 1]) {
      await db
        .insertInto('workflow_tasks')
        .values({ workflow_id: workflow, task_id: tasks[0]!, order, task_type: 'parallel' })
        .execute();
    }
  });

  it('of tasks shows who has them and where they are used', async () => {
    const { status, body } = await admin.get(`${TASKS}?id=${tasks[0]}`);
    expect(status).toBe(200);
    const relationship = {
      workflow_id: workflow,
      workflow_name: 'The workflow',
      project_id: project,
      project_name: 'The project',
      project_users: [{ id: other.id, email: other.email }],
    };
    expect(body).toEqual({
      current_page: 1,
      page_size: 1,
      total_count: 1,
      items: [
        {
          task: {
            id: tasks[0],
            name: 'First',
            type: 'parallel',
            is_core: true,
            taskgroupv2_id: shared,
            command_non_parallel: null,
            command_parallel: 'run',
            version: '7',
            pkg_name: 'Shared_pkg',
            active: true,
            owner: owner.email,
            user_group: 'All',
          },
          relationships: [relationship, relationship],
        },
      ],
    });
  });

  it.each([
    ['', [0, 1, 2, 3]],
    ['?page=2&page_size=3', [3]],
    ['?page=5&page_size=3', []],
    ['?version=7', [0]],
    ['?name=FIRST', [0]],
    ['?name=0%25', [1]],
    ['?name=_', []],
    ['?task_type=parallel', [0]],
    ['?category=segmentation', [0]],
    ['?category=segment', []],
    ['?modality=hcs', [0]],
    ['?author=LOVE', [0]],
    ['?resource_id=elsewhere', [3]],
    ['?owner_id=other', [2]],
    ['?task_group=d_P', [0, 1]],
    ['?core=true', [0]],
    ['?core=false', [1, 2, 3]],
    ['?private=true', [2, 3]],
    ['?private=false', [0, 1]],
    ['?active=false', [2]],
    ['?id=99999999999999999999', []],
  ])('of tasks has with %s: %j', async (query, expected) => {
    const url = TASKS + query.replace('=elsewhere', `=${elsewhere.resource_id}`).replace('=other', `=${other.id}`);
    const { body } = await admin.get(url);
    expect(body.items.map(({ task }: { task: { id: number } }) => tasks.indexOf(task.id))).toEqual(expected);
  });

  it.each([
    ['', ['shared', 'own', 'away']],
    ['?page=2&page_size=1', ['own']],
    ['?user_id=other', ['own']],
    ['?user_group_id=all', ['shared']],
    ['?private=true', ['own', 'away']],
    ['?private=false&user_group_id=all', ['shared']],
    ['?active=false', ['own']],
    ['?pkg_name=PKG', ['shared', 'own']],
    ['?pkg_name=d_p', ['shared']],
    ['?origin=pixi', ['away']],
    ['?timestamp_last_used_max=2026-01-01T00:00:00Z', ['away']],
    ['?timestamp_last_used_min=2026-01-01T00:00:01Z', ['shared', 'own']],
    ['?resource_id=elsewhere', ['away']],
    ['?in_use=true', ['shared']],
    ['?in_use=false', ['own', 'away']],
    ['?task_group_id=99999999999999999999', []],
  ])('of task groups has with %s: %j', async (query, expected) => {
    const url =
      GROUPS +
      query
        .replace('=elsewhere', `=${elsewhere.resource_id}`)
        .replace('=other', `=${other.id}`)
        .replace('=all', `=${allGroup}`);
    const { body } = await admin.get(url);
    const names = new Map([
      [shared, 'shared'],
      [own, 'own'],
      [away, 'away'],
    ]);
    expect(body.items.map(({ id }: { id: number }) => names.get(id))).toEqual(expected);
  });

  it('of task groups shows owner and resource, and so does a single one', async () => {
    const { body } = await admin.get(`${GROUPS}?task_group_id=${shared}`);
    expect(body.items[0]).toMatchObject({
      user_id: owner.id,
      resource_id,
      user_email: owner.email,
      in_use: true,
      num_workflows: 1,
      task_list: [{ id: tasks[0], command_parallel: 'run' }, { id: tasks[1] }],
    });
    expect((await admin.get(`${GROUPS}${shared}/`)).body).toEqual(body.items[0]);
  });

  it.each([
    `${TASKS}?task_type=odd`,
    `${TASKS}?page=0`,
    `${TASKS}?page=2`,
    `${TASKS}?name=%00`,
    `${GROUPS}?private=true&user_group_id=1`,
    `${GROUPS}?origin=odd`,
    `${GROUPS}?timestamp_last_used_min=2026-01-01T00:00:00`,
    `${GROUPS}?page_size=0`,
  ])('refuse %s', async (url) => {
    expect((await admin.get(url)).status).toBe(422);
  });

  it('are for superusers', async () => {
    for (const url of [TASKS, GROUPS, `${GROUPS}${shared}/`]) {
      expect((await owner.client.get(url)).status).toBe(403);
      expect((await service.anyone.get(url)).status).toBe(401);
    }
  });
});

describe('sharing by an administrator', () => {
  it('gives a task group to any group, or to none', async () => {
    const group = await addTaskGroup(service, { user_id: owner.id, resource_id });
    const foreign = (await admin.post('/auth/group/', { name: 'foreign' })).body.id;
    const shared = await admin.patch(`${GROUPS}${group}/`, { user_group_id: foreign });
    expect([shared.status, shared.body.user_group_id, shared.body.user_id]).toEqual([200, foreign, owner.id]);
    expect((await admin.patch(`${GROUPS}${group}/`, {})).body.user_group_id).toBe(foreign);
    expect((await admin.patch(`${GROUPS}${group}/`, { user_group_id: null })).body.user_group_id).toBeNull();
    expect((await admin.patch(`${GROUPS}${group}/`, { user_group_id: 99_999 })).status).toBe(404);
    expect((await admin.patch(`${GROUPS}${group}/`, { active: true })).status).toBe(422);
    expect((await owner.client.patch(`${GROUPS}${group}/`, {})).status).toBe(403);
  });
});

describe('core tasks', () => {
  let packages = 0;
  /** Two equal tasks in groups of two people, and one of another name. */
  async function equalTasks() {
    const fields = { resource_id, pkg_name: `core-${++packages}` };
    const mine = await addTaskGroup(service, { ...fields, user_id: owner.id });
    const theirs = await addTaskGroup(service, { ...fields, user_id: other.id });
    return {
      groups: [mine, theirs] as const,
      one: await addTask(service, { taskgroupv2_id: mine, name: 'Equal' }),
      two: await addTask(service, { taskgroupv2_id: theirs, name: 'Equal' }),
      different: await addTask(service, { taskgroupv2_id: theirs, name: 'Different' }),
    };
  }

  const isCore = async (task: number) => (await admin.get(`${TASKS}?id=${task}`)).body.items[0].task.is_core as boolean;

  it('are made and unmade, repeatedly', async () => {
    const { one, different } = await equalTasks();
    for (const [what, expected] of [
      ['make-core', true],
      ['make-core', true],
      ['make-not-core', false],
      ['make-not-core', false],
    ] as const) {
      const answer = await admin.post(`${TASKS}${what}/`, [one, String(different)]);
      expect([answer.status, answer.text]).toEqual([200, '']);
      expect([await isCore(one), await isCore(different)]).toEqual([expected, expected]);
    }
  });

  it.each([[[]], [{}], [[-1]], [['x']], [undefined], ['twice']])('refuse %j', async (body) => {
    const { one } = await equalTasks();
    for (const what of ['make-core', 'make-not-core']) {
      expect((await admin.post(`${TASKS}${what}/`, body === 'twice' ? [one, one] : body)).status).toBe(422);
    }
  });

  it('of which one does not exist are not made at all, and the missing ids are named', async () => {
    const { one } = await equalTasks();
    const answer = await admin.post(`${TASKS}make-core/`, [one, 99_998, 99_999]);
    expect([answer.status, answer.body.detail]).toEqual([404, expect.stringContaining('99998, 99999')]);
    expect(await isCore(one)).toBe(false);
    expect((await admin.post(`${TASKS}make-core/`, [1e20])).status).toBe(404);
  });

  it('are unique among equal tasks', async () => {
    const { one, two, different, groups } = await equalTasks();
    expect((await admin.post(`${TASKS}make-core/`, [one, two])).status).toBe(422);
    expect((await admin.post(`${TASKS}make-core/`, [one])).status).toBe(200);
    const second = await admin.post(`${TASKS}make-core/`, [different, two]);
    expect([second.status, second.body.detail]).toEqual([
      422,
      expect.stringContaining(`The task ${one} is the core task`),
    ]);
    expect((await admin.post(`${GROUPS}${groups[1]}/make-core/`)).status).toBe(422);
    expect(await isCore(different)).toBe(false);
    expect((await admin.post(`${TASKS}make-not-core/`, [one])).status).toBe(200);
    expect((await admin.post(`${GROUPS}${groups[1]}/make-core/`)).status).toBe(200);
    expect([await isCore(one), await isCore(two), await isCore(different)]).toEqual([false, true, true]);
  });

  it('may be equal on another resource or in another version', async () => {
    const { one } = await equalTasks();
    const pkg_name = `core-${packages}`;
    const groups = [
      await addTaskGroup(service, { user_id: owner.id, resource_id: elsewhere.resource_id, pkg_name }),
      await addTaskGroup(service, { user_id: owner.id, resource_id, pkg_name, version: '2' }),
    ];
    const tasks = await Promise.all(
      groups.map((taskgroupv2_id) => addTask(service, { taskgroupv2_id, name: 'Equal' })),
    );
    expect((await admin.post(`${TASKS}make-core/`, [one, ...tasks])).status).toBe(200);
  });

  it('are made once when two that exclude each other are wanted together', async () => {
    for (let round = 0; round < 5; round++) {
      const { one, two, groups } = await equalTasks();
      const calls = [
        admin.post(`${TASKS}make-core/`, [one]),
        admin.post(`${TASKS}make-core/`, [two]),
        admin.post(`${GROUPS}${groups[1]}/make-core/`),
      ];
      const statuses = (await Promise.all(calls)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 422).length).toBeGreaterThan(0);
      expect([await isCore(one), await isCore(two)].filter(Boolean)).toHaveLength(1);
      expect(statuses[0] === 200).toBe(await isCore(one));
    }
  });

  it('are made of all tasks of a group', async () => {
    const { groups, two, different } = await equalTasks();
    const url = `${GROUPS}${groups[1]}/`;
    const made = await admin.post(`${url}make-core/`);
    expect([made.status, made.text]).toEqual([200, '']);
    expect([await isCore(two), await isCore(different)]).toEqual([true, true]);
    expect((await admin.post(`${url}make-not-core/`, {})).status).toBe(200);
    expect([await isCore(two), await isCore(different)]).toEqual([false, false]);
    const empty = await addTaskGroup(service, { user_id: owner.id, resource_id });
    expect((await admin.post(`${GROUPS}${empty}/make-core/`)).status).toBe(200);
  });

  it('are for superusers, of groups that exist', async () => {
    for (const what of ['make-core', 'make-not-core']) {
      expect((await admin.post(`${GROUPS}99999/${what}/`)).status).toBe(404);
      expect((await owner.client.post(`${GROUPS}99999/${what}/`)).status).toBe(403);
      expect((await owner.client.post(`${TASKS}${what}/`, [1])).status).toBe(403);
    }
  });
});
