/** Who may call what in a project: every operation, every role. */
import { beforeAll, describe, expect, it } from 'vitest';

import { type Operation, type Permissions, projects } from '@service/contract';

import { addPerson, addProfile, type Person } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';

/** What a role may do at most: the level of its link, and whether its account may change things at all. */
interface Role {
  link: 'owner' | Permissions | 'pending' | 'none';
  guestAccount?: boolean;
  fields?: Record<string, unknown>;
}

const ROLES: Record<string, Role> = {
  owner: { link: 'owner' },
  'rwx guest': { link: 'rwx' },
  'rw guest': { link: 'rw' },
  'r guest': { link: 'r' },
  'pending guest': { link: 'pending' },
  stranger: { link: 'none' },
  'guest account': { link: 'rwx', guestAccount: true, fields: { is_guest: true } },
};

interface ProjectIds {
  project: number;
  dataset: number;
  workflow: number;
  step: number;
  task: number;
  zarrDir: string;
}

/** The permission an operation needs; `owner` beyond rwx; `link` any accepted one, `pending` an open invitation. */
type Needed = Permissions | 'owner' | 'link' | 'pending' | 'leave';

interface Row {
  operation: Operation;
  needed: Needed;
  query?: (made: ProjectIds) => Record<string, string | number>;
  body?: (made: ProjectIds) => unknown;
}

const row = (operation: unknown, needed: Needed, extra: Omit<Row, 'operation' | 'needed'> = {}): Row => ({
  operation: operation as Operation,
  needed,
  ...extra,
});

const EMAIL = { email: 'nobody-known@example.org' };
const IMPORT = { name: 'imported', task_list: [] };

const TABLE: Row[] = [
  row(projects.getProject, 'r'),
  row(projects.updateProject, 'rw', { body: () => ({}) }),
  row(projects.deleteProject, 'owner'),
  row(projects.starProject, 'rw'),
  row(projects.unstarProject, 'rw'),
  row(projects.listGuests, 'owner'),
  row(projects.inviteGuest, 'owner', { query: () => EMAIL, body: () => ({ permissions: 'r' }) }),
  row(projects.updateGuest, 'owner', { query: () => EMAIL, body: () => ({ permissions: 'r' }) }),
  row(projects.removeGuest, 'owner', { query: () => EMAIL }),
  row(projects.getAccess, 'link'),
  row(projects.acceptInvitation, 'pending'),
  row(projects.leaveProject, 'leave'),
  row(projects.createDataset, 'rw', { body: () => ({ name: 'new' }) }),
  row(projects.importDataset, 'rw', { body: () => ({ name: 'new', zarr_dir: '/projects/p/x' }) }),
  row(projects.listDatasets, 'r'),
  row(projects.getDataset, 'r'),
  row(projects.exportDataset, 'r'),
  row(projects.updateDataset, 'rw', { body: () => ({}) }),
  row(projects.deleteDataset, 'rw'),
  row(projects.starDataset, 'rw'),
  row(projects.unstarDataset, 'rw'),
  row(projects.createImage, 'rw', { body: ({ zarrDir }) => ({ zarr_url: `${zarrDir}/new` }) }),
  row(projects.updateImage, 'rw', { body: ({ zarrDir }) => ({ zarr_url: `${zarrDir}/a` }) }),
  row(projects.deleteImage, 'rw', { query: ({ zarrDir }) => ({ zarr_url: `${zarrDir}/a` }) }),
  row(projects.changeImages, 'rw', { body: () => ({ zarr_urls: [], remove: true }) }),
  row(projects.queryImages, 'r'),
  row(projects.exportImages, 'r'),
  row(projects.verifyUniqueTypes, 'r', { query: ({ step }) => ({ workflowtask_id: step }) }),
  row(projects.verifyUniqueTypesByGet, 'r', { query: ({ step }) => ({ workflowtask_id: step }) }),
  row(projects.nonProcessedImages, 'r', {
    query: ({ step, workflow }) => ({ workflowtask_id: step, workflow_id: workflow }),
    body: () => ({}),
  }),
  row(projects.listWorkflows, 'r'),
  row(projects.createWorkflow, 'rw', { body: () => ({ name: 'new' }) }),
  row(projects.importWorkflow, 'rw', { body: () => IMPORT }),
  row(projects.getWorkflow, 'r'),
  row(projects.exportWorkflow, 'r'),
  row(projects.typeFiltersFlow, 'r'),
  row(projects.versionUpdateCandidates, 'r'),
  row(projects.updateWorkflow, 'rw', { body: () => ({}) }),
  row(projects.deleteWorkflow, 'rw'),
  row(projects.starWorkflow, 'rw'),
  row(projects.unstarWorkflow, 'rw'),
  row(projects.createWorkflowTasks, 'rw', { body: ({ task }) => [{ task_id: task }] }),
  row(projects.replaceTask, 'rw', {
    query: ({ step, task }) => ({ workflow_task_id: step, task_id: task }),
    body: () => ({}),
  }),
  row(projects.getWorkflowTask, 'r'),
  row(projects.updateWorkflowTask, 'rw', { body: () => ({}) }),
  row(projects.deleteWorkflowTask, 'rw'),
];

/** Operations that are in no project. */
const ELSEWHERE = [
  // with the files that pictures are made of
  'get_picture',
  'get_plate_picture',
  'get_plate_picture_info',
  'get_dataset_contents',
  'list_tables',
  'get_table',
  'query_table',
  'get_table_groups',
  'query_table_groups',
  'list_projects',
  'create_project',
  'list_project_invitations',
  'list_all_datasets',
  'search',
  'admin_list_projects',
  'admin_get_project',
  'transfer_project',
  'admin_list_project_links',
  'admin_verify_project_link',
  'import_workflow_from_template',
];

/** Owners must not leave, strangers cannot. */
const LEAVING: Partial<Record<Role['link'], 404 | 422>> = { owner: 422, none: 404 };

/** The status that a role gets; `ok` is any success, or a refusal for another reason than who asks. */
function expected({ needed, operation }: Row, { link, guestAccount }: Role): 'ok' | 403 | 404 | 422 {
  const granted = { owner: 'rwx', pending: '', none: '', r: 'r', rw: 'rw', rwx: 'rwx' }[link];
  if (operation.access === 'member' && guestAccount) return 403;
  if (needed === 'leave') return LEAVING[link] ?? 'ok';
  if (needed === 'link') return granted === '' ? 404 : 'ok';
  if (needed === 'pending') return link === 'pending' ? 'ok' : 404;
  if (needed === 'owner') return link === 'owner' ? 'ok' : 403;
  return granted.includes(needed) ? 'ok' : 403;
}

let service: TestService;
let owner: Person;
let taskId: number;
const people = new Map<string, Person>();

beforeAll(async () => {
  service = await startService();
  const profile = await addProfile(service);
  owner = await addPerson(service, profile);
  people.set('owner', owner);
  for (const [name, role] of Object.entries(ROLES)) {
    if (name !== 'owner') people.set(name, await addPerson(service, profile, role.fields));
  }
  const { rows } = await service.database.pool.query<{ id: number }>(
    `with made as (
       insert into task_groups (user_id, user_group_id, resource_id, origin, pkg_name, version)
       select $1, (select id from user_groups where name = 'All'), p.resource_id, 'other', 'pkg', '1.0'
       from users u join profiles p on p.id = u.profile_id where u.id = $1 returning id)
     insert into tasks (taskgroupv2_id, name, type, version) select id, 'task', 'parallel', '1.0' from made returning id`,
    [owner.id],
  );
  taskId = rows[0]!.id;
}, 120_000);

let number = 0;

/** A project with one of everything, linked to the person as the role says. */
async function newProject(role: Role, person: Person): Promise<ProjectIds> {
  const name = `Project ${++number}`;
  const { rows } = await service.database.pool.query<Omit<ProjectIds, 'task' | 'zarrDir'>>(
    `with project as (
       insert into projects (name, owner_id, resource_id)
       select $2, $1, p.resource_id from users u join profiles p on p.id = u.profile_id where u.id = $1 returning id),
     dataset as (insert into datasets (name, project_id, zarr_dir) select 'd', id, '/projects/p/' || $2 from project returning id),
     workflow as (insert into workflows (name, project_id) select 'w', id from project returning id),
     step as (insert into workflow_tasks (workflow_id, task_id, "order", task_type) select id, $3, 0, 'parallel' from workflow returning id)
     select project.id as project, dataset.id as dataset, workflow.id as workflow, step.id as step
     from project, dataset, workflow, step`,
    [owner.id, name, taskId],
  );
  const made = { ...rows[0]!, task: taskId, zarrDir: `/projects/p/${name}` };
  const { db } = service.database;
  await db
    .insertInto('images')
    .values({ dataset_id: made.dataset, position: 0, zarr_url: `${made.zarrDir}/a`, origin: null })
    .execute();
  if (role.link !== 'owner' && role.link !== 'none') {
    const link =
      role.link === 'pending'
        ? { permissions: 'rwx' as const, is_verified: false }
        : { permissions: role.link, is_verified: true };
    await db
      .insertInto('project_guests')
      .values({ project_id: made.project, user_id: person.id, ...link })
      .execute();
  }
  return made;
}

function call(client: Client, { operation, query, body }: Row, made: ProjectIds) {
  const params: Record<string, number> = {
    project_id: made.project,
    dataset_id: made.dataset,
    workflow_id: made.workflow,
    workflow_task_id: made.step,
  };
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => String(params[name]));
  const extra = query ? { query: query(made) } : {};
  const { method } = operation;
  if (method === 'GET') return client.get(path, extra);
  if (method === 'DELETE') return client.delete(path, extra);
  return (method === 'PATCH' ? client.patch : client.post)(path, body?.(made), extra);
}

describe('the permission table', () => {
  it('has a row for every operation inside a project', () => {
    const rows = TABLE.map(({ operation }) => operation.id);
    const templates = Object.values(projects)
      .filter((one) => one.tag === 'templates')
      .map((one) => one.id);
    const all = Object.values(projects).map((one) => one.id);
    expect(all.filter((id) => !rows.includes(id) && !ELSEWHERE.includes(id) && !templates.includes(id))).toEqual([]);
  });

  describe.each(Object.entries(ROLES))('for %s', (name, role) => {
    it.each(TABLE.map((entry) => [entry.operation.id, entry] as const))('%s', async (_, entry) => {
      const person = people.get(name)!;
      const made = await newProject(role, person);
      const { status } = await call(person.client, entry, made);
      const wanted = expected(entry, role);
      if (wanted === 'ok') expect([200, 201, 204, ...(entry.query?.(made) === EMAIL ? [404] : [])]).toContain(status);
      else expect(status).toBe(wanted);
    });
  });

  it.each(TABLE.map((entry) => [entry.operation.id, entry] as const))(
    '%s is closed to everybody else',
    async (_, entry) => {
      const made = await newProject({ link: 'none' }, owner);
      expect((await call(service.anyone, entry, made)).status).toBe(401);
      // a superuser has no rights in projects, and this one has no profile
      expect((await call(service.admin, entry, made)).status).toBe(403);
    },
  );

  it('answers 404 for a project that is not there, or 403 where only owners may ask', async () => {
    for (const entry of TABLE) {
      const nowhere = { project: 987_654, dataset: 1, workflow: 1, step: 1, task: taskId, zarrDir: '/projects/p/x' };
      const { status } = await call(owner.client, entry, nowhere);
      const ownersOnly = entry.operation.path.endsWith('/guest/');
      expect([entry.operation.id, status]).toEqual([entry.operation.id, ownersOnly ? 403 : 404]);
    }
  });

  it('is closed to accounts that are not verified or have no profile', async () => {
    const unverified = await service.person({ profile_id: (await service.admin.get('/admin/v2/profile/')).body[0].id });
    const withoutProfile = await service.person({ patch: { is_verified: true } });
    for (const entry of TABLE) {
      const made = { project: 1, dataset: 1, workflow: 1, step: 1, task: 1, zarrDir: '/x' };
      for (const person of [unverified, withoutProfile]) {
        expect([entry.operation.id, (await call(person.client, entry, made)).status]).toEqual([
          entry.operation.id,
          403,
        ]);
      }
    }
  });
});
