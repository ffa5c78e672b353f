import { beforeAll, describe, expect, it } from 'vitest';

import { VERSION } from '../../src/version.ts';
import { addWorkflow, type Cast, castOf, type Role } from '../support/people.ts';
import { addPerson, addProject, type Person, shareProject } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';
import { addTask, addTaskGroup } from '../support/tasks.ts';

const URL = '/api/v2/workflow-template/';

let service: TestService;
let cast: Cast;
let owner: Person;
let group: number;
let number = 0;

const newPerson = (fields: Record<string, unknown> = {}) => addPerson(service, cast.profile, fields);

async function newGroup(...people: Person[]): Promise<number> {
  const { body } = await service.admin.post('/auth/group/', { name: `Group ${++number}` });
  for (const { id } of people) await service.admin.post(`/auth/group/${body.id}/add-user/${id}/`);
  return body.id as number;
}

const item = (fields: Record<string, unknown> = {}) => ({
  task: { pkg_name: 'pkg', version: '1.0.0', name: 'Segment' },
  ...fields,
});
const exported = (fields: Record<string, unknown> = {}) => ({
  meta_non_parallel: null,
  meta_parallel: null,
  args_non_parallel: null,
  args_parallel: null,
  type_filters: {},
  description: null,
  alias: null,
  ...item(),
  ...fields,
});
const newTemplate = (fields: Record<string, unknown> = {}) => ({
  name: `Template ${++number}`,
  version: 1,
  data: { name: 'flow', task_list: [item()] },
  ...fields,
});

/** A template by import, its id. */
async function addTemplate(
  person: Person,
  fields: Record<string, unknown> = {},
  user_group_id?: number,
): Promise<number> {
  const query = user_group_id === undefined ? {} : { query: { user_group_id } };
  const { status, body, text } = await person.client.post(`${URL}import/`, newTemplate(fields), query);
  if (status !== 201) throw new Error(text);
  return body.id as number;
}

/** A task that the person owns, in a workflow of a project of theirs. */
async function workflowWithTask(person: Person) {
  const { db } = service.database;
  const { resource_id } = await db
    .selectFrom('profiles')
    .select('resource_id')
    .where('id', '=', cast.profile)
    .executeTakeFirstOrThrow();
  const taskgroupv2_id = await addTaskGroup(service, { user_id: person.id, resource_id, pkg_name: `pkg${++number}` });
  const task = await addTask(service, { taskgroupv2_id, name: 'Segment', type: 'parallel' });
  const project = await addProject(service, person, `Project ${number}`);
  const workflow = await addWorkflow(service, project, `flow ${number}`);
  await db
    .insertInto('workflow_tasks')
    .values({
      workflow_id: workflow,
      task_id: task,
      order: 0,
      task_type: 'parallel',
      args_parallel: '{"size": 1.0, "a": 2}',
    })
    .execute();
  return { project, workflow, task, pkg_name: `pkg${number}` };
}

beforeAll(async () => {
  service = await startService();
  cast = await castOf(service);
  ({ owner } = cast.people);
  group = await newGroup(owner, cast.people.r, cast.people.serviceGuest);
});

describe('importing a template', () => {
  it('keeps it as an export, whatever its tasks are', async () => {
    const body = {
      name: ' Mine ',
      version: '2',
      description: ' about ',
      extra: 1,
      data: {
        name: 'flow',
        description: 'of tasks',
        task_list: [
          item({ args_parallel: { z: 1.0, a: { deep: [1, null] } }, type_filters: { ' ok ': 'yes' }, alias: 'x' }),
          item({ input_filters: { attributes: {}, types: { illum: true } } }),
          item({ type_filters: null }),
        ],
      },
    };
    const { status, body: made } = await owner.client.post(`${URL}import/`, body, { query: { user_group_id: group } });
    expect(status).toBe(201);
    expect(made).toEqual({
      id: expect.any(Number),
      user_email: owner.email,
      name: 'Mine',
      version: 2,
      timestamp_created: expect.stringMatching(/Z$/),
      timestamp_last_used: made.timestamp_created,
      user_group_id: group,
      description: 'about',
      data: {
        name: 'flow',
        description: 'of tasks',
        task_list: [
          exported({ args_parallel: { z: 1, a: { deep: [1, null] } }, type_filters: { ok: true }, alias: 'x' }),
          exported({ type_filters: { illum: true } }),
          exported(),
        ],
      },
      fractal_server_version: VERSION,
    });
    expect((await owner.client.get(`${URL}${made.id}/`)).body).toEqual(made);
    const file = await owner.client.get(`${URL}${made.id}/export/`);
    expect(file.body).toEqual({ name: 'Mine', version: 2, description: 'about', data: made.data });
    const again = await owner.client.post(`${URL}import/`, { ...file.body, version: 3 });
    expect([again.status, again.body.data]).toEqual([201, made.data]);
  });

  it('keeps numbers as they were written', async () => {
    const data =
      '{"name":"n","task_list":[{"args_parallel":{"a":1.0,"b":12345678901234567890},"task":{"pkg_name":"p","version":"1","name":"t"}}]}';
    const made = await owner.client.raw(`${URL}import/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"name": "numbers", "version": 1, "data": ${data}}`,
    });
    expect(made.text).toContain('{"a":1.0,"b":12345678901234567890}');
    expect((await owner.client.get(`${URL}${made.body.id}/export/`)).text).toContain(
      '{"a":1.0,"b":12345678901234567890}',
    );
  });

  it.each<[string, Record<string, unknown>]>([
    ['no version of a task', { data: { name: 'f', task_list: [{ task: { pkg_name: 'p', name: 't' } }] } }],
    ['a version null', { data: { name: 'f', task_list: [{ task: { pkg_name: 'p', name: 't', version: null } }] } }],
    ['no tasks', { data: { name: 'f', task_list: [] } }],
    ['an unknown key in data', { data: { name: 'f', task_list: [item()], extra: 1 } }],
    ['an item that is no object', { data: { name: 'f', task_list: [3] } }],
    ['reserved arguments', { data: { name: 'f', task_list: [item({ args_parallel: { zarr_url: 'x' } })] } }],
    ['both kinds of filters', { data: { name: 'f', task_list: [item({ type_filters: {}, input_filters: {} })] } }],
    ['filters without attributes', { data: { name: 'f', task_list: [item({ input_filters: { types: {} } })] } }],
    ['version 0', { version: 0 }],
    ['a huge version', { version: 2_147_483_648 }],
    ['a version with a fraction', { version: 1.5 }],
    ['no version', { version: undefined }],
    ['a blank name', { name: ' ' }],
    ['a NUL in the name', { name: 'a\u0000' }],
    ['a NUL in an argument', { data: { name: 'f', task_list: [item({ args_parallel: { a: '\u0000' } })] } }],
    ['a blank description', { description: '' }],
    ['no data', { data: undefined }],
  ])('refuses %s and stores nothing', async (_, fields) => {
    const before = (await owner.client.get(URL)).body.total_count;
    expect((await owner.client.post(`${URL}import/`, newTemplate(fields))).status).toBe(422);
    expect((await owner.client.get(URL)).body.total_count).toBe(before);
  });

  it('calls a version that is too small by its known name', async () => {
    const { body } = await owner.client.post(`${URL}import/`, newTemplate({ version: 0 }));
    expect(body.detail).toEqual([expect.objectContaining({ type: 'greater_than', loc: ['body', 'version'] })]);
    const missing = newTemplate({ data: { name: 'f', task_list: [{ task: { pkg_name: 'p', name: 't' } }] } });
    const { body: unversioned } = await owner.client.post(`${URL}import/`, missing);
    expect(unversioned.detail[0].loc).toEqual(['body', 'data', 'task_list', 0, 'task', 'version']);
  });

  it('refuses in the order group, membership, name and version', async () => {
    await addTemplate(owner, { name: 'Taken' });
    const foreign = await newGroup();
    const send = (user_group_id: number | string, fields: Record<string, unknown>) =>
      owner.client
        .post(`${URL}import/`, newTemplate(fields), { query: { user_group_id } })
        .then(({ status }) => status);
    expect(await send(987_654, { name: 'Taken' })).toBe(404);
    expect(await send(0, { name: 'Taken' })).toBe(404);
    expect(await send('99999999999', { name: 'Taken' })).toBe(404);
    expect(await send(987_654, { data: { name: 'f', task_list: [] } })).toBe(404);
    expect(await send(foreign, { name: 'Taken' })).toBe(403);
    expect(await send(group, { name: ' Taken ' })).toBe(422);
    expect(await send(group, { name: 'taken' })).toBe(201);
    expect(await send(group, { name: 'Taken', version: 2 })).toBe(201);
    expect((await cast.people.rw.client.post(`${URL}import/`, newTemplate({ name: 'Taken' }))).status).toBe(201);
  });

  it('gives one 201 to ten requests at once', async () => {
    const body = newTemplate();
    const answers = await Promise.all(Array.from({ length: 10 }, () => owner.client.post(`${URL}import/`, body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(422)]);
  });
});

describe('making a template of a workflow', () => {
  it('takes its export', async () => {
    const { project, workflow } = await workflowWithTask(owner);
    const query = { workflow_id: workflow, user_group_id: group };
    const { status, body } = await owner.client.post(URL, { name: 'From flow', version: 1, data: {} }, { query });
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: 'From flow', version: 1, description: null, user_group_id: group });
    const file = await owner.client.get(`/api/v2/project/${project}/workflow/${workflow}/export/`);
    expect(body.data).toEqual(file.body);
    expect(body.data.task_list[0]).toMatchObject({ args_parallel: { size: 1, a: 2 }, type_filters: {} });
    await owner.client.delete(`/api/v2/project/${project}/`);
    expect((await owner.client.get(`${URL}${body.id}/`)).body).toEqual(body);
  });

  it('refuses in a fixed order', async () => {
    const { project, workflow } = await workflowWithTask(owner);
    const empty = await addWorkflow(service, project, 'empty');
    await addTemplate(owner, { name: 'Twice' });
    const foreign = await newGroup();
    const send = (query: Record<string, number | string>, person = owner) =>
      person.client.post(URL, { name: 'Twice', version: 1 }, { query }).then(({ status }) => status);
    expect(await send({ workflow_id: 987_654, user_group_id: 987_654 })).toBe(404);
    expect(await send({ workflow_id: '99999999999' })).toBe(404);
    expect(await send({ workflow_id: empty, user_group_id: 987_654 }, cast.people.stranger)).toBe(403);
    expect(await send({ workflow_id: empty, user_group_id: 987_654 })).toBe(422);
    expect(await send({ workflow_id: workflow, user_group_id: 987_654 })).toBe(404);
    expect(await send({ workflow_id: workflow, user_group_id: 0 })).toBe(404);
    expect(await send({ workflow_id: workflow, user_group_id: foreign })).toBe(403);
    expect(await send({ workflow_id: workflow })).toBe(422);
    expect((await owner.client.post(URL, { name: 'x', version: 1 })).status).toBe(422);
    expect((await owner.client.post(`${URL}?workflow_id=${workflow}`, { name: 'x', version: 2 ** 40 })).status).toBe(
      422,
    );
  });

  it.each<[Role, number]>([
    ['owner', 201],
    ['rwx', 201],
    ['rw', 201],
    ['r', 201],
    ['pending', 403],
    ['stranger', 403],
    ['serviceGuest', 403],
    ['superuser', 403],
    ['anonymous', 401],
  ])('by %s is answered with %i', async (role, status) => {
    const { project, workflow } = await workflowWithTask(owner);
    await cast.shareWithAll(project);
    const body = { name: `By ${role}`, version: 1 };
    expect((await cast.client(role).post(`${URL}?workflow_id=${workflow}`, body)).status).toBe(status);
  });
});

describe('who sees and changes a template', () => {
  let template: number;
  let member: Person;

  beforeAll(async () => {
    template = await addTemplate(owner, {}, group);
    member = cast.people.r;
  });

  it.each<[Role, number, number]>([
    ['owner', 200, 200],
    ['r', 200, 403],
    ['serviceGuest', 200, 403],
    ['stranger', 403, 403],
    ['superuser', 403, 403],
    ['anonymous', 401, 401],
  ])('%s reads with %i and changes with %i', async (role, reads, changes) => {
    const client = cast.client(role);
    expect((await client.get(`${URL}${template}/`)).status).toBe(reads);
    expect((await client.get(`${URL}${template}/export/`)).status).toBe(reads);
    expect((await client.patch(`${URL}${template}/`, { description: 'x' })).status).toBe(changes);
    if (role !== 'owner') expect((await client.delete(`${URL}${template}/`)).status).toBe(changes);
  });

  it.each(['987654', '0', '-1', '99999999999'])('answers 404 for the id %s', async (id) => {
    const { client } = owner;
    expect((await client.get(`${URL}${id}/`)).status).toBe(404);
    expect((await client.get(`${URL}${id}/export/`)).status).toBe(404);
    expect((await client.patch(`${URL}${id}/`, {})).status).toBe(404);
    expect((await client.delete(`${URL}${id}/`)).status).toBe(404);
  });

  it('changes group and description, and nothing else', async () => {
    const { client } = owner;
    const url = `${URL}${template}/`;
    const before = (await client.get(url)).body;
    const same = await client.patch(url, { name: 'other', version: 9, data: {} });
    expect([same.status, same.body]).toEqual([200, before]);
    expect((await client.patch(url, { description: ' d ' })).body).toEqual({ ...before, description: 'd' });
    expect((await client.patch(url, { user_group_id: null })).body.user_group_id).toBeNull();
    expect((await member.client.get(url)).status).toBe(403);
    expect((await client.patch(url, { user_group_id: group, description: null })).body).toEqual({
      ...before,
      description: null,
    });
    expect((await member.client.get(url)).status).toBe(200);
    for (const [user_group_id, status] of [
      [0, 404],
      [987_654, 404],
      [2 ** 40, 404],
      [await newGroup(), 403],
      ['x', 422],
    ] as const) {
      expect((await client.patch(url, { user_group_id })).status).toBe(status);
    }
    expect((await client.patch(url, { description: '' })).status).toBe(422);
    expect((await member.client.patch(url, { user_group_id: 987_654 })).status).toBe(403);
  });

  it('becomes private when its group goes', async () => {
    const passing = await newGroup(owner, member);
    const id = await addTemplate(owner, {}, passing);
    expect((await member.client.get(`${URL}${id}/`)).status).toBe(200);
    await service.admin.delete(`/auth/group/${passing}/`);
    expect((await member.client.get(`${URL}${id}/`)).status).toBe(403);
    expect((await owner.client.get(`${URL}${id}/`)).body.user_group_id).toBeNull();
  });

  it('can be deleted, and workflows made from it stay', async () => {
    const id = await addTemplate(owner);
    const project = await addProject(service, owner, 'Of a template');
    const workflow = await addWorkflow(service, project);
    const { db } = service.database;
    await db.updateTable('workflows').set({ template_id: id }).where('id', '=', workflow).execute();
    const { status, text } = await owner.client.delete(`${URL}${id}/`);
    expect([status, text]).toEqual([204, '']);
    const left = await db.selectFrom('workflows').select('template_id').where('id', '=', workflow).executeTakeFirst();
    expect(left).toEqual({ template_id: null });
    expect((await owner.client.delete(`${URL}${id}/`)).status).toBe(404);
  });
});

describe('the list of templates', () => {
  let me: Person;
  let colleague: Person;
  let ids: Record<string, number>;
  const list = (query: Record<string, string | number | boolean> = {}) => me.client.get(URL, { query });
  const names = (body: { items: { template_name: string }[] }) => body.items.map(({ template_name }) => template_name);

  beforeAll(async () => {
    me = await newPerson({ email: 'm.list@example.org' });
    colleague = await newPerson({ email: 'A.list@example.org' });
    const other = await newPerson({ email: 'z.list@example.org' });
    const ours = await newGroup(me, colleague, other);
    ids = {
      mine1: await addTemplate(me, { name: 'flow', version: 1 }),
      mine3: await addTemplate(me, { name: 'flow', version: 3 }),
      mine2: await addTemplate(me, { name: 'flow', version: 2 }),
      big: await addTemplate(me, { name: 'Big é 50%' }),
      theirs: await addTemplate(colleague, { name: 'flow', version: 1 }, ours),
      last: await addTemplate(other, { name: 'a_flow', version: 1 }, ours),
    };
    await addTemplate(colleague, { name: 'private', version: 1 });
    await addTemplate(colleague, { name: 'flow', version: 2 });
  });

  it('groups versions by owner and name: own ones first, then by owner and name', async () => {
    const { body } = await list();
    expect(body).toEqual({
      current_page: 1,
      page_size: 4,
      total_count: 4,
      items: [
        {
          user_email: me.email,
          template_name: 'Big é 50%',
          templates: [{ template_id: ids['big'], template_version: 1 }],
        },
        {
          user_email: me.email,
          template_name: 'flow',
          templates: [
            { template_id: ids['mine3'], template_version: 3 },
            { template_id: ids['mine2'], template_version: 2 },
            { template_id: ids['mine1'], template_version: 1 },
          ],
        },
        {
          user_email: colleague.email,
          template_name: 'flow',
          templates: [{ template_id: ids['theirs'], template_version: 1 }],
        },
        {
          user_email: 'z.list@example.org',
          template_name: 'a_flow',
          templates: [{ template_id: ids['last'], template_version: 1 }],
        },
      ],
      email_list: [colleague.email, me.email, 'z.list@example.org'],
    });
  });

  it.each<[Record<string, string | number | boolean>, string[]]>([
    [{ is_owner: true }, ['Big é 50%', 'flow']],
    [{ user_email: 'A.list@example.org' }, ['flow']],
    [{ user_email: 'a.list@example.org' }, []],
    [{ name: 'FLOW' }, ['flow', 'flow', 'a_flow']],
    [{ name: 'É' }, ['Big é 50%']],
    [{ name: '%' }, ['Big é 50%']],
    [{ name: '_' }, ['a_flow']],
    [{ version: 2 }, ['flow']],
    [{ version: 0, template_id: 0, name: '', user_email: '' }, ['Big é 50%', 'flow', 'flow', 'a_flow']],
    [{ template_id: '99999999999' }, []],
    [{ version: 77 }, []],
  ])('with %j has %j, and the same owners to choose from', async (query, expected) => {
    const { body } = await list(query);
    expect(names(body)).toEqual(expected);
    expect(body.total_count).toBe(expected.length);
    expect(body.email_list).toHaveLength(3);
  });

  it('thins out the versions by the filters', async () => {
    const { body } = await list({ template_id: ids['mine2']! });
    expect(body.items).toEqual([
      { user_email: me.email, template_name: 'flow', templates: [{ template_id: ids['mine2'], template_version: 2 }] },
    ]);
    expect((await list({ version: 2 ** 40 })).status).toBe(422);
  });

  it('has pages of names', async () => {
    const { body } = await list({ page: 2, page_size: 2 });
    expect(body).toMatchObject({ current_page: 2, page_size: 2, total_count: 4 });
    expect(names(body)).toEqual(['flow', 'a_flow']);
    expect(body.email_list).toHaveLength(3);
    expect((await list({ page: 9, page_size: 2 })).body).toMatchObject({ current_page: 9, total_count: 4, items: [] });
    expect((await list({ page: 2 })).status).toBe(422);
  });

  it('is open to guest accounts and closed to strangers', async () => {
    await addTemplate(owner, { name: 'For the group' }, group);
    const { status, body } = await cast.people.serviceGuest.client.get(URL);
    expect([status, names(body).includes('For the group')]).toEqual([200, true]);
    expect((await service.anyone.get(URL)).status).toBe(401);
  });
});

describe('a workflow from a template', () => {
  const use = (person: Person, project: number, template_id: number | string, body: unknown = {}) =>
    person.client.post(`/api/v2/project/${project}/workflow/import-from-template/`, body, { query: { template_id } });
  const lastUsed = async (id: number) => (await owner.client.get(`${URL}${id}/`)).body.timestamp_last_used as string;

  const ready = async () => {
    const made = await workflowWithTask(owner);
    const query = { workflow_id: made.workflow, user_group_id: group };
    const { body } = await owner.client.post(URL, { name: `T ${++number}`, version: 1 }, { query });
    return { ...made, template: body.id as number, flow: body.data.name as string };
  };

  it('has the tasks of the template and remembers it', async () => {
    const { project, template, task } = await ready();
    const before = await lastUsed(template);
    const { status, body } = await use(owner, project, template, { name: ' new ' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ name: 'new', template_id: template, project_id: project });
    expect(body.task_list).toEqual([
      expect.objectContaining({ task_id: task, args_parallel: { size: 1, a: 2 }, warning: null }),
    ]);
    expect((await lastUsed(template)) > before).toBe(true);
  });

  it('has the name of the template unless another is given, once in a project', async () => {
    const { project, template, flow } = await ready();
    const elsewhere = await addProject(service, owner, `Other ${++number}`);
    const { body } = await use(owner, elsewhere, template, { name: null });
    expect(body.name).toBe(flow);
    const before = await lastUsed(template);
    expect((await use(owner, project, template)).status).toBe(422);
    expect(await lastUsed(template)).toBe(before);
  });

  it('takes other versions for its tasks', async () => {
    const { project, template, pkg_name } = await ready();
    const before = await lastUsed(template);
    const missing = await use(owner, project, template, { name: 'v', override_versions: { ' 0 ': '2.0.0' } });
    expect(missing.status).toBe(422);
    expect(missing.body).toEqual({
      detail: '[HAS_ERROR_DATA]',
      data: [
        {
          outcome: 'fail',
          pkg_name,
          version: '2.0.0',
          task_name: 'Segment',
          available_tasks: [{ version: '1.0.0', older_than_target: true, active: true, is_core: false }],
        },
      ],
    });
    expect(await lastUsed(template)).toBe(before);
    const { resource_id } = await service.database.db
      .selectFrom('profiles')
      .select('resource_id')
      .where('id', '=', cast.profile)
      .executeTakeFirstOrThrow();
    const newer = await addTaskGroup(service, { user_id: owner.id, resource_id, pkg_name, version: '2.0.0' });
    const task = await addTask(service, { taskgroupv2_id: newer, name: 'Segment', type: 'parallel' });
    const { body } = await use(owner, project, template, { name: 'v', override_versions: { 0: '2.0.0' } });
    expect(body.task_list[0].task_id).toBe(task);
  });

  it.each<[string, unknown]>([
    ['an index beyond the list', { override_versions: { 1: '1' } }],
    ['a negative index', { override_versions: { '-1': '1' } }],
    ['a key that is no number', { override_versions: { x: '1' } }],
    ['a key in another base', { override_versions: { '0x0': '1' } }],
    ['an empty key', { override_versions: { '': '1' } }],
    ['a blank version', { override_versions: { 0: ' ' } }],
    ['a blank name', { name: '' }],
    ['an unknown key', { nome: 'x' }],
    ['no body', undefined],
  ])('is refused with %s', async (_, body) => {
    const { project, template } = await ready();
    const before = await lastUsed(template);
    const path = `/api/v2/project/${project}/workflow/import-from-template/?template_id=${template}`;
    expect((await owner.client.post(path, body)).status).toBe(422);
    expect(await lastUsed(template)).toBe(before);
  });

  it('is refused in the order template, access, project', async () => {
    const { project, template } = await ready();
    const secret = await addTemplate(owner);
    const { stranger, r } = cast.people;
    expect((await use(stranger, project, 987_654)).status).toBe(404);
    expect((await use(owner, project, '99999999999')).status).toBe(404);
    expect((await use(stranger, 987_654, secret)).status).toBe(403);
    expect((await use(owner, 987_654, template)).status).toBe(404);
    expect((await use(r, project, template)).status).toBe(403);
    await shareProject(service, project, r, 'r');
    expect((await use(r, project, template, { name: 'x' })).status).toBe(403);
    await owner.client.patch(`/api/v2/project/${project}/guest/`, { permissions: 'rw' }, { query: { email: r.email } });
    const unmatched = await use(r, project, template, { name: 'x' });
    expect([unmatched.status, unmatched.body.data[0].available_tasks]).toEqual([422, []]);
    expect((await use(cast.people.serviceGuest, project, template)).status).toBe(403);
    expect((await owner.client.post(`/api/v2/project/${project}/workflow/import-from-template/`, {})).status).toBe(422);
  });
});
