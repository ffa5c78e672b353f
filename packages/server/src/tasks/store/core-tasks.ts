/** The SQL of core tasks. At most one of the tasks with the same name, package, version and resource is one. */
import { sql, type Transaction } from 'kysely';

import type { Tables } from '../../db/index.ts';
import type { Executor } from './tasks.ts';

const CORE_TASKS_LOCK = 7_310_203;

export interface EqualTask {
  id: number;
  name: string;
  pkg_name: string;
  version: string;
  resource_id: number;
  is_core: boolean;
}

/** One change at a time until the transaction ends: whoever waits here sees what the other one did. */
export async function holdCoreTasks(trx: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${CORE_TASKS_LOCK})`.execute(trx);
}

/** The given tasks and all that are equal to them. */
export async function equalTasks(db: Executor, taskIds: number[]): Promise<EqualTask[]> {
  const { rows } = await sql<EqualTask>`
    select t.id, t.name, g.pkg_name, g.version, g.resource_id, t.is_core
    from tasks t join task_groups g on g.id = t.taskgroupv2_id
    where (t.name, g.pkg_name, g.version, g.resource_id) in (
      select t.name, g.pkg_name, g.version, g.resource_id
      from tasks t join task_groups g on g.id = t.taskgroupv2_id
      where t.id = any(${taskIds}::int[]))
    order by t.id`.execute(db);
  return rows;
}

export const coreTasks = (db: Executor): Promise<EqualTask[]> =>
  db
    .selectFrom('tasks')
    .innerJoin('task_groups', 'task_groups.id', 'tasks.taskgroupv2_id')
    .select([
      'tasks.id',
      'tasks.name',
      'task_groups.pkg_name',
      'task_groups.version',
      'task_groups.resource_id',
      'tasks.is_core',
    ])
    .where('tasks.is_core', '=', true)
    .orderBy('tasks.id')
    .execute();

export async function setCore(db: Executor, taskIds: number[], isCore: boolean): Promise<void> {
  await db
    .updateTable('tasks')
    .set({ is_core: isCore })
    .where('id', '=', sql<number>`any(${taskIds}::int[])`)
    .execute();
}

/** The ids of the tasks of a group, or undefined when there is no such group. */
export async function taskIdsOfGroup(db: Executor, groupId: number): Promise<number[] | undefined> {
  const row = await db
    .selectFrom('task_groups')
    .leftJoin('tasks', 'tasks.taskgroupv2_id', 'task_groups.id')
    .select(sql<number[]>`coalesce(array_agg(tasks.id) filter (where tasks.id is not null), '{}')`.as('ids'))
    .where('task_groups.id', '=', groupId)
    .groupBy('task_groups.id')
    .executeTakeFirst();
  return row?.ids;
}

export async function countCoreTasks(db: Executor): Promise<number> {
  const { count } = await db
    .selectFrom('tasks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('is_core', '=', true)
    .executeTakeFirstOrThrow();
  return count;
}

export interface ResourceAndGroup {
  resource_id: number;
  user_group_id: number;
}
export type Triple = [pkg_name: string, version: string, task_name: string];

/** The tasks with these names, wherever they are installed on these resources for these user groups. */
export async function tasksNamed(db: Executor, pairs: ResourceAndGroup[], triples: Triple[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select t.id
    from unnest(${pairs.map((pair) => pair.resource_id)}::int[], ${pairs.map((pair) => pair.user_group_id)}::int[])
      as pair (resource_id, user_group_id)
    join task_groups g on g.resource_id = pair.resource_id and g.user_group_id = pair.user_group_id
    join unnest(${triples.map(([pkg_name]) => pkg_name)}::text[], ${triples.map(([, version]) => version)}::text[],
      ${triples.map(([, , name]) => name)}::text[]) as wanted (pkg_name, version, name)
      on wanted.pkg_name = g.pkg_name and wanted.version = g.version
    join tasks t on t.taskgroupv2_id = g.id and t.name = wanted.name
    group by t.id`.execute(db);
  return rows.map((row) => row.id);
}
