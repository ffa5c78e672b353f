/** What was done with task groups, made by SQL. */
import type { ActivityAction, ActivityStatus } from '@service/contract';

import type { Lease } from '../../src/queue/index.ts';
import type { TestService } from './server.ts';

interface NewActivity {
  user_id: number;
  taskgroupv2_id?: number;
  pkg_name?: string;
  status?: ActivityStatus;
  action?: ActivityAction;
  timestamp_started?: string;
  timestamp_ended?: string;
  log?: string;
  steps?: string;
}

export async function addActivity(service: TestService, activity: NewActivity): Promise<number> {
  const { id } = await service.database.db
    .insertInto('task_group_activities')
    .values({
      pkg_name: 'pkg',
      version: '1',
      status: 'OK',
      action: 'collect',
      fractal_server_version: '0',
      ...activity,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Somebody takes the work of an activity, whoever had it before, and keeps it. */
export async function leaseOf(service: TestService, activityId: number, holder = 'a test'): Promise<Lease> {
  const { rows } = await service.database.pool.query<{ id: number }>(
    `insert into background_work (kind, subject_id, leased_by, leased_until)
     values ('task-group-activity', $1, $2, now() + interval '1 hour')
     on conflict (kind, subject_id) do update set leased_by = excluded.leased_by, leased_until = excluded.leased_until
     returning id`,
    [activityId, holder],
  );
  return { id: rows[0]!.id, holder };
}
