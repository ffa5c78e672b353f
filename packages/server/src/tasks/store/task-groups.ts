/** The SQL of task groups: reading them with their use, making and sharing them, and what stands in the way. */
import { type Insertable, sql } from 'kysely';

import type { Origin, PageRequest, User } from '@service/contract';

import { brokenConstraint, contains, pageOf, rowsOf, type Tables } from '../../db/index.ts';
import { type Executor, slimTaskList } from './tasks.ts';
import { isOffered, isReadable } from './visibility.ts';

const COLUMNS = [
  'task_groups.id',
  'task_groups.user_id',
  'task_groups.user_group_id',
  'task_groups.resource_id',
  'task_groups.origin',
  'task_groups.pkg_name',
  'task_groups.version',
  'task_groups.python_version',
  'task_groups.pixi_version',
  'task_groups.path',
  'task_groups.venv_path',
  'task_groups.archive_path',
  'task_groups.pip_extras',
  'task_groups.pinned_package_versions_pre',
  'task_groups.pinned_package_versions_post',
  'task_groups.active',
  'task_groups.timestamp_created',
  'task_groups.timestamp_last_used',
] as const;

/** The workflows that use a task of the group, whoever they belong to. */
const numWorkflows = sql<number>`(
  select count(distinct workflow_tasks.workflow_id) from tasks
  join workflow_tasks on workflow_tasks.task_id = tasks.id
  where tasks.taskgroupv2_id = task_groups.id)`;

const isInUse = sql<boolean>`exists (
  select from tasks join workflow_tasks on workflow_tasks.task_id = tasks.id
  where tasks.taskgroupv2_id = task_groups.id)`;

/** How many submitted jobs have a task of the group in the part of the workflow that they run. */
const waitingJobs = sql<{ taskgroupv2_id: number; num_submitted_jobs: number }>`(
  select tasks.taskgroupv2_id, count(distinct jobs.id) as num_submitted_jobs
  from jobs
  join workflow_tasks on workflow_tasks.workflow_id = jobs.workflow_id
    and workflow_tasks."order" between jobs.first_task_index and jobs.last_task_index
  join tasks on tasks.id = workflow_tasks.task_id
  where jobs.status = 'submitted'
  group by tasks.taskgroupv2_id)`.as<'waiting'>(sql.ref('waiting'));

const withUse = (db: Executor) =>
  db
    .selectFrom('task_groups')
    .innerJoin('users', 'users.id', 'task_groups.user_id')
    .leftJoin(waitingJobs, (join) => join.onRef('waiting.taskgroupv2_id', '=', 'task_groups.id'))
    .select(COLUMNS)
    .select([
      'users.email as user_email',
      numWorkflows.as('num_workflows'),
      sql<number>`coalesce(waiting.num_submitted_jobs, 0)`.as('num_submitted_jobs'),
    ]);

export type GroupRow = Awaited<ReturnType<ReturnType<typeof withUse>['executeTakeFirstOrThrow']>>;

interface ListedGroups {
  active: boolean;
  owner: boolean;
  defaultGroup: string | null;
}

/**
 * What a person can use, by package, with tasks; with the moment at which they joined the group that it is shared with, and the
 * id of the default group, by which the best of equal ones is chosen.
 */
export function listTaskGroups(db: Executor, user: User, only: ListedGroups) {
  let query = withUse(db)
    .leftJoin('group_members', (join) =>
      join.onRef('group_members.group_id', '=', 'task_groups.user_group_id').on('group_members.user_id', '=', user.id),
    )
    .select((eb) => [
      'group_members.timestamp_joined',
      eb
        .selectFrom('user_groups')
        .select('user_groups.id')
        .where('user_groups.name', '=', only.defaultGroup)
        .as('default_group_id'),
      slimTaskList(eb).as('task_list'),
    ])
    .where((eb) => isOffered(eb, user));
  if (only.active) query = query.where('task_groups.active', '=', true);
  if (only.owner) query = query.where('task_groups.user_id', '=', user.id);
  return query.orderBy('task_groups.pkg_name').orderBy('task_groups.id').execute();
}

export const findTaskGroup = (db: Executor, groupId: number): Promise<GroupRow | undefined> =>
  withUse(db).where('task_groups.id', '=', groupId).executeTakeFirst();

/** A task group, and whether the caller may read it. */
export const findTaskGroupFor = (db: Executor, user: User, groupId: number) =>
  withUse(db)
    .select((eb) => isReadable(eb, user).as('readable'))
    .where('task_groups.id', '=', groupId)
    .executeTakeFirst();

export interface TaskGroupFilter {
  task_group_id?: number | undefined;
  user_id?: number | undefined;
  user_group_id?: number | undefined;
  private?: boolean | undefined;
  active?: boolean | undefined;
  pkg_name?: string | undefined;
  origin?: Origin | undefined;
  timestamp_last_used_min?: string | undefined;
  timestamp_last_used_max?: string | undefined;
  resource_id?: number | undefined;
  in_use?: boolean | undefined;
}

export async function pageOfTaskGroups(db: Executor, filter: TaskGroupFilter, page: PageRequest) {
  let query = withUse(db);
  if (filter.task_group_id !== undefined) query = query.where('task_groups.id', '=', filter.task_group_id);
  if (filter.user_id !== undefined) query = query.where('task_groups.user_id', '=', filter.user_id);
  if (filter.user_group_id !== undefined) query = query.where('task_groups.user_group_id', '=', filter.user_group_id);
  if (filter.private !== undefined)
    query = query.where('task_groups.user_group_id', filter.private ? 'is' : 'is not', null);
  if (filter.active !== undefined) query = query.where('task_groups.active', '=', filter.active);
  if (filter.pkg_name !== undefined) query = query.where('task_groups.pkg_name', 'ilike', contains(filter.pkg_name));
  if (filter.origin !== undefined) query = query.where('task_groups.origin', '=', filter.origin);
  if (filter.timestamp_last_used_min !== undefined)
    query = query.where('task_groups.timestamp_last_used', '>=', filter.timestamp_last_used_min);
  if (filter.timestamp_last_used_max !== undefined)
    query = query.where('task_groups.timestamp_last_used', '<=', filter.timestamp_last_used_max);
  if (filter.resource_id !== undefined) query = query.where('task_groups.resource_id', '=', filter.resource_id);
  if (filter.in_use !== undefined) query = query.where(sql<boolean>`${isInUse} = ${filter.in_use}`);
  const { count } = await query
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const { limit, offset } = rowsOf(page);
  const items = await query.orderBy('task_groups.id').limit(limit).offset(offset).execute();
  return pageOf(page, count, items);
}

export type NewTaskGroup = Insertable<Tables['task_groups']>;

export async function insertTaskGroup(db: Executor, group: NewTaskGroup): Promise<number> {
  const { id } = await db.insertInto('task_groups').values(group).returning('id').executeTakeFirstOrThrow();
  return id;
}

/** False when the task group is gone. */
export async function shareTaskGroup(db: Executor, groupId: number, userGroupId: number | null): Promise<boolean> {
  const changed = await db
    .updateTable('task_groups')
    .set({ user_group_id: userGroupId })
    .where('id', '=', groupId)
    .returning('id')
    .execute();
  return changed.length > 0;
}

/** What makes a task group different from others. */
export interface Identity {
  user_id: number;
  user_group_id: number | null;
  resource_id: number;
  pkg_name: string;
  version: string;
  path?: string | null;
}

const equalGroups = (db: Executor, { pkg_name, version }: Identity) =>
  db
    .selectFrom('task_groups')
    .innerJoin('users', 'users.id', 'task_groups.user_id')
    .leftJoin('task_group_activities as collection', (join) =>
      join.onRef('collection.taskgroupv2_id', '=', 'task_groups.id').on('collection.action', '=', 'collect'),
    )
    .select(['task_groups.id', 'users.email', 'collection.id as activity_id', 'collection.status'])
    .where('task_groups.pkg_name', '=', pkg_name)
    .where('task_groups.version', '=', version);

type Equal = Awaited<ReturnType<ReturnType<typeof equalGroups>['executeTakeFirst']>>;

/** ` (task group 7; its collection, activity 12, is pending)` */
function naming(group: Equal): string {
  if (!group) return '';
  const collection =
    group.activity_id === null ? '' : `; its collection, activity ${group.activity_id}, has the status ${group.status}`;
  return ` (task group ${group.id}${collection})`;
}

async function ownedText(db: Executor, group: Identity): Promise<string> {
  const owned = await equalGroups(db, group)
    .where('task_groups.user_id', '=', group.user_id)
    .where('task_groups.resource_id', '=', group.resource_id)
    .executeTakeFirst();
  return (
    `${group.pkg_name} ${group.version} exists already on this resource for this owner${naming(owned)}. ` +
    'Use it, delete it first, or choose another version.'
  );
}

/** Two resources may have one folder for tasks, and folders of packages have the same names in it. */
export async function folderTaken(
  db: Executor,
  { pkg_name, version, path = null }: Identity,
): Promise<string | undefined> {
  const other = await db
    .selectFrom('task_groups')
    .innerJoin('users', 'users.id', 'task_groups.user_id')
    .innerJoin('resources', 'resources.id', 'task_groups.resource_id')
    .select(['task_groups.id', 'task_groups.pkg_name', 'task_groups.version', 'users.email', 'resources.name'])
    .where('task_groups.path', '=', path)
    .executeTakeFirst();
  return (
    other &&
    `${other.pkg_name} ${other.version} of ${other.email} on the resource "${other.name}" (task group ${other.id}) ` +
      `is installed in ${path}, where ${pkg_name} ${version} would be installed. ` +
      'Delete it first, or choose another version.'
  );
}

const sharedText = ({ pkg_name, version }: Identity, equal: Equal) =>
  `This user group has ${pkg_name} ${version} already${equal ? ` from ${equal.email}` : ''}${naming(equal)}. ` +
  'Use that one, or choose another user group or private.';

const equalInUserGroup = (db: Executor, group: Identity): Promise<Equal> =>
  equalGroups(db, group).where('task_groups.user_group_id', '=', group.user_group_id).executeTakeFirst();

/** Why a task group cannot be given to its user group, or nothing. */
export async function sharedTwice(db: Executor, group: Identity): Promise<string | undefined> {
  const equal = await equalInUserGroup(db, group);
  return equal && sharedText(group, equal);
}

/**
 * What to say when the database refused to insert or change a task group because there is such a one; undefined for other
 * errors. `db` is not the transaction that failed: in that one nothing can be read any more.
 *
 *     catch (error) {
 *       const text = await explainDuplicate(db, error, group);
 *       throw text === undefined ? error : refuse(422, text);
 *     }
 */
export async function explainDuplicate(db: Executor, error: unknown, group: Identity): Promise<string | undefined> {
  switch (brokenConstraint(error)) {
    case 'task_groups_owner_unique':
      return ownedText(db, group);
    case 'task_groups_user_group_unique':
      return sharedText(group, await equalInUserGroup(db, group));
    case 'task_groups_path_unique':
      return (await folderTaken(db, group)) ?? `The folder ${group.path} was in use by another task group. Try again.`;
    case 'tasks_name_unique':
      return 'Two tasks have the same name. Rename one of them.';
    default:
      return undefined;
  }
}
