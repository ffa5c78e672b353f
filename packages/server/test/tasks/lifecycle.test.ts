/** What can be asked of task groups, by whom and when; what is done then is tested with real environments. */
import { beforeAll, describe, expect, it } from 'vitest';

import { addPerson, addProfile, addProject, type Person } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';

let service: TestService;
let owner: Person;
let stranger: Person;
let profile: number;
let resource: number;
let number = 0;

beforeAll(async () => {
  // nothing is carried out, so that what was asked for stays pending
  service = await startService({ background: false, settings: { SERVICE_ENABLE_TASK_GROUP_RESET: 'true' } });
  profile = await addProfile(service);
  owner = await addPerson(service, profile);
  stranger = await addPerson(service, profile);
  resource = (
    await service.database.db
      .selectFrom('profiles')
      .select('resource_id')
      .where('id', '=', profile)
      .executeTakeFirstOrThrow()
  ).resource_id;
});

type Origin = 'pypi' | 'wheel-file' | 'pixi' | 'other';

async function addGroup(
  origin: Origin,
  fields: { active?: boolean; env_info?: string | null; resource_id?: number; pixi_version?: string } = {},
) {
  const { db } = service.database;
  const name = `pkg-${++number}`;
  const { id } = await db
    .insertInto('task_groups')
    .values({
      user_id: owner.id,
      resource_id: resource,
      origin,
      pkg_name: name,
      version: '1.0',
      path: origin === 'other' ? null : `/nowhere/${name}`,
      venv_path: origin === 'other' ? null : `/nowhere/${name}/venv`,
      python_version: origin === 'other' ? null : '3.12',
      env_info: 'x==1',
      ...fields,
    } as never)
    .returning('id')
    .executeTakeFirstOrThrow();
  const task = await db
    .insertInto('tasks')
    .values({ taskgroupv2_id: id, name: 'Task', type: 'parallel', version: '1.0', command_parallel: 'echo' } as never)
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, task: task.id };
}

/** Puts a task into a workflow, and a job on it whose range holds the task or not. */
async function useIn(task: number, job?: 'inside' | 'outside') {
  const { db } = service.database;
  const project_id = await addProject(service, owner, `Project ${++number}`);
  const workflow = await db
    .insertInto('workflows')
    .values({ name: 'w', project_id } as never)
    .returning('id')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('workflow_tasks')
    .values({ workflow_id: workflow.id, task_id: task, order: 1, task_type: 'parallel' } as never)
    .execute();
  if (job === undefined) return;
  const index = job === 'inside' ? 1 : 0;
  await db
    .insertInto('jobs')
    .values({
      workflow_id: workflow.id,
      user_email: 'x',
      dataset_dump: '{}',
      workflow_dump: '{}',
      project_dump: '{}',
      fractal_server_version: 'x',
      first_task_index: 0,
      last_task_index: index,
    })
    .execute();
}

const user = (client: Client) => (id: number, action: string) => client.post(`/api/v2/task-group/${id}/${action}/`, {});
const admin = (id: number, action: string) => service.admin.post(`/admin/v2/task-group/${id}/${action}/`, {});
const activeOf = async (id: number) =>
  (await service.database.db.selectFrom('task_groups').select('active').where('id', '=', id).executeTakeFirstOrThrow())
    .active;

describe('a task group without files', () => {
  it('is deactivated and reactivated at once', async () => {
    const { id } = await addGroup('other', { env_info: null });
    const off = await user(owner.client)(id, 'deactivate');
    expect([off.status, off.body.status, off.body.action, typeof off.body.log]).toEqual([
      202,
      'OK',
      'deactivate',
      'string',
    ]);
    expect(off.body.timestamp_ended).toEqual(expect.any(String));
    expect(await activeOf(id)).toBe(false);
    const on = await admin(id, 'reactivate');
    expect([on.status, on.body.status, on.body.user_id]).toEqual([202, 'OK', owner.id]);
    expect(await activeOf(id)).toBe(true);
    expect((await user(owner.client)(id, 'delete')).body.status).toBe('pending');
  });
});

describe('who asks', () => {
  it.each(['deactivate', 'reactivate', 'delete'])(
    '%s: only the owner, and administrators on their own path',
    async (action) => {
      const { id } = await addGroup('pypi', { active: action !== 'reactivate' });
      expect((await user(service.anyone)(id, action)).status).toBe(401);
      expect((await user(stranger.client)(id, action)).status).toBe(403);
      expect((await user(owner.client)(987_654, action)).status).toBe(404);
      expect((await admin(99_999_999_999, action)).status).toBe(404);
      expect((await owner.client.post(`/admin/v2/task-group/${id}/${action}/`)).status).toBe(403);
      const asked = await user(owner.client)(id, action);
      expect([asked.status, asked.body.status, asked.body.action]).toEqual([202, 'pending', action]);
    },
  );

  it('DELETE is another word for delete', async () => {
    const { id } = await addGroup('pypi');
    const asked = await owner.client.delete(`/api/v2/task-group/${id}/`);
    expect([asked.status, asked.body.action]).toEqual([202, 'delete']);
  });

  it('an owner who computes elsewhere by now is sent to an administrator', async () => {
    const other = await addProfile(service);
    const elsewhere = (
      await service.database.db
        .selectFrom('profiles')
        .select('resource_id')
        .where('id', '=', other)
        .executeTakeFirstOrThrow()
    ).resource_id;
    const { id } = await addGroup('pypi', { resource_id: elsewhere });
    expect((await user(owner.client)(id, 'deactivate')).body.detail).toContain('another resource');
    expect((await admin(id, 'deactivate')).status).toBe(202);
  });
});

describe('what stands in the way', () => {
  it.each<['user' | 'admin', string, boolean]>([
    ['user', 'deactivate', true],
    ['user', 'reactivate', false],
    ['user', 'delete', true],
    ['admin', 'deactivate', true],
    ['admin', 'reactivate', false],
    ['admin', 'delete', true],
    ['admin', 'reset/pip', false],
  ])('%s %s waits for what is pending or under way', async (by, action, active) => {
    const ask = by === 'user' ? user(owner.client) : admin;
    for (const status of ['pending', 'ongoing'] as const) {
      const { id } = await addGroup('pypi', { active });
      await service.database.db
        .insertInto('task_group_activities')
        .values({
          user_id: owner.id,
          taskgroupv2_id: id,
          pkg_name: 'p',
          version: '1',
          status,
          action: 'collect',
          fractal_server_version: 'x',
        } as never)
        .execute();
      const answer = await ask(id, action);
      expect([answer.status, answer.body.detail]).toEqual([422, expect.stringContaining('right now')]);
    }
  });

  it.each<['user' | 'admin', string, boolean, number]>([
    ['user', 'deactivate', true, 422],
    ['user', 'reactivate', false, 422],
    ['admin', 'deactivate', true, 422],
    ['admin', 'reactivate', false, 422],
    ['admin', 'delete', true, 422],
  ])('%s %s waits for a job that runs a task of the group, and for no other', async (by, action, active, status) => {
    const ask = by === 'user' ? user(owner.client) : admin;
    const busy = await addGroup('pypi', { active });
    await useIn(busy.task, 'inside');
    expect((await ask(busy.id, action)).status).toBe(status);
    if (action === 'delete') return;
    const free = await addGroup('pypi', { active });
    await useIn(free.task, 'outside');
    expect((await ask(free.id, action)).status).toBe(202);
  });

  it('deletion waits until no workflow uses it', async () => {
    const { id, task } = await addGroup('pypi');
    await useIn(task);
    for (const ask of [user(owner.client), admin]) expect((await ask(id, 'delete')).body.detail).toContain('Workflows');
  });

  it('what is active cannot be reactivated, what is not cannot be deactivated, what nobody remembers cannot be rebuilt', async () => {
    const active = await addGroup('pypi');
    const inactive = await addGroup('pypi', { active: false });
    const forgotten = await addGroup('pypi', { active: false, env_info: null });
    for (const ask of [user(owner.client), admin]) {
      expect((await ask(active.id, 'reactivate')).status).toBe(422);
      expect((await ask(inactive.id, 'deactivate')).status).toBe(422);
      expect((await ask(forgotten.id, 'reactivate')).status).toBe(422);
    }
  });

  it('of ten equal requests at once one is accepted', async () => {
    const { id } = await addGroup('pypi');
    const answers = await Promise.all(Array.from({ length: 10 }, () => admin(id, 'deactivate')));
    expect(answers.filter((answer) => answer.status === 202)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 422)).toHaveLength(9);
  });
});

describe('the active flag', () => {
  it('goes at once when the owner asks, and when it is done when an administrator asks', async () => {
    const [own, others] = [await addGroup('pypi'), await addGroup('pypi')];
    await user(owner.client)(own.id, 'deactivate');
    await admin(others.id, 'deactivate');
    expect([await activeOf(own.id), await activeOf(others.id)]).toEqual([false, true]);
  });
});

describe('reset', () => {
  const reset = (id: number, kind: 'pip' | 'pixi', body: object = {}) =>
    service.admin.post(`/admin/v2/task-group/${id}/reset/${kind}/`, body);

  it('is for inactive groups of its kind', async () => {
    const pip = await addGroup('pypi', { active: false });
    const pixi = await addGroup('pixi', { active: false, pixi_version: '0.1' });
    expect((await reset((await addGroup('pypi')).id, 'pip')).status).toBe(422);
    expect((await reset(pixi.id, 'pip')).status).toBe(422);
    expect((await reset(pip.id, 'pixi')).status).toBe(422);
    expect((await reset(pixi.id, 'pixi')).body.detail).toContain('0.1');
    expect((await reset(987_654, 'pip')).status).toBe(404);
    expect((await service.admin.post(`/admin/v2/task-group/${pip.id}/reset/pip/`)).status).toBe(422);
    expect((await reset(pip.id, 'pip', { python_version: '3.13' })).body.detail).toContain('3.13');
    expect((await reset(pip.id, 'pip')).status).toBe(202);
  });

  it('keeps stored pins that are left out, and takes others as text or object', async () => {
    const { db } = service.database;
    const stored = async (id: number) =>
      db
        .selectFrom('task_groups')
        .select(['pinned_package_versions_pre', 'pinned_package_versions_post', 'pip_extras'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
    const { id } = await addGroup('pypi', { active: false });
    await db
      .updateTable('task_groups')
      .set({ pinned_package_versions_pre: '{"a": "1"}', pip_extras: 'x' })
      .where('id', '=', id)
      .execute();
    expect((await reset(id, 'pip', { pinned_package_versions_post: '{"numpy": "1.26"}' })).status).toBe(202);
    expect(await stored(id)).toEqual({
      pinned_package_versions_pre: { a: '1' },
      pinned_package_versions_post: { numpy: '1.26' },
      pip_extras: 'x',
    });
    const other = await addGroup('pypi', { active: false });
    await reset(other.id, 'pip', { pinned_package_versions_pre: { 'uvicorn[standard]': '1' }, pip_extras: 'a,b' });
    expect(await stored(other.id)).toMatchObject({
      pinned_package_versions_pre: { 'uvicorn[standard]': '1' },
      pip_extras: 'a,b',
    });
  });

  it.each([
    { pip_extras: 'a"\necho INJECTED\necho "' },
    { pinned_package_versions_pre: { '--index-url': 'x' } },
    { pinned_package_versions_post: '{"a": "1; rm -rf /"}' },
    { pinned_package_versions_post: 'not json' },
    { use_pixi_lockfile: true },
  ])('refuses %j and changes nothing', async (body) => {
    const { id } = await addGroup('pypi', { active: false });
    expect((await reset(id, 'pip', body)).status).toBe(422);
    const { rows } = await service.database.pool.query(
      'select 1 from task_group_activities where taskgroupv2_id = $1',
      [id],
    );
    expect(rows).toEqual([]);
  });

  it('is off unless a setting allows it', async () => {
    const strict = await startService({ background: false });
    expect((await strict.admin.post('/admin/v2/task-group/1/reset/pip/', {})).body.detail).toContain(
      'SERVICE_ENABLE_TASK_GROUP_RESET',
    );
  });
});
