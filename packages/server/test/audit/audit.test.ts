/** The audit log: every change of rights leaves a record, in the transaction of the change, and administrators find it. */
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';

import type { AuditRecord } from '@service/contract';

import { operator, record } from '../../src/audit/index.ts';
import { addDataset, addWorkflow } from '../support/people.ts';
import { addPerson, addProfile, addProject, shareProject } from '../support/plates.ts';
import { ADMIN, startService } from '../support/server.ts';
import { addJob, addTask, addTaskGroup } from '../support/tasks.ts';

const service = await startService({ background: false });
const { admin, database } = service;
const { db } = database;

const newest = async () => {
  const { rows } = await database.pool.query<{ id: number }>('select coalesce(max(id), 0)::int as id from audit_log');
  return rows[0]!.id;
};

/** The records that some work leaves, oldest first. */
async function recordsOf(work: () => Promise<unknown>): Promise<AuditRecord[]> {
  const before = await newest();
  await work();
  const { body } = await admin.get('/admin/v2/audit/');
  return (body.items as AuditRecord[]).filter(({ id }) => id > before).reverse();
}

const brief = ({ action, object_type, object_id, object_name, details }: AuditRecord) => ({
  action,
  object: [object_type, object_id, object_name],
  details,
});

const profile = await addProfile(service);
const { resource_id } = await db.selectFrom('profiles').select('resource_id').executeTakeFirstOrThrow();
const owner = await addPerson(service, profile, { email: 'owner@example.org' });
const guest = await addPerson(service, profile, { email: 'guest@example.org' });

const RESOURCE = {
  name: 'Bench',
  type: 'local',
  jobs_local_dir: '/jobs',
  tasks_local_dir: '/tasks',
  jobs_runner_config: {},
  jobs_poll_interval: 0,
  tasks_python_config: { default_version: '3.12', versions: { '3.12': '/usr/bin/python3' } },
  tasks_pixi_config: {},
};

describe('the audit log has', () => {
  it('who did it, when, how and from where', async () => {
    const [one] = await recordsOf(() => admin.post('/auth/group/', { name: 'first' }));
    const { id: user_id } = (await admin.get('/auth/current-user/')).body;
    expect(one).toMatchObject({ user_id, user_email: ADMIN.email, as_user_id: null, as_user_email: null });
    expect(one).toMatchObject({ via: 'session', address: '127.0.0.1' });
    expect(Math.abs(Date.parse(one!.timestamp) - Date.now())).toBeLessThan(60_000);
  });

  it('accounts: creation, rights, passwords and the rest, each by itself', async () => {
    const email = 'new@example.org';
    let id = 0;
    const created = await recordsOf(async () => {
      const answer = await admin.post('/auth/register/', { email, password: 'old-secret', project_dirs: ['/p'] });
      id = answer.body.id;
    });
    expect(created.map(brief)).toEqual([
      {
        action: 'user.create',
        object: ['user', id, email],
        details: { is_guest: false, profile_id: null, project_dirs: ['/p'] },
      },
    ]);
    const change = { is_superuser: true, profile_id: profile, password: 'new-secret', project_dirs: ['/p', '/q'] };
    const object = ['user', id, email];
    expect((await recordsOf(() => admin.patch(`/auth/users/${id}/`, change))).map(brief)).toEqual([
      {
        action: 'user.rights',
        object,
        details: { is_superuser: { from: false, to: true }, profile_id: { from: null, to: profile } },
      },
      { action: 'user.password', object, details: {} },
      { action: 'user.update', object, details: { project_dirs: { from: ['/p'], to: ['/p', '/q'] } } },
    ]);
    expect(await recordsOf(() => admin.patch(`/auth/users/${id}/`, { is_superuser: true }))).toEqual([]);
    const { rows } = await database.pool.query("select id from audit_log where audit_log::text ~ '(old|new)-secret'");
    expect(rows).toEqual([]);
  });

  it('what people change about themselves', async () => {
    const own = await recordsOf(() => owner.client.patch('/auth/current-user/', { slurm_accounts: ['lab'] }));
    expect(own).toMatchObject([{ action: 'user.update', user_email: owner.email, object_id: owner.id }]);
  });

  it('impersonation, by both ways', async () => {
    const records = await recordsOf(async () => {
      expect((await admin.get(`/admin/v2/impersonate/${owner.id}/`)).status).toBe(200);
      expect((await admin.post('/admin/v2/impersonate/', { user_id: owner.id })).status).toBe(200);
      expect((await admin.get('/admin/v2/impersonate/987654/')).status).toBe(404);
    });
    const one = { action: 'user.impersonate', object: ['user', owner.id, owner.email], details: {} };
    expect(records.map(brief)).toEqual([one, one]);
  });

  it('groups and who is in them', async () => {
    const all = (await admin.get('/auth/group/')).body.find(({ name }: { name: string }) => name === 'All').id;
    let id = 0;
    const records = await recordsOf(async () => {
      id = (await admin.post('/auth/group/', { name: 'lab' })).body.id;
      await admin.patch(`/auth/group/${id}/`, { name: 'labs' });
      await admin.post(`/auth/group/${id}/add-user/${owner.id}/`);
      await admin.post(`/auth/group/${id}/remove-user/${owner.id}/`);
      await admin.post(`/auth/users/${owner.id}/set-groups/`, { group_ids: [all, id] });
      await admin.post(`/auth/users/${owner.id}/set-groups/`, { group_ids: [all] });
      await admin.delete(`/auth/group/${id}/`);
    });
    const object = ['group', id, 'labs'];
    const details = { user: owner.email };
    expect(records.map(brief)).toEqual([
      { action: 'group.create', object: ['group', id, 'lab'], details: {} },
      { action: 'group.rename', object: ['group', id, 'lab'], details: { name: { from: 'lab', to: 'labs' } } },
      { action: 'group.add_member', object, details },
      { action: 'group.remove_member', object, details },
      { action: 'group.add_member', object, details },
      { action: 'group.remove_member', object, details },
      { action: 'group.delete', object, details: { num_members: 0 } },
    ]);
  });

  it('resources and profiles, and of their configuration that it changed, not how', async () => {
    let id = 0;
    let made = 0;
    const secret = { ...RESOURCE.tasks_python_config, pip_cache_dir: '/cache/very-secret' };
    const records = await recordsOf(async () => {
      id = (await admin.post('/admin/v2/resource/', RESOURCE)).body.id;
      const changed = { ...RESOURCE, jobs_local_dir: '/other', tasks_python_config: secret };
      expect((await admin.put(`/admin/v2/resource/${id}/`, changed)).status).toBe(200);
      await admin.put(`/admin/v2/resource/${id}/`, changed);
      const fields = { name: 'Mine', resource_type: 'local' };
      made = (await admin.post(`/admin/v2/resource/${id}/profile/`, fields)).body.id;
      await admin.put(`/admin/v2/profile/${made}/`, { ...fields, name: 'Yours' });
      await admin.delete(`/admin/v2/profile/${made}/`);
      await admin.delete(`/admin/v2/resource/${id}/`);
    });
    expect(records.map(brief)).toEqual([
      { action: 'resource.create', object: ['resource', id, 'Bench'], details: { type: 'local', host: null } },
      {
        action: 'resource.update',
        object: ['resource', id, 'Bench'],
        details: { jobs_local_dir: { from: '/jobs', to: '/other' }, tasks_python_config: { changed: true } },
      },
      { action: 'profile.create', object: ['profile', made, 'Mine'], details: { resource: 'Bench', username: null } },
      {
        action: 'profile.update',
        object: ['profile', made, 'Mine'],
        details: { name: { from: 'Mine', to: 'Yours' } },
      },
      { action: 'profile.delete', object: ['profile', made, 'Yours'], details: {} },
      { action: 'resource.delete', object: ['resource', id, 'Bench'], details: {} },
    ]);
    expect(JSON.stringify(records)).not.toContain('very-secret');
  });

  it('who shares a project, from the invitation to the end', async () => {
    const project = await addProject(service, owner, 'shared');
    const visitor = await addPerson(service, profile, { email: 'visitor@example.org', is_guest: true });
    const place = `/api/v2/project/${project}`;
    const of = (email: string) => ({ query: { email } });
    const records = await recordsOf(async () => {
      await owner.client.post(`${place}/guest/`, { permissions: 'r' }, of(guest.email));
      await guest.client.post(`${place}/access/accept/`);
      await owner.client.patch(`${place}/guest/`, { permissions: 'rwx' }, of(guest.email));
      await owner.client.patch(`${place}/guest/`, { permissions: 'rwx' }, of(guest.email));
      await guest.client.delete(`${place}/access/`);
      await owner.client.post(`${place}/guest/`, { permissions: 'r' }, of(visitor.email));
      const verify = { query: { guest_user_id: visitor.id, project_id: project } };
      await admin.post('/admin/v2/linkuserproject/verify/', undefined, verify);
      await owner.client.delete(`${place}/guest/`, of(visitor.email));
    });
    expect(records.map(({ action, user_email, details }) => [action, user_email, details])).toEqual([
      ['sharing.invite', owner.email, { user: guest.email, permissions: 'r' }],
      ['sharing.accept', guest.email, { user: guest.email, permissions: 'r' }],
      ['sharing.change', owner.email, { user: guest.email, permissions: { from: 'r', to: 'rwx' } }],
      ['sharing.leave', guest.email, { user: guest.email }],
      ['sharing.invite', owner.email, { user: visitor.email, permissions: 'r' }],
      ['sharing.accept', ADMIN.email, { user: visitor.email, permissions: 'r' }],
      ['sharing.remove', owner.email, { user: visitor.email }],
    ]);
    expect(new Set(records.map(({ object_id, object_name }) => `${object_id} ${object_name}`))).toEqual(
      new Set([`${project} shared`]),
    );
  });

  it('new owners and deletions, which stay when the thing is gone', async () => {
    const project = await addProject(service, owner, 'short-lived');
    const dataset = await addDataset(service, project, { name: 'pictures' });
    const workflow = await addWorkflow(service, project, 'steps');
    const place = `/api/v2/project/${project}`;
    const records = await recordsOf(async () => {
      await owner.client.delete(`${place}/dataset/${dataset}/`);
      await owner.client.delete(`${place}/workflow/${workflow}/`);
      const query = { user_id: guest.id };
      expect((await admin.patch(`/admin/v2/project/${project}/`, undefined, { query })).status).toBe(200);
      await guest.client.delete(`${place}/`);
      await guest.client.delete(`${place}/`);
    });
    expect(records.map(brief)).toEqual([
      {
        action: 'dataset.delete',
        object: ['dataset', dataset, 'pictures'],
        details: { project: 'short-lived', zarr_dir: '/projects/p/data' },
      },
      { action: 'workflow.delete', object: ['workflow', workflow, 'steps'], details: { project: 'short-lived' } },
      {
        action: 'project.transfer',
        object: ['project', project, 'short-lived'],
        details: { owner: { from: owner.email, to: guest.email } },
      },
      { action: 'project.delete', object: ['project', project, 'short-lived'], details: {} },
    ]);
  });

  it('task groups and core tasks', async () => {
    const group = await addTaskGroup(service, { user_id: owner.id, resource_id, pkg_name: 'pkg', version: '2.0' });
    const task = await addTask(service, { taskgroupv2_id: group, name: 'Segment' });
    const all = (await admin.get('/auth/group/')).body.find(({ name }: { name: string }) => name === 'All').id;
    const records = await recordsOf(async () => {
      await owner.client.patch(`/api/v2/task-group/${group}/`, { user_group_id: all });
      await admin.post(`/admin/v2/task-group/${group}/make-core/`);
      await admin.post('/admin/v2/task/make-not-core/', [task]);
      await admin.post('/admin/v2/task/make-not-core/', [task]);
      expect((await owner.client.post(`/api/v2/task-group/${group}/delete/`)).status).toBe(202);
    });
    const object = ['task_group', group, 'pkg 2.0'];
    const core = (from: boolean, to: boolean) => ({
      action: 'task.core',
      object: ['task', task, 'Segment'],
      details: { package: 'pkg 2.0', is_core: { from, to } },
    });
    expect(records.map(brief)).toEqual([
      { action: 'task_group.share', object, details: { user_group_id: { from: null, to: all } } },
      core(false, true),
      core(true, false),
      { action: 'task_group.delete', object, details: {} },
    ]);
  });

  it('what others do with a job, and nothing of what its own person does', async () => {
    const project = await addProject(service, owner, 'with jobs');
    await shareProject(service, project, guest, 'rwx');
    const job = async () => {
      const dataset_id = await addDataset(service, project);
      const person = { user_id: owner.id, user_email: owner.email };
      return addJob(service, { project_id: project, workflow_id: null, dataset_id, ...person, status: 'submitted' });
    };
    const [own, others, labelled] = [await job(), await job(), await job()];
    const stop = (id: number) => `/api/v2/project/${project}/job/${id}/stop/`;
    const records = await recordsOf(async () => {
      expect((await owner.client.post(stop(own))).status).toBe(202);
      expect((await guest.client.post(stop(others))).status).toBe(202);
      expect((await admin.post(`/admin/v2/job/${others}/stop/`)).status).toBe(202);
      expect((await admin.patch(`/admin/v2/job/${labelled}/`, { status: 'failed' })).status).toBe(200);
    });
    const details = { job_of: owner.email };
    expect(records.map(brief)).toEqual([
      { action: 'job.stop', object: ['job', others, 'the flow on the data'], details },
      { action: 'job.label_failed', object: ['job', labelled, 'the flow on the data'], details },
    ]);
  });

  it('the administrator behind an impersonation, and as whom', async () => {
    const { id } = (await admin.get('/auth/current-user/')).body;
    const by = { user: { id: owner.id, email: owner.email }, actor: id, via: 'session', address: '10.0.0.9' } as const;
    const [one] = await recordsOf(() =>
      db.transaction().execute((trx) => record(trx, by, { action: 'project.delete', object: ['project', 1, 'x'] })),
    );
    expect(one).toMatchObject({ user_id: id, user_email: ADMIN.email, address: '10.0.0.9' });
    expect(one).toMatchObject({ as_user_id: owner.id, as_user_email: owner.email });
  });

  it('whoever operates the service by the account of the system', async () => {
    const [one] = await recordsOf(() =>
      record(db, operator('servicectl'), { action: 'resource.update', object: ['resource', 1, 'x'] }),
    );
    expect(one).toMatchObject({ user_id: null, user_email: null, via: 'servicectl' });
    expect(one!.address).toMatch(/^.+@.+$/);
  });
});

describe('a record and its change', () => {
  it('exist together or not at all', async () => {
    const project = await addProject(service, owner, 'stays');
    await sql`alter table audit_log add constraint broken check (action not in ('project.delete', 'user.rights'))
      not valid`.execute(db);
    expect((await owner.client.delete(`/api/v2/project/${project}/`)).status).toBe(500);
    expect((await admin.patch(`/auth/users/${guest.id}/`, { is_superuser: true })).status).toBe(500);
    await sql`alter table audit_log drop constraint broken`.execute(db);
    expect((await owner.client.get(`/api/v2/project/${project}/`)).status).toBe(200);
    expect((await admin.get(`/auth/users/${guest.id}/`)).body.is_superuser).toBe(false);
  });

  it('leave nothing when the change is refused', async () => {
    const project = await addProject(service, owner, 'not yours');
    const records = await recordsOf(async () => {
      expect((await guest.client.delete(`/api/v2/project/${project}/`)).status).toBe(403);
      expect((await admin.patch(`/auth/users/${guest.id}/`, { password: 'x' })).status).toBe(400);
      expect((await admin.post('/auth/group/', { name: 'All' })).status).toBe(422);
      expect((await service.login(owner.email, 'wrong')) as unknown).toBeUndefined();
    });
    expect(records).toEqual([]);
  });

  it('stay short, whatever people call their things', async () => {
    const name = `${'n'.repeat(199)}😀${'n'.repeat(1_000_000)}`;
    const project = await addProject(service, owner, name);
    const [one] = await recordsOf(() => owner.client.delete(`/api/v2/project/${project}/`));
    expect(one!.object_name.length).toBeLessThan(250);
    const project_dirs = Array.from({ length: 499 }, (_, index) => `/projects/p/${index}`);
    const [many] = await recordsOf(() =>
      admin.patch(`/auth/users/${guest.id}/`, { project_dirs: ['/projects/p', ...project_dirs] }),
    );
    expect(JSON.stringify(many).length).toBeLessThan(2000);
    expect(JSON.stringify(many)).toContain('480 more');
  });
});

describe('reading the audit log', () => {
  const PATHS = ['/admin/v2/audit/', '/admin/v2/audit/export/'];

  it.each(PATHS)('%s is for administrators', async (path) => {
    expect((await service.anyone.get(path)).status).toBe(401);
    expect((await owner.client.get(path)).status).toBe(403);
    expect((await admin.get(path)).status).toBe(200);
  });

  type Query = Record<string, string | number>;
  const found = async (query: Query) => (await admin.get('/admin/v2/audit/', { query })).body.items as AuditRecord[];

  it('finds records by who, as whom, what, on what, when and by words', async () => {
    const { id } = (await admin.get('/auth/current-user/')).body;
    const by = { user: { id: guest.id, email: guest.email }, actor: id, via: 'session', address: '192.0.2.7' } as const;
    await record(db, by, {
      action: 'sharing.invite',
      object: ['project', 4711, 'Zebrafish (50%)'],
      details: { user: 'Zoë.Müller@uni-köln.example' },
    });
    const [one] = await found({ page_size: 1 });
    const only = [expect.objectContaining({ id: one!.id })];
    const moment = one!.timestamp;
    const matching: Query[] = [
      { as_user_id: guest.id, object_id: 4711 },
      { action: 'sharing.invite', object_type: 'project', object_id: 4711 },
      { user_id: id, timestamp_min: moment, timestamp_max: moment },
      { text: 'zebra' },
      { text: '50% zebrafish' },
      { text: 'Zoë.Müller@uni-köln' },
      { text: '192.0.2.7' },
    ];
    for (const query of matching) expect([query, await found(query)]).toEqual([query, only]);
    const others: Query[] = [
      { user_id: guest.id, object_id: 4711 },
      { text: 'zebra horse' },
      { text: '%' },
      { text: "';:*&|!<->()" },
      { timestamp_min: '2100-01-01T00:00:00Z' },
      { object_id: 99999999999999 },
    ];
    for (const query of others) expect([query, await found(query)]).toEqual([query, []]);
    expect((await admin.get('/admin/v2/audit/', { query: { action: 'nothing' } })).status).toBe(422);
  });

  it('gives pages, the newest first, never all at once', async () => {
    const all = await found({});
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted((one, other) => other - one));
    const { body } = await admin.get('/admin/v2/audit/', { query: { page: 2, page_size: 3 } });
    expect(body).toMatchObject({ current_page: 2, page_size: 3, total_count: all.length, more: false });
    expect(body.items).toEqual(all.slice(3, 6));
    const refused: Query[] = [{ page_size: 1001 }, { page: 1001, page_size: 100 }, { page: 1e15, page_size: 1000 }];
    for (const query of refused) {
      expect((await admin.get('/admin/v2/audit/', { query })).status).toBe(422);
    }
  });

  it('exports what the filters let through, safe for spreadsheets', async () => {
    const name = '=HYPERLINK("http://example.org";"click")';
    await record(db, operator('servicectl'), { action: 'group.create', object: ['group', 99, name] });
    const { text, headers } = await admin.get('/admin/v2/audit/export/', { query: { object_type: 'group' } });
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toContain('attachment');
    const lines = text.trimEnd().split('\r\n');
    expect(lines[0]).toMatch(/^id,timestamp,user_id,user_email,as_user_id,/);
    expect(lines[1]).toContain(`group.create,group,99,"'=HYPERLINK(""http`);
    expect(lines).toHaveLength(1 + (await found({ object_type: 'group' })).length);
  });

  it('counts, pages and exports many records, each once', async () => {
    await sql`
      insert into audit_log (via, address, action, object_type, object_id, object_name, timestamp)
      select 'start', 'many', 'job.stop', 'job', i, 'job ' || i, '2020-01-01'::timestamptz + (i / 2) * interval '1 second'
      from generate_series(1, 100100) i`.execute(db);
    // as PostgreSQL does by itself a little later
    await sql`analyze audit_log`.execute(db);
    const query = { action: 'job.stop', timestamp_max: '2021-01-01T00:00:00Z', page_size: 2 };
    const { body } = await admin.get('/admin/v2/audit/', { query });
    expect(body).toMatchObject({ total_count: 100_000, more: true });
    expect(body.items.map(({ object_id }: AuditRecord) => object_id)).toEqual([100_100, 100_099]);
    const { text } = await admin.get('/admin/v2/audit/export/', {
      query: { action: 'job.stop', timestamp_max: '2021-01-01T00:00:00Z' },
    });
    const ids = text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',')[10]);
    expect([ids.length, new Set(ids).size]).toEqual([100_100, 100_100]);
  });
});

describe('old records', () => {
  it('are kept for ever, or go after the days that the settings name', async () => {
    const keeping = await startService({ settings: { SERVICE_AUDIT_KEEP_DAYS: '30' } });
    await sql`
      insert into audit_log (via, address, action, object_type, object_id, object_name, timestamp)
      select 'start', 'a', 'job.stop', 'job', days, '', now() - days * interval '1 day'
      from unnest(array[1, 29, 31, 400]) days`.execute(keeping.database.db);
    const { startForgetting } = await import('../../src/audit/index.ts');
    const log = { enabled: () => true, debug: () => 0, info: () => 0, warning: () => 0, error: () => 0 };
    const end = startForgetting({ db: keeping.database.db, log, keepDays: 30 });
    const left = async () =>
      (await keeping.admin.get('/admin/v2/audit/', { query: { action: 'job.stop' } })).body.items.map(
        ({ object_id }: AuditRecord) => object_id,
      );
    await expect.poll(left).toEqual([1, 29]);
    end();
  });
});
