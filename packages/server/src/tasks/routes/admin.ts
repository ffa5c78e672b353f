/** Tasks, task groups and their activities on the wire, as administrators use them. */
import { tasks as operations } from '@service/contract';

import type { Database } from '../../db/index.ts';
import type { Api } from '../../http/index.ts';
import { setCore, setGroupCore } from '../core-tasks.ts';
import { pageOfActivities } from '../store/activities.ts';
import { pageOfTasks } from '../store/admin-tasks.ts';
import * as groups from '../task-groups.ts';

export function adminTaskRoutes(api: Api, { db }: { db: Database }): void {
  api.serve(operations.adminListTasks, ({ query: { page, page_size, ...filter } }) =>
    pageOfTasks(db, filter, { page, page_size }),
  );
  api.serve(operations.makeTasksCore, ({ by, body }) => setCore(db, by, body, true));
  api.serve(operations.makeTasksNotCore, ({ by, body }) => setCore(db, by, body, false));

  api.serve(operations.adminListTaskGroups, ({ query: { page, page_size, ...filter } }) =>
    groups.pageForAdministrators(db, filter, { page, page_size }),
  );
  api.serve(operations.adminListActivities, ({ query: { page, page_size, log, ...filter } }) => {
    // clients send 0 and '' for fields that nobody filled in
    const { user_id, taskgroupv2_id, pkg_name, ...rest } = filter;
    const given = {
      user_id: user_id || undefined,
      taskgroupv2_id: taskgroupv2_id || undefined,
      pkg_name: pkg_name || undefined,
    };
    return pageOfActivities(db, { ...rest, ...given }, log, { page, page_size });
  });
  api.serve(operations.adminGetTaskGroup, ({ params }) => groups.readForAdministrators(db, params.task_group_id));
  api.serve(operations.adminUpdateTaskGroup, ({ by, params, body }) =>
    groups.updateForAdministrators(db, by, params.task_group_id, body),
  );
  api.serve(operations.makeTaskGroupCore, ({ by, params }) => setGroupCore(db, by, params.task_group_id, true));
  api.serve(operations.makeTaskGroupNotCore, ({ by, params }) => setGroupCore(db, by, params.task_group_id, false));
}
