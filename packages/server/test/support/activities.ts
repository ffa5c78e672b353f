/** What was done with task groups, made by SQL. */
import type { ActivityAction, ActivityStatus } from '@service/contract';

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
