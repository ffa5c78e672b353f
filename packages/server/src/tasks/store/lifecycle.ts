/** The SQL of what is done with task groups. */
import { type Insertable, type Selectable, sql, type Transaction } from 'kysely';

import type { Activity, ActivityAction, ActivityStep, JsonObject } from '@service/contract';

import type { Database, Tables } from '../../db/index.ts';
import { addWork } from '../../queue/index.ts';
import { ACTIVITY_COLUMNS } from './activities.ts';
import { insertTasks, type NewTask } from './tasks.ts';

export type Trx = Transaction<Tables>;
type Executor = Database | Trx;

/** The kind of background work that carries out activities. */
export const ACTIVITY_WORK = 'task-group-activity';

export type NewGroup = Insertable<Tables['task_groups']>;

const GROUP_COLUMNS = [
  'id',
  'user_id',
  'resource_id',
  'origin',
  'pkg_name',
  'version',
  'python_version',
  'pixi_version',
  'path',
  'venv_path',
  'archive_path',
  'pip_extras',
  'env_info',
  'pinned_package_versions_pre',
  'pinned_package_versions_post',
  'active',
] as const;

/** A task group as a procedure needs it. */
export type GroupAtWork = Pick<Selectable<Tables['task_groups']>, (typeof GROUP_COLUMNS)[number]>;

export const findGroupAtWork = (db: Executor, id: number): Promise<GroupAtWork | undefined> =>
  db.selectFrom('task_groups').select(GROUP_COLUMNS).where('id', '=', id).executeTakeFirst();

/** Locks the group until the transaction ends. */
export const lockGroup = (db: Trx, id: number): Promise<GroupAtWork | undefined> =>
  db.selectFrom('task_groups').select(GROUP_COLUMNS).where('id', '=', id).forUpdate().executeTakeFirst();

export async function insertGroup(db: Executor, group: NewGroup): Promise<GroupAtWork> {
  return db.insertInto('task_groups').values(group).returning(GROUP_COLUMNS).executeTakeFirstOrThrow();
}

interface NewActivity {
  group: Pick<GroupAtWork, 'id' | 'user_id' | 'pkg_name' | 'version'>;
  action: ActivityAction;
  request?: JsonObject;
  fractal_server_version: string;
  /** For what is done at once. */
  finished?: { log: string };
}

/** Records an activity and, unless it is finished already, puts it into the queue. */
export async function insertActivity(db: Trx, activity: NewActivity): Promise<Activity> {
  const { group, action, request, fractal_server_version, finished } = activity;
  const now = new Date().toISOString();
  const row = await db
    .insertInto('task_group_activities')
    .values({
      user_id: group.user_id,
      taskgroupv2_id: group.id,
      pkg_name: group.pkg_name,
      version: group.version,
      action,
      status: finished ? 'OK' : 'pending',
      timestamp_ended: finished ? now : null,
      log: finished?.log ?? null,
      request: JSON.stringify(request ?? {}),
      fractal_server_version,
    })
    .returning([...ACTIVITY_COLUMNS, 'log'])
    .executeTakeFirstOrThrow();
  if (!finished) await addWork(db, ACTIVITY_WORK, row.id);
  return row;
}

export async function hasUnfinishedActivity(db: Executor, groupId: number): Promise<boolean> {
  const row = await db
    .selectFrom('task_group_activities')
    .select('id')
    .where('taskgroupv2_id', '=', groupId)
    .where('status', 'in', ['pending', 'ongoing'])
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** A submitted job that has a task of the group among those it runs. */
export async function submittedJobUses(db: Executor, groupId: number): Promise<boolean> {
  const row = await db
    .selectFrom('jobs')
    .innerJoin('workflow_tasks', 'workflow_tasks.workflow_id', 'jobs.workflow_id')
    .innerJoin('tasks', 'tasks.id', 'workflow_tasks.task_id')
    .select('jobs.id')
    .where('jobs.status', '=', 'submitted')
    .where('tasks.taskgroupv2_id', '=', groupId)
    .whereRef('workflow_tasks.order', '>=', 'jobs.first_task_index')
    .whereRef('workflow_tasks.order', '<=', 'jobs.last_task_index')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function workflowUses(db: Executor, groupId: number): Promise<boolean> {
  const row = await db
    .selectFrom('workflow_tasks')
    .innerJoin('tasks', 'tasks.id', 'workflow_tasks.task_id')
    .select('workflow_tasks.id')
    .where('tasks.taskgroupv2_id', '=', groupId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export interface ActivityAtWork {
  id: number;
  taskgroupv2_id: number | null;
  action: ActivityAction;
  status: string;
  timestamp_started: string;
  log: string | null;
  request: JsonObject;
}

export const findActivityAtWork = (db: Executor, id: number): Promise<ActivityAtWork | undefined> =>
  db
    .selectFrom('task_group_activities')
    .select(['id', 'taskgroupv2_id', 'action', 'status', 'timestamp_started', 'log', 'request'])
    .where('id', '=', id)
    .executeTakeFirst();

export async function saveProgress(db: Executor, id: number, log: string, steps: ActivityStep[]): Promise<void> {
  await db
    .updateTable('task_group_activities')
    .set({ log, steps: JSON.stringify(steps) })
    .where('id', '=', id)
    .execute();
}

export async function setOngoing(db: Executor, id: number): Promise<void> {
  await db.updateTable('task_group_activities').set({ status: 'ongoing' }).where('id', '=', id).execute();
}

/** Notes that an activity has begun to change what lies on disk. */
export async function markBegun(db: Executor, id: number): Promise<void> {
  await db
    .updateTable('task_group_activities')
    .set({ request: sql`request::jsonb || '{"begun": true}'` })
    .where('id', '=', id)
    .execute();
}

export async function settleActivity(db: Executor, id: number, status: 'OK' | 'failed'): Promise<void> {
  await db
    .updateTable('task_group_activities')
    .set({ status, timestamp_ended: new Date().toISOString() })
    .where('id', '=', id)
    .execute();
}

type GroupChanges = Partial<
  Pick<GroupAtWork, 'active' | 'env_info' | 'archive_path' | 'pip_extras' | 'python_version' | 'venv_path'>
> & { pinned_package_versions_pre?: string; pinned_package_versions_post?: string };

export async function updateGroup(db: Executor, id: number, changes: GroupChanges): Promise<void> {
  if (Object.keys(changes).length === 0) return;
  await db.updateTable('task_groups').set(changes).where('id', '=', id).execute();
}

export async function deleteGroup(db: Executor, id: number): Promise<void> {
  await db.deleteFrom('task_groups').where('id', '=', id).execute();
}

/** Gives the tasks of a group new content; those with a name that is there already keep their id, vanished ones stay in use. */
export async function replaceTasks(db: Trx, groupId: number, tasks: NewTask[]): Promise<void> {
  const known = await db.selectFrom('tasks').select(['id', 'name']).where('taskgroupv2_id', '=', groupId).execute();
  const names = new Set(known.map(({ name }) => name));
  await sql`
    update tasks set
      type = item.type, command_non_parallel = item.command_non_parallel, command_parallel = item.command_parallel,
      meta_non_parallel = item.meta_non_parallel, meta_parallel = item.meta_parallel,
      args_schema_non_parallel = item.args_schema_non_parallel, args_schema_parallel = item.args_schema_parallel,
      args_schema_version = item.args_schema_version, docs_info = item.docs_info, docs_link = item.docs_link,
      input_types = item.input_types, output_types = item.output_types
    from json_to_recordset(${JSON.stringify(tasks)}::json) as item (name text, type text, command_non_parallel text,
      command_parallel text, meta_non_parallel json, meta_parallel json, args_schema_non_parallel json,
      args_schema_parallel json, args_schema_version text, docs_info text, docs_link text, input_types jsonb,
      output_types jsonb)
    where tasks.taskgroupv2_id = ${groupId} and tasks.name = item.name`.execute(db);
  await insertTasks(
    db,
    groupId,
    tasks.filter(({ name }) => !names.has(name)),
  );
}
