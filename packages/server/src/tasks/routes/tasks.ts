/** Tasks on the wire. */
import { tasks as operations } from '@service/contract';

import type { Database } from '../../db/index.ts';
import { type Api, refuse } from '../../http/index.ts';
import type { RunAs } from '../../run-as/index.ts';
import { setCore } from '../core-tasks.ts';
import { collectCustom } from '../custom-collection.ts';
import type { Lookups } from '../lookups.ts';
import { pageOfTasks } from '../store/admin-tasks.ts';
import { listTasks } from '../store/tasks.ts';
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

  api.serve(operations.adminListTasks, ({ query: { page, page_size, ...filter } }) =>
    pageOfTasks(db, filter, { page, page_size }),
  );
  api.serve(operations.makeTasksCore, ({ by, body }) => setCore(db, by, body, true));
  api.serve(operations.makeTasksNotCore, ({ by, body }) => setCore(db, by, body, false));
}
