/** Tasks, task groups and their activities on the wire, as people use them. */
import { tasks as operations } from '@service/contract';

import type { Database } from '../../db/index.ts';
import { type Api, refuse } from '../../http/index.ts';
import type { RunAs } from '../../run-as/index.ts';
import { collectCustom } from '../custom-collection.ts';
import { readActivity } from '../lifecycle.ts';
import type { Lookups } from '../lookups.ts';
import { listActivities } from '../store/activities.ts';
import { listTasks } from '../store/tasks.ts';
import * as groups from '../task-groups.ts';
import * as tasks from '../tasks.ts';

export interface TaskParts {
  db: Database;
  /** The group that everybody is in. */
  defaultGroup: string | null;
  lookups: Lookups;
  /** Whose accounts run what people bring. */
  runAs: RunAs;
}

export function taskRoutes(api: Api, { db, defaultGroup, lookups, runAs }: TaskParts): void {
  api.serve(operations.listTasks, ({ user }) => listTasks(db, user));
  api.serve(operations.getTask, ({ user, params }) => tasks.readTask(db, user, params.task_id));
  api.serve(operations.createTask, ({ user, query, body }) => tasks.createTask(db, user, query, body, defaultGroup));
  api.serve(operations.updateTask, ({ by, params, body }) => tasks.updateTask(db, by, params.task_id, body));
  api.serve(operations.deleteTask, () => {
    throw refuse(405, tasks.GO_BY_GROUP, { allow: 'GET, PATCH' });
  });
  api.serve(operations.collectCustom, ({ user, query, body }) =>
    lookups.take(user.id, () => collectCustom({ db, defaultGroup, runAs }, user, query, body)),
  );

  api.serve(operations.listTaskGroups, ({ user, query }) => groups.listTaskGroups(db, user, query, defaultGroup));
  api.serve(operations.listActivities, ({ user, query: { log, ...filter } }) =>
    listActivities(db, { ...filter, user_id: user.id }, log),
  );
  api.serve(operations.getActivity, ({ user, params }) => readActivity(db, user, params.task_group_activity_id));
  api.serve(operations.getTaskGroup, ({ user, params }) => groups.readTaskGroup(db, user, params.task_group_id));
  api.serve(operations.updateTaskGroup, ({ by, params, body }) =>
    groups.updateTaskGroup(db, by, params.task_group_id, body),
  );
}
