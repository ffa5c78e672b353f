/** The SQL of reading what was done with task groups. */
import { sql } from 'kysely';

import type { Activity, ActivityAction, ActivityStatus, PageRequest } from '@service/contract';

import { contains, pageOf, rowsOf } from '../../db/index.ts';
import type { Executor } from './tasks.ts';

/** All but the log, which lists may leave out. */
export const ACTIVITY_COLUMNS = [
  'id',
  'user_id',
  'taskgroupv2_id',
  'timestamp_started',
  'timestamp_ended',
  'pkg_name',
  'version',
  'status',
  'action',
  'steps',
] as const;

export interface ActivityFilter {
  task_group_activity_id?: number | undefined;
  user_id?: number | undefined;
  taskgroupv2_id?: number | undefined;
  pkg_name?: string | undefined;
  status?: ActivityStatus | undefined;
  action?: ActivityAction | undefined;
  timestamp_started_min?: string | undefined;
}

function filtered(db: Executor, filter: ActivityFilter) {
  let query = db.selectFrom('task_group_activities');
  if (filter.task_group_activity_id !== undefined) query = query.where('id', '=', filter.task_group_activity_id);
  if (filter.user_id !== undefined) query = query.where('user_id', '=', filter.user_id);
  if (filter.taskgroupv2_id !== undefined) query = query.where('taskgroupv2_id', '=', filter.taskgroupv2_id);
  if (filter.pkg_name !== undefined) query = query.where('pkg_name', 'ilike', contains(filter.pkg_name));
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  if (filter.action !== undefined) query = query.where('action', '=', filter.action);
  if (filter.timestamp_started_min !== undefined)
    query = query.where('timestamp_started', '>=', filter.timestamp_started_min);
  return query;
}

/** Logs are long; what is not shown is not read. */
const logColumn = (withLog: boolean) => (withLog ? sql.ref<string | null>('log') : sql<string | null>`null::text`);

const newestFirst = (db: Executor, filter: ActivityFilter, withLog: boolean) =>
  filtered(db, filter)
    .select(ACTIVITY_COLUMNS)
    .select(logColumn(withLog).as('log'))
    .orderBy('timestamp_started', 'desc')
    .orderBy('id', 'desc');

export const listActivities = (db: Executor, filter: ActivityFilter, withLog: boolean): Promise<Activity[]> =>
  newestFirst(db, filter, withLog).execute();

export async function pageOfActivities(db: Executor, filter: ActivityFilter, withLog: boolean, page: PageRequest) {
  const { count } = await filtered(db, filter)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const { limit, offset } = rowsOf(page);
  const items: Activity[] = await newestFirst(db, filter, withLog).limit(limit).offset(offset).execute();
  return pageOf(page, count, items);
}

export const findActivity = (db: Executor, activityId: number): Promise<Activity | undefined> =>
  newestFirst(db, { task_group_activity_id: activityId }, true).executeTakeFirst();

/** What goes on or ended lately: ongoing, pending, OK, failed, and in each the newest first. */
export const recentActivities = (db: Executor, minutes: number) =>
  db
    .selectFrom('task_group_activities')
    .innerJoin('users', 'users.id', 'task_group_activities.user_id')
    .select([
      'task_group_activities.id',
      'users.email',
      'action',
      'pkg_name',
      'version',
      'status',
      'timestamp_started',
      'timestamp_ended',
    ])
    .where((eb) =>
      eb.or([
        eb('status', 'in', ['ongoing', 'pending']),
        eb('timestamp_ended', '>=', sql<string>`now() - make_interval(mins => ${minutes})`),
      ]),
    )
    .orderBy(sql`array_position(array['ongoing', 'pending', 'OK', 'failed'], status)`)
    .orderBy('timestamp_started', 'desc')
    .execute();
