import { beforeAll, describe, expect, it } from 'vitest';

import { addDataset, addJob, addWorkflow, type Cast, castOf, type Role } from '../support/people.ts';
import { addPerson, addProfile, addProject, type Person, shareProject } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';
import { addTask, addTaskGroup } from '../support/tasks.ts';

let service: TestService;
let cast: Cast;
let me: Person;
let other: Person;
let shared: number;
let pending: number;
let job: number;
let hiddenJob: number;

interface Entry {
  kind: string;
  name: string;
}

const search = (q: string, limit?: number | string, person = me) =>
  person.client.get('/api/v2/search/', { query: { q, ...(limit === undefined ? {} : { limit }) } });
const found = async (q: string, person = me) =>
  (await search(q, undefined, person)).body.map(({ kind, name }: Entry) => `${kind} ${name}`) as string[];

const resourceOf = async (profile: number) => {
  const query = service.database.db.selectFrom('profiles').select('resource_id').where('id', '=', profile);
  return (await query.executeTakeFirstOrThrow()).resource_id;
};

async function addTaskOf(person: Person, name: string, fields: { resource_id: number; user_group_id?: number }) {
  const taskgroupv2_id = await addTaskGroup(service, { user_id: person.id, ...fields });
  return addTask(service, { taskgroupv2_id, name });
}

beforeAll(async () => {
  service = await startService();
  cast = await castOf(service);
  me = await addPerson(service, cast.profile);
  other = await addPerson(service, cast.profile);
  const { body: group } = await service.admin.post('/auth/group/', { name: 'Lab' });
  for (const { id } of [me, other]) await service.admin.post(`/auth/group/${group.id}/add-user/${id}/`);

  const own = await addProject(service, me, 'Zebra fish');
  shared = await addProject(service, other, 'my zebra');
  pending = await addProject(service, other, 'zebra pending');
  const hidden = await addProject(service, other, 'zebra hidden');
  await shareProject(service, shared, me, 'r');
  await shareProject(service, pending, me, 'rwx', false);
  await addDataset(service, own, { name: 'zebra' });
  await addDataset(service, pending, { name: 'zebra data pending' });
  await addDataset(service, hidden, { name: 'zebra data hidden' });
  await addWorkflow(service, shared, 'zebra 50%_é');
  await addWorkflow(service, hidden, 'zebra flow hidden');
  const here = await resourceOf(cast.profile);
  const elsewhere = await resourceOf(await addProfile(service));
  await addTaskOf(me, 'Zebra mine', { resource_id: elsewhere });
  await addTaskOf(other, 'Zebra shared', { resource_id: here, user_group_id: group.id });
  await addTaskOf(other, 'Zebra elsewhere', { resource_id: elsewhere, user_group_id: group.id });
  await addTaskOf(other, 'Zebra private', { resource_id: here });
  const template = (name: string) => ({
    name,
    version: 1,
    data: { name: 'f', task_list: [{ task: { pkg_name: 'p', name: 't', version: '1' } }] },
  });
  const url = '/api/v2/workflow-template/import/';
  await other.client.post(url, template('zebra template'), { query: { user_group_id: group.id } });
  await other.client.post(url, template('zebra secret'));
  job = await addJob(service, { project_id: shared });
  hiddenJob = await addJob(service, { project_id: pending });
});

describe('search', () => {
  it('finds what the caller may read: the same name first, then its beginning, then the rest', async () => {
    expect(await found(' ZEBRA ')).toEqual([
      'dataset zebra',
      'project Zebra fish',
      'task Zebra mine',
      'task Zebra shared',
      'workflow zebra 50%_é',
      'template zebra template',
      'project my zebra',
    ]);
    expect((await search('my zeb')).body).toEqual([
      { kind: 'project', id: shared, name: 'my zebra', project_id: shared, project_name: 'my zebra' },
    ]);
    expect((await search('50%')).body[0]).toMatchObject({ project_id: shared, project_name: 'my zebra' });
    expect((await search('zebra template')).body[0]).toMatchObject({ project_id: null, project_name: null });
  });

  it('takes every character as it is, in any case', async () => {
    expect(await found('%_É')).toEqual(['workflow zebra 50%_é']);
    for (const text of ['%', '_']) expect(await found(text)).toEqual(['workflow zebra 50%_é']);
    for (const text of ['\\', "'", '', '   ', 'no such thing']) expect(await found(text)).toEqual([]);
    expect((await me.client.get('/api/v2/search/?q=%00')).status).toBe(422);
  });

  it('finds jobs by their number', async () => {
    expect((await search(String(job))).body).toContainEqual({
      kind: 'job',
      id: job,
      name: 'the flow',
      project_id: shared,
      project_name: 'my zebra',
    });
    expect(await found(`#${job}`)).toEqual(['job the flow']);
    expect(await found(`#${hiddenJob}`)).toEqual([]);
    expect(await found('99999999999999999999')).toEqual([]);
  });

  it('gives as many as are asked for, at most a hundred', async () => {
    expect((await search('zebra', 2)).body).toHaveLength(2);
    const person = await addPerson(service, cast.profile);
    const project = await addProject(service, person, 'Many');
    const rows = Array.from({ length: 120 }, (_, index) => ({
      name: `many ${index}`,
      project_id: project,
      zarr_dir: '/m',
    }));
    await service.database.db.insertInto('datasets').values(rows).execute();
    expect((await search('many', undefined, person)).body).toHaveLength(20);
    expect((await search('many', 1000, person)).body).toHaveLength(100);
    for (const limit of [0, -1, 'x']) expect((await search('many', limit, person)).status).toBe(422);
    expect((await me.client.get('/api/v2/search/')).status).toBe(422);
  });

  it.each<[Role, number]>([
    ['stranger', 200],
    ['serviceGuest', 200],
    ['superuser', 200],
    ['anonymous', 401],
  ])('is answered to %s with %i, and shows nothing that is not theirs', async (role, status) => {
    const answer = await cast.client(role).get('/api/v2/search/?q=zebra');
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer.body).toEqual([]);
  });
});
