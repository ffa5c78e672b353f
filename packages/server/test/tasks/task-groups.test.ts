import { beforeAll, describe, expect, it } from 'vitest';

import { addActivity } from '../support/activities.ts';
import { addWorkflow } from '../support/people.ts';
import { addPerson, addProject, type Person } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';
import { addDataset, addJob, addResourceAndProfile, addTask, addTaskGroup, endJob } from '../support/tasks.ts';

const URL = '/api/v2/task-group/';

let service: TestService;
let owner: Person;
let member: Person;
let client: Client;
let resource_id: number;
let profile_id: number;
let allGroup: number;
let packages = 0;

const newPackage = () => `package-${++packages}`;

async function newUserGroup(...people: Person[]): Promise<number> {
  const { body } = await service.admin.post('/auth/group/', { name: `group ${Math.random()}` });
  for (const { id } of people) await service.admin.post(`/auth/group/${body.id}/add-user/${id}/`);
  return body.id;
}

type Listed = [string, { id: number; version: string }[]][];
const listed = async (caller: Client, pkg_name: string, query = '') =>
  ((await caller.get(URL + query)).body as Listed).find(([name]) => name === pkg_name)?.[1];
const idsOf = async (caller: Client, pkg_name: string, query = '') =>
  (await listed(caller, pkg_name, query))?.map(({ id }) => id);

beforeAll(async () => {
  service = await startService();
  ({ profile_id, resource_id } = await addResourceAndProfile(service));
  owner = await addPerson(service, profile_id);
  member = await addPerson(service, profile_id);
  ({ client } = owner);
  allGroup = (await service.admin.get('/auth/group/')).body[0].id;
});

describe('the list of task groups', () => {
  it('is by package, newest version first, what is no version last', async () => {
    const pkg_name = newPackage();
    for (const version of ['xxx', '1.0.0', 'aaa-non-parsable', '1.0.1', 'abc', '1.0.1rc1', '0.10.0', '0.9.0']) {
      await addTaskGroup(service, { user_id: owner.id, resource_id, pkg_name, version });
    }
    const versions = (await listed(client, pkg_name))!.map(({ version }) => version);
    expect(versions).toEqual(['1.0.1', '1.0.1rc1', '1.0.0', '0.10.0', '0.9.0', 'xxx', 'abc', 'aaa-non-parsable']);
  });

  it('has packages in alphabetical order, and short tasks in the order they were added', async () => {
    const group = await addTaskGroup(service, { user_id: owner.id, resource_id, pkg_name: 'aaa' });
    for (const name of ['z', 'a', 'm']) await addTask(service, { taskgroupv2_id: group, name });
    const { body } = (await client.get(URL)) as { body: Listed };
    const names = body.map(([name]) => name);
    expect(names).toEqual(names.toSorted());
    const aaa: Record<string, unknown> = body.find(([name]) => name === 'aaa')![1][0]!;
    expect(aaa).toMatchObject({
      id: group,
      user_email: owner.email,
      user_group_id: null,
      origin: 'pypi',
      pinned_package_versions_pre: {},
      in_use: false,
      num_workflows: 0,
      num_submitted_jobs: 0,
      task_list: [{ name: 'z' }, { name: 'a' }, { name: 'm' }],
    });
    expect(aaa).not.toHaveProperty('env_info');
    expect(aaa).not.toHaveProperty('user_id');
    expect((aaa['task_list'] as object[])[0]).not.toHaveProperty('command_parallel');
  });

  it('shows of equal versions the own one, then that of the default group, then that of the group joined first', async () => {
    const pkg_name = newPackage();
    const other = await addPerson(service, profile_id);
    const third = await addPerson(service, profile_id);
    const later = await newUserGroup(other);
    const earlier = await newUserGroup(other);
    await service.admin.post(`/auth/group/${earlier}/add-user/${owner.id}/`);
    await service.admin.post(`/auth/group/${later}/add-user/${owner.id}/`);
    const add = (user: Person, user_group_id: number | null) =>
      addTaskGroup(service, { user_id: user.id, resource_id, pkg_name, user_group_id });
    const inLater = await add(other, later);
    const inEarlier = await add(third, earlier);
    expect(await idsOf(client, pkg_name)).toEqual([inEarlier]);
    const inDefault = await add(member, allGroup);
    expect(await idsOf(client, pkg_name)).toEqual([inDefault]);
    const own = await add(owner, null);
    expect(await idsOf(client, pkg_name)).toEqual([own]);
    expect(await idsOf(client, pkg_name, '?all_groups=true')).toEqual([inLater, inEarlier, inDefault, own]);
    expect(await idsOf(client, pkg_name, '?all_groups=true&only_owner=true')).toEqual([own]);
  });

  it('is for the own resource and the own groups', async () => {
    const pkg_name = newPackage();
    const elsewhere = await addResourceAndProfile(service);
    const there = await addPerson(service, elsewhere.profile_id);
    const shared = await addTaskGroup(service, { user_id: owner.id, resource_id, pkg_name, user_group_id: allGroup });
    await addTaskGroup(service, { user_id: owner.id, resource_id: elsewhere.resource_id, pkg_name, version: '2' });
    expect(await idsOf(client, pkg_name)).toEqual([shared]);
    expect(await idsOf(member.client, pkg_name)).toEqual([shared]);
    expect(await idsOf(there.client, pkg_name)).toBeUndefined();
    expect((await service.anyone.get(URL)).status).toBe(401);
  });

  it.each([
    ['', ['2', '1']],
    ['?only_active=true', ['1']],
    ['?only_active=no', ['2', '1']],
    ['?only_owner=1', ['2']],
    ['?only_owner=1&only_active=1', undefined],
  ])('with %s has the versions %j', async (query, versions) => {
    const pkg_name = newPackage();
    await addTaskGroup(service, { user_id: member.id, resource_id, pkg_name, version: '1', user_group_id: allGroup });
    await addTaskGroup(service, { user_id: owner.id, resource_id, pkg_name, version: '2', active: false });
    expect((await listed(client, pkg_name, query))?.map(({ version }) => version)).toEqual(versions);
  });
});

describe('one task group', () => {
  it('tells how many workflows use it, and how many submitted jobs run one of its tasks', async () => {
    const group = await addTaskGroup(service, { user_id: owner.id, resource_id });
    const task = await addTask(service, { taskgroupv2_id: group, type: 'parallel' });
    const other = await addTask(service, {
      taskgroupv2_id: await addTaskGroup(service, { user_id: owner.id, resource_id }),
    });
    const project = await addProject(service, member, `Project ${group}`);
    const { db } = service.database;
    const use = (workflow_id: number, task_id: number, order: number) =>
      db.insertInto('workflow_tasks').values({ workflow_id, task_id, order, task_type: 'parallel' }).execute();
    const numbers = async () => {
      const { num_workflows, num_submitted_jobs, in_use } = (await client.get(`${URL}${group}/`)).body;
      return [num_workflows, num_submitted_jobs, in_use];
    };
    expect(await numbers()).toEqual([0, 0, false]);
    const first = await addWorkflow(service, project, 'first');
    await use(first, task, 0);
    await use(first, other, 1);
    await use(first, task, 2);
    await use(await addWorkflow(service, project, 'second'), task, 0);
    expect(await numbers()).toEqual([2, 0, true]);
    const job = async (first_task_index: number, last_task_index: number) =>
      addJob(service, {
        ...{ project_id: project, workflow_id: first, dataset_id: await addDataset(service, project) },
        ...{ first_task_index, last_task_index },
      });
    await job(1, 1);
    expect(await numbers()).toEqual([2, 0, true]);
    const both = await job(0, 2);
    await job(1, 2);
    expect(await numbers()).toEqual([2, 2, true]);
    await endJob(service, both);
    expect(await numbers()).toEqual([2, 1, true]);
    expect((await listed(client, (await client.get(`${URL}${group}/`)).body.pkg_name))![0]).toMatchObject({
      num_workflows: 2,
      num_submitted_jobs: 1,
      in_use: true,
    });
  });

  it('is for its owner wherever it is, and for members of its group on its resource', async () => {
    const elsewhere = await addResourceAndProfile(service);
    const there = await addPerson(service, elsewhere.profile_id);
    const fields = { user_id: owner.id, user_group_id: allGroup };
    const here = await addTaskGroup(service, { ...fields, resource_id });
    const away = await addTaskGroup(service, { ...fields, resource_id: elsewhere.resource_id });
    const alone = await addTaskGroup(service, { user_id: owner.id, resource_id });
    const status = async (person: Person, group: number) => (await person.client.get(`${URL}${group}/`)).status;
    const cases = [here, away, alone].map((group) =>
      Promise.all([owner, member, there].map((one) => status(one, group))),
    );
    expect(await Promise.all(cases)).toEqual([
      [200, 200, 403],
      [200, 403, 200],
      [200, 403, 403],
    ]);
    expect((await member.client.get(`${URL}${alone}/`)).body.detail).toContain(owner.email);
  });

  it.each([
    ['0', 404],
    ['99999999999999999999', 404],
    ['x', 422],
  ])('with the id %s is answered with %i', async (id, status) => {
    expect((await client.get(`${URL}${id}/`)).status).toBe(status);
    expect((await client.patch(`${URL}${id}/`, {})).status).toBe(status);
    expect((await service.admin.get(`/admin/v2/task-group/${id}/`)).status).toBe(status);
    expect((await service.admin.patch(`/admin/v2/task-group/${id}/`, {})).status).toBe(status);
  });
});

describe('sharing a task group', () => {
  it('gives it to a group of the owner, or makes it private', async () => {
    const mine = await newUserGroup(owner);
    const group = await addTaskGroup(service, { user_id: owner.id, resource_id });
    await addTask(service, { taskgroupv2_id: group });
    const url = `${URL}${group}/`;
    const before = (await client.get(url)).body;
    expect((await client.patch(url, {})).body).toEqual(before);
    const shared = await client.patch(url, { user_group_id: mine });
    expect([shared.status, shared.body]).toEqual([200, { ...before, user_group_id: mine }]);
    expect((await client.get(url)).body).toEqual(shared.body);
    expect((await client.patch(url, { user_group_id: mine })).status).toBe(200);
    expect((await client.patch(url, { user_group_id: null })).body).toEqual(before);
  });

  it.each([
    [{ active: false }, 422],
    [{ user_group_id: 'x' }, 422],
    [{ user_group_id: 99_999 }, 404],
    [{ user_group_id: 1e20 }, 404],
    [{ user_group_id: 'foreign' }, 403],
  ])('refuses %j with %i', async (change, status) => {
    const foreign = await newUserGroup(member);
    const group = await addTaskGroup(service, { user_id: owner.id, resource_id });
    const body =
      (change as { user_group_id?: unknown }).user_group_id === 'foreign' ? { user_group_id: foreign } : change;
    expect((await client.patch(`${URL}${group}/`, body)).status).toBe(status);
  });

  it('is for the owner', async () => {
    const group = await addTaskGroup(service, { user_id: owner.id, resource_id, user_group_id: allGroup });
    const answer = await member.client.patch(`${URL}${group}/`, { user_group_id: null });
    expect([answer.status, answer.body.detail]).toEqual([403, expect.stringContaining(owner.email)]);
    expect((await service.admin.patch(`${URL}${group}/`, {})).status).toBe(403);
  });

  it('refuses a group that has this package and version, on any resource, and names it with its collection', async () => {
    const pkg_name = newPackage();
    const foreign = await newUserGroup(member);
    const elsewhere = await addResourceAndProfile(service);
    const fields = { pkg_name, user_group_id: foreign };
    const theirs = await addTaskGroup(service, { user_id: member.id, resource_id: elsewhere.resource_id, ...fields });
    const activity = await addActivity(service, { user_id: member.id, taskgroupv2_id: theirs, status: 'failed' });
    const own = await addTaskGroup(service, { user_id: owner.id, resource_id, pkg_name });
    for (const [caller, path] of [
      [client, URL],
      [service.admin, '/admin/v2/task-group/'],
    ] as const) {
      const { status, body } = await caller.patch(`${path}${own}/`, { user_group_id: foreign });
      expect(status).toBe(422);
      expect(body.detail).toContain(`task group ${theirs}`);
      expect(body.detail).toContain(`activity ${activity}, has the status failed`);
    }
    expect((await client.get(`${URL}${own}/`)).body.user_group_id).toBeNull();
  });

  it('shares one of two when both are given to the same group at once', async () => {
    const pkg_name = newPackage();
    const group = await newUserGroup(owner, member);
    const add = (person: Person) => addTaskGroup(service, { user_id: person.id, resource_id, pkg_name });
    const [mine, theirs] = [await add(owner), await add(member)];
    const answers = await Promise.all([
      client.patch(`${URL}${mine}/`, { user_group_id: group }),
      member.client.patch(`${URL}${theirs}/`, { user_group_id: group }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
  });
});
