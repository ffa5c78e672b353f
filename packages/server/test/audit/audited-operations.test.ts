/**
 * Every operation that changes something, and what the audit log says about it. Each is done by an administrator who acts as
 * somebody else, so that the log has to say both: who did it, and as whom.
 */
import { randomUUID } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import {
  accounts,
  AUDIT_ACTIONS,
  type AuditAction,
  type AuditRecord,
  jobs,
  type Operation,
  projects,
  tasks,
} from '@service/contract';

import { addDataset, addWorkflow } from '../support/people.ts';
import { addPerson, addProfile, addProject, shareProject } from '../support/plates.ts';
import { ADMIN, type Answer, type Client, startService } from '../support/server.ts';
import { addJob, addTask, addTaskGroup } from '../support/tasks.ts';

const service = await startService({ background: false, settings: { SERVICE_ENABLE_TASK_GROUP_RESET: 'true' } });
const { admin, database } = service;
const { db } = database;

const profile = await addProfile(service);
const { resource_id } = await db.selectFrom('profiles').select('resource_id').executeTakeFirstOrThrow();
const rights = { patch: { is_verified: true, is_superuser: true } };
const person = await addPerson(service, profile, { email: 'person@example.org', ...rights });
const other = await addPerson(service, profile, { email: 'other@example.org' });
const visitor = await addPerson(service, profile, { email: 'visitor@example.org', is_guest: true });
const [{ id: all }] = (await admin.get('/auth/group/')).body as [{ id: number }];

const word = () => randomUUID().slice(0, 8);

/** The administrator as the person: a new session for each act, since some end it. */
async function actingClient(): Promise<Client> {
  const { body } = await admin.get(`/admin/v2/impersonate/${person.id}/`);
  return service.withToken(body.access_token as string);
}

/** The person; some acts end all sessions. */
const ownClient = async () => service.withToken(await service.login(person.email, 'some-password'));

/** Things that are there before the act. */
const a = {
  group: async () => (await admin.post('/auth/group/', { name: word() })).body.id as number,
  resource: async () => (await admin.post('/admin/v2/resource/', newResource())).body.id as number,
  profile: async () => (await admin.post(`/admin/v2/resource/${resource_id}/profile/`, newProfile())).body.id as number,
  project: () => addProject(service, person, word()),
  sharedProject: async () => {
    const project = await addProject(service, person, word());
    await shareProject(service, project, other, 'r');
    return project;
  },
  projectForVisitor: async () => {
    const project = await addProject(service, person, word());
    await shareProject(service, project, visitor, 'r', false);
    return project;
  },
  invitation: async (verified: boolean) => {
    const project = await addProject(service, other, word());
    await shareProject(service, project, person, 'r', verified);
    return project;
  },
  taskGroup: (origin: 'pypi' | 'pixi' | 'other' = 'other', active = true) =>
    addTaskGroup(service, { user_id: person.id, resource_id, active, ...{ origin } }),
  task: async (is_core = false) => addTask(service, { taskgroupv2_id: await a.taskGroup(), type: 'parallel', is_core }),
  template: async () => {
    const task = { pkg_name: 'p', version: '1', name: 't' };
    const data = { name: 'n', description: null, task_list: [{ task }] };
    const { status, body, text } = await (
      await ownClient()
    ).post('/api/v2/workflow-template/import/', {
      ...{ name: word(), version: 1, description: null, data },
    });
    expect([status, text]).toEqual([201, text]);
    return body.id as number;
  },
  job: async () => {
    const project_id = await a.project();
    const dataset_id = await addDataset(service, project_id);
    const owner = { user_id: person.id, user_email: person.email };
    return {
      project_id,
      job: await addJob(service, { project_id, workflow_id: null, dataset_id, ...owner, status: 'submitted' }),
    };
  },
};

const newResource = () => ({
  name: word(),
  type: 'local',
  jobs_local_dir: '/jobs',
  tasks_local_dir: '/tasks',
  jobs_runner_config: {},
  jobs_poll_interval: 0,
  tasks_python_config: { default_version: '3.12', versions: { '3.12': '/usr/bin/python3' } },
  tasks_pixi_config: {},
});
const newProfile = () => ({ name: word(), resource_type: 'local' });
const newTask = () => ({ name: word(), version: '1', command_parallel: 'do it' });

/** One request, sent as whoever the client is signed in as. */
type SendsRequest = (client: Client) => Promise<Answer>;
/** Prepares, and gives back what is then done as the person. */
type Arranged = () => Promise<SendsRequest>;

interface Audited {
  action: AuditAction;
  arrange: Arranged;
}

/** Left out of the log where people do it themselves, and why. What somebody does as them is in it all the same. */
interface LeftOut {
  because: string;
  arrange?: Arranged;
}

const by =
  <T>(make: () => Promise<T>, act: (client: Client, made: T) => Promise<Answer>): Arranged =>
  async () => {
    const made = await make();
    return (client) => act(client, made);
  };
const none = () => Promise.resolve(undefined);

const OWN_WORK = 'people work in their own project; it says itself when things were made';
const CONTENT = 'content of a project, which its members change all day; rights stay as they are';
const MARK = 'a mark for finding things, without any effect';
const HAS_ACTIVITY = 'the task group and its activity say who made it and when';

const TABLE: Record<string, Audited | LeftOut> = {
  // accounts
  add_user_to_group: {
    action: 'group.add_member',
    arrange: by(a.group, (client, id) => client.post(`/auth/group/${id}/add-user/${other.id}/`)),
  },
  remove_user_from_group: {
    action: 'group.remove_member',
    arrange: by(
      async () => {
        const id = await a.group();
        await admin.post(`/auth/group/${id}/add-user/${other.id}/`);
        return id;
      },
      (client, id) => client.post(`/auth/group/${id}/remove-user/${other.id}/`),
    ),
  },
  create_group: {
    action: 'group.create',
    arrange: by(none, (client) => client.post('/auth/group/', { name: word() })),
  },
  update_group: {
    action: 'group.rename',
    arrange: by(a.group, (client, id) => client.patch(`/auth/group/${id}/`, { name: word() })),
  },
  delete_group: { action: 'group.delete', arrange: by(a.group, (client, id) => client.delete(`/auth/group/${id}/`)) },
  set_user_groups: {
    action: 'group.add_member',
    // of somebody who is in no group beside that of everybody
    arrange: by(
      async () => ({ id: await a.group(), somebody: await addPerson(service, profile) }),
      (client, { id, somebody }) => client.post(`/auth/users/${somebody.id}/set-groups/`, { group_ids: [all, id] }),
    ),
  },
  create_resource: {
    action: 'resource.create',
    arrange: by(none, (client) => client.post('/admin/v2/resource/', newResource())),
  },
  replace_resource: {
    action: 'resource.update',
    arrange: by(a.resource, (client, id) => client.put(`/admin/v2/resource/${id}/`, newResource())),
  },
  delete_resource: {
    action: 'resource.delete',
    arrange: by(a.resource, (client, id) => client.delete(`/admin/v2/resource/${id}/`)),
  },
  create_profile: {
    action: 'profile.create',
    arrange: by(none, (client) => client.post(`/admin/v2/resource/${resource_id}/profile/`, newProfile())),
  },
  replace_profile: {
    action: 'profile.update',
    arrange: by(a.profile, (client, id) => client.put(`/admin/v2/profile/${id}/`, newProfile())),
  },
  delete_profile: {
    action: 'profile.delete',
    arrange: by(a.profile, (client, id) => client.delete(`/admin/v2/profile/${id}/`)),
  },
  register_user: {
    action: 'user.create',
    arrange: by(none, (client) =>
      client.post('/auth/register/', {
        ...{ email: `${word()}@example.org`, password: 'long-enough', project_dirs: ['/p'] },
      }),
    ),
  },
  update_user: {
    action: 'user.rights',
    arrange: by(
      () => addPerson(service, profile),
      (client, { id }) => client.patch(`/auth/users/${id}/`, { is_superuser: true }),
    ),
  },
  update_current_user: {
    action: 'user.update',
    arrange: by(none, (client) => client.patch('/auth/current-user/', { slurm_accounts: [word()] })),
  },
  impersonate: {
    action: 'user.impersonate',
    arrange: by(none, (client) => client.get(`/admin/v2/impersonate/${other.id}/`)),
  },
  impersonate_by_post: {
    action: 'user.impersonate',
    arrange: by(none, (client) => client.post('/admin/v2/impersonate/', { user_id: other.id })),
  },
  sign_out_everywhere: {
    action: 'user.sign_out',
    arrange: by(none, (client) => client.post('/auth/current-user/sign-out-everywhere/')),
  },
  sign_out_user_everywhere: {
    action: 'user.sign_out',
    arrange: by(none, (client) => client.post(`/auth/users/${other.id}/sign-out-everywhere/`)),
  },
  create_token: {
    because: 'nobody makes tokens for somebody else: it is refused; people who make their own are in it',
  },
  revoke_token: {
    action: 'token.revoke',
    arrange: by(
      async () => {
        const timestamp_expires = new Date(Date.now() + 3_600_000).toISOString();
        const made = await (
          await ownClient()
        ).post('/auth/current-user/token/', { name: word(), scope: 'read', timestamp_expires });
        expect(made.status).toBe(201);
        return made.body.id as number;
      },
      (client, id) => client.delete(`/auth/current-user/token/${id}/`),
    ),
  },
  login: { because: 'anybody could fill the log with attempts; the log of requests has them' },
  logout: { because: 'ends nothing: who has a token has logged in' },

  // projects
  create_project: {
    because: OWN_WORK,
    arrange: by(none, (client) => client.post('/api/v2/project/', { name: word() })),
  },
  update_project: {
    because: CONTENT,
    arrange: by(a.project, (client, id) => client.patch(`/api/v2/project/${id}/`, { name: word() })),
  },
  delete_project: {
    action: 'project.delete',
    arrange: by(a.project, (client, id) => client.delete(`/api/v2/project/${id}/`)),
  },
  transfer_project: {
    action: 'project.transfer',
    arrange: by(a.project, (client, id) =>
      client.patch(`/admin/v2/project/${id}/`, undefined, { query: { user_id: other.id } }),
    ),
  },
  invite_project_guest: {
    action: 'sharing.invite',
    arrange: by(a.project, (client, id) =>
      client.post(`/api/v2/project/${id}/guest/`, { permissions: 'r' }, { query: { email: other.email } }),
    ),
  },
  update_project_guest: {
    action: 'sharing.change',
    arrange: by(a.sharedProject, (client, id) =>
      client.patch(`/api/v2/project/${id}/guest/`, { permissions: 'rwx' }, { query: { email: other.email } }),
    ),
  },
  remove_project_guest: {
    action: 'sharing.remove',
    arrange: by(a.sharedProject, (client, id) =>
      client.delete(`/api/v2/project/${id}/guest/`, { query: { email: other.email } }),
    ),
  },
  accept_project_invitation: {
    action: 'sharing.accept',
    arrange: by(
      () => a.invitation(false),
      (client, id) => client.post(`/api/v2/project/${id}/access/accept/`),
    ),
  },
  admin_verify_project_link: {
    action: 'sharing.accept',
    arrange: by(a.projectForVisitor, (client, id) =>
      client.post('/admin/v2/linkuserproject/verify/', undefined, {
        query: { guest_user_id: visitor.id, project_id: id },
      }),
    ),
  },
  leave_project: {
    action: 'sharing.leave',
    arrange: by(
      () => a.invitation(true),
      (client, id) => client.delete(`/api/v2/project/${id}/access/`),
    ),
  },
  star_project: { because: MARK, arrange: by(a.project, (client, id) => client.post(`/api/v2/project/${id}/star/`)) },
  unstar_project: { because: MARK },
  create_dataset: {
    because: CONTENT,
    arrange: by(a.project, (client, id) => client.post(`/api/v2/project/${id}/dataset/`, { name: word() })),
  },
  update_dataset: { because: CONTENT },
  import_dataset: { because: CONTENT },
  delete_dataset: {
    action: 'dataset.delete',
    arrange: by(
      async () => {
        const project = await a.project();
        return `/api/v2/project/${project}/dataset/${await addDataset(service, project)}/`;
      },
      (client, path) => client.delete(path),
    ),
  },
  star_dataset: { because: MARK },
  unstar_dataset: { because: MARK },
  create_image: { because: CONTENT },
  update_image: { because: CONTENT },
  delete_image: { because: CONTENT },
  change_images: { because: CONTENT },
  create_workflow: {
    because: CONTENT,
    arrange: by(a.project, (client, id) => client.post(`/api/v2/project/${id}/workflow/`, { name: word() })),
  },
  update_workflow: { because: CONTENT },
  import_workflow: { because: CONTENT },
  import_workflow_from_template: { because: CONTENT },
  delete_workflow: {
    action: 'workflow.delete',
    arrange: by(
      async () => {
        const project = await a.project();
        return `/api/v2/project/${project}/workflow/${await addWorkflow(service, project)}/`;
      },
      (client, path) => client.delete(path),
    ),
  },
  star_workflow: { because: MARK },
  unstar_workflow: { because: MARK },
  create_workflow_tasks: { because: CONTENT },
  update_workflow_task: { because: CONTENT },
  replace_workflow_task: { because: CONTENT },
  delete_workflow_task: { because: CONTENT },
  create_workflow_template: { because: 'the template itself says whose it is, since when, and for which group' },
  import_workflow_template: { because: 'the template itself says whose it is, since when, and for which group' },
  update_workflow_template: {
    action: 'template.share',
    arrange: by(a.template, (client, id) => client.patch(`/api/v2/workflow-template/${id}/`, { user_group_id: all })),
  },
  delete_workflow_template: {
    action: 'template.delete',
    arrange: by(a.template, (client, id) => client.delete(`/api/v2/workflow-template/${id}/`)),
  },

  // tasks
  create_task: { because: HAS_ACTIVITY, arrange: by(none, (client) => client.post('/api/v2/task/', newTask())) },
  update_task: {
    action: 'task.update',
    arrange: by(a.task, (client, id) => client.patch(`/api/v2/task/${id}/`, { command_parallel: 'something else' })),
  },
  delete_task: { because: 'always refused: tasks go with their task group' },
  collect_tasks_pip: { because: HAS_ACTIVITY },
  collect_tasks_pixi: { because: HAS_ACTIVITY },
  collect_tasks_custom: { because: HAS_ACTIVITY },
  update_task_group: {
    action: 'task_group.share',
    arrange: by(
      () => a.taskGroup(),
      (client, id) => client.patch(`/api/v2/task-group/${id}/`, { user_group_id: all }),
    ),
  },
  admin_update_task_group: {
    action: 'task_group.share',
    arrange: by(
      () => a.taskGroup(),
      (client, id) => client.patch(`/admin/v2/task-group/${id}/`, { user_group_id: all }),
    ),
  },
  deactivate_task_group: {
    action: 'task_group.deactivate',
    arrange: by(
      () => a.taskGroup(),
      (client, id) => client.post(`/api/v2/task-group/${id}/deactivate/`),
    ),
  },
  admin_deactivate_task_group: {
    action: 'task_group.deactivate',
    arrange: by(
      () => a.taskGroup(),
      (client, id) => client.post(`/admin/v2/task-group/${id}/deactivate/`),
    ),
  },
  reactivate_task_group: {
    action: 'task_group.reactivate',
    arrange: by(
      () => a.taskGroup('other', false),
      (client, id) => client.post(`/api/v2/task-group/${id}/reactivate/`),
    ),
  },
  admin_reactivate_task_group: {
    action: 'task_group.reactivate',
    arrange: by(
      () => a.taskGroup('other', false),
      (client, id) => client.post(`/admin/v2/task-group/${id}/reactivate/`),
    ),
  },
  delete_task_group: {
    action: 'task_group.delete',
    arrange: by(
      () => a.taskGroup(),
      (client, id) => client.post(`/api/v2/task-group/${id}/delete/`),
    ),
  },
  delete_task_group_by_delete: {
    action: 'task_group.delete',
    arrange: by(
      () => a.taskGroup(),
      (client, id) => client.delete(`/api/v2/task-group/${id}/`),
    ),
  },
  admin_delete_task_group: {
    action: 'task_group.delete',
    arrange: by(
      () => a.taskGroup(),
      (client, id) => client.post(`/admin/v2/task-group/${id}/delete/`),
    ),
  },
  admin_reset_task_group_pip: {
    action: 'task_group.reset',
    arrange: by(
      () => a.taskGroup('pypi', false),
      (client, id) => client.post(`/admin/v2/task-group/${id}/reset/pip/`, { python_version: '3.12' }),
    ),
  },
  admin_reset_task_group_pixi: {
    because: 'the same as that of pip, which is tried here: it needs a resource with pixi',
  },
  admin_make_core_tasks: {
    action: 'task.core',
    arrange: by(a.task, (client, id) => client.post('/admin/v2/task/make-core/', [id])),
  },
  admin_make_not_core_tasks: {
    action: 'task.core',
    arrange: by(
      () => a.task(true),
      (client, id) => client.post('/admin/v2/task/make-not-core/', [id]),
    ),
  },
  admin_make_core_task_group: {
    action: 'task.core',
    arrange: by(
      async () => {
        const id = await a.taskGroup();
        await addTask(service, { taskgroupv2_id: id });
        return id;
      },
      (client, id) => client.post(`/admin/v2/task-group/${id}/make-core/`),
    ),
  },
  admin_make_not_core_task_group: {
    action: 'task.core',
    arrange: by(
      async () => {
        const id = await a.taskGroup();
        await addTask(service, { taskgroupv2_id: id, is_core: true });
        return id;
      },
      (client, id) => client.post(`/admin/v2/task-group/${id}/make-not-core/`),
    ),
  },

  // jobs
  submit_job: { because: 'the job itself says whose it is and when it began' },
  stop_job: {
    action: 'job.stop',
    arrange: by(a.job, (client, { project_id, job }) => client.get(`/api/v2/project/${project_id}/job/${job}/stop/`)),
  },
  stop_job_by_post: {
    action: 'job.stop',
    arrange: by(a.job, (client, { project_id, job }) => client.post(`/api/v2/project/${project_id}/job/${job}/stop/`)),
  },
  stop_job_by_id: {
    action: 'job.stop',
    arrange: by(a.job, (client, { job }) => client.post(`/api/v2/job/${job}/stop/`)),
  },
  admin_stop_job: {
    action: 'job.stop',
    arrange: by(a.job, (client, { job }) => client.get(`/admin/v2/job/${job}/stop/`)),
  },
  admin_stop_job_by_post: {
    action: 'job.stop',
    arrange: by(a.job, (client, { job }) => client.post(`/admin/v2/job/${job}/stop/`)),
  },
  admin_update_job: {
    action: 'job.label_failed',
    arrange: by(a.job, (client, { job }) => client.patch(`/admin/v2/job/${job}/`, { status: 'failed' })),
  },
};

async function recordsOf(work: () => Promise<unknown>): Promise<AuditRecord[]> {
  const [newest] = (await admin.get('/admin/v2/audit/', { query: { page_size: 1 } })).body.items as AuditRecord[];
  await work();
  const { body } = await admin.get('/admin/v2/audit/');
  return (body.items as AuditRecord[]).filter(({ id }) => id > (newest?.id ?? 0));
}

const OPERATIONS = [accounts, jobs, projects, tasks]
  .flatMap((area) => Object.values(area) as (Operation | (() => Operation))[])
  .filter((one): one is Operation => typeof one === 'object');
const changes = ({ method, unsafeGet, scope, id }: Operation) =>
  (method !== 'GET' || unsafeGet) && (scope !== 'read' || id === 'logout');

const { id: adminId } = (await admin.get('/auth/current-user/')).body as { id: number };
const who = ({ user_id, user_email, as_user_id, as_user_email }: AuditRecord) => ({
  who: [user_id, user_email],
  as: [as_user_id, as_user_email],
});
const BOTH = { who: [adminId, ADMIN.email], as: [person.id, person.email] };

const rows = Object.entries(TABLE);
const audited = rows.flatMap(([id, row]) => ('action' in row ? [{ id, ...row }] : []));
const leftOut = rows.flatMap(([id, row]) => ('because' in row && row.arrange ? [{ id, arrange: row.arrange }] : []));

describe('the audit log', () => {
  it('is decided about for every operation that changes something', () => {
    expect(Object.keys(TABLE).sort()).toEqual(
      OPERATIONS.filter(changes)
        .map(({ id }) => id)
        .sort(),
    );
  });

  it('has no word that nothing leaves', () => {
    const elsewhere = ['user.act_as', 'user.link_account', 'user.password', 'token.create'];
    const left = new Set<string>([...audited.map(({ action }) => action), ...elsewhere]);
    expect(AUDIT_ACTIONS.filter((action) => !left.has(action))).toEqual([]);
  });

  it.each(audited)('says who and as whom for $id', async ({ arrange, action }) => {
    const act = await arrange();
    const client = await actingClient();
    let answer!: Answer;
    const records = await recordsOf(async () => (answer = await act(client)));
    expect([answer.status < 300, answer.text]).toEqual([true, answer.text]);
    expect(records.map((one) => ({ action: one.action, ...who(one) }))).toEqual([{ action, ...BOTH }]);
  });

  it.each(leftOut)('has $id only where somebody else did it in the name of the person', async ({ id, arrange }) => {
    const act = await arrange();
    const client = await actingClient();
    const records = await recordsOf(async () => expect((await act(client)).status).toBeLessThan(300));
    expect(records.map((one) => ({ action: one.action, operation: one.details['operation'], ...who(one) }))).toEqual([
      { action: 'user.act_as', operation: id, ...BOTH },
    ]);
    const again = await arrange();
    const own = await ownClient();
    expect(await recordsOf(async () => expect((await again(own)).status).toBeLessThan(300))).toEqual([]);
  });

  it('keeps the one who began when an impersonation leads on to another', async () => {
    const { body } = await (await actingClient()).get(`/admin/v2/impersonate/${other.id}/`);
    const client = service.withToken(body.access_token as string);
    const records = await recordsOf(() => client.patch('/auth/current-user/', { slurm_accounts: [word()] }));
    expect(records.map(who)).toEqual([{ who: [adminId, ADMIN.email], as: [other.id, other.email] }]);
  });

  it('has nothing about an act that was refused', async () => {
    const client = await actingClient();
    const records = await recordsOf(async () => {
      expect((await client.delete('/api/v2/project/987654/')).status).toBe(404);
      expect((await client.post('/api/v2/project/', {})).status).toBe(422);
    });
    expect(records).toEqual([]);
  });
});
