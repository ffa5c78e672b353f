/** Task groups and their activities on the wire. */
import { tasks as operations } from '@service/contract';

import type { Database } from '../../db/index.ts';
import type { Api } from '../../http/index.ts';
import { setGroupCore } from '../core-tasks.ts';
import { readActivity } from '../lifecycle.ts';
import { listActivities, pageOfActivities } from '../store/activities.ts';
import * as groups from '../task-groups.ts';

export interface TaskGroupParts {
  db: Database;
  /** The group that everybody is in. */
  defaultGroup: string | null;
}

export function taskGroupRoutes(api: Api, { db, defaultGroup }: TaskGroupParts): void {
  api.serve(operations.listTaskGroups, ({ user, query }) => groups.listTaskGroups(db, user, query, defaultGroup));
  api.serve(operations.listActivities, ({ user, query: { log, ...filter } }) =>
    listActivities(db, { ...filter, user_id: user.id }, log),
  );
  api.serve(operations.getActivity, ({ user, params }) => readActivity(db, user, params.task_group_activity_id));
  api.serve(operations.getTaskGroup, ({ user, params }) => groups.readTaskGroup(db, user, params.task_group_id));
  api.serve(operations.updateTaskGroup, ({ by, params, body }) =>
    groups.updateTaskGroup(db, by, params.task_group_id, body),
  );

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
