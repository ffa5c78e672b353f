/** What can be done with task groups, and what is refused. */
import type { PageRequest, TaskGroup, TaskGroupAdmin, TaskGroupSlim, User } from '@service/contract';

import { requireDefaultGroup, requireMembership } from '../accounts/index.ts';
import { record } from '../audit/index.ts';
import { brokenConstraint, type Database } from '../db/index.ts';
import { compareVersions } from '../engine/pep440.ts';
import { type Acting, type Origin, refuse } from '../http/index.ts';
import * as store from './store/task-groups.ts';
import { type Executor, tasksOfGroups } from './store/tasks.ts';
import { preferred } from './visibility.ts';

const NO_TASK_GROUP = 'There is no task group with this id.';
const NO_USER_GROUP = 'There is no user group with this id.';

/** Runs a change of a task group, and says in words which rule of the database refused it. */
export async function orDuplicate<T>(db: Database, group: store.Identity, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    // a user group that was deleted meanwhile
    if (brokenConstraint(error) === 'task_groups_user_group_id_fkey') throw refuse(404, NO_USER_GROUP);
    const text = await store.explainDuplicate(db, error, group);
    throw text === undefined ? error : refuse(422, text);
  }
}

/** As everybody sees it; owner and resource are shown by id to administrators only. */
function shown<T>(row: store.GroupRow, task_list: T[]) {
  const { id, user_email, user_group_id, origin, pkg_name, version, python_version, pixi_version } = row;
  const { path, venv_path, archive_path, pip_extras, pinned_package_versions_pre, pinned_package_versions_post } = row;
  const { active, timestamp_created, timestamp_last_used, num_workflows, num_submitted_jobs } = row;
  return {
    ...{ id, task_list, user_email, user_group_id, origin, pkg_name, version, python_version, pixi_version },
    ...{ path, venv_path, archive_path, pip_extras, pinned_package_versions_pre, pinned_package_versions_post },
    ...{ in_use: num_workflows > 0, active, timestamp_created, timestamp_last_used, num_workflows, num_submitted_jobs },
  };
}

const shownToAdministrators = <T>(row: store.GroupRow, task_list: T[]) => ({
  ...shown(row, task_list),
  user_id: row.user_id,
  resource_id: row.resource_id,
});

interface ListQuery {
  only_active: boolean;
  only_owner: boolean;
  all_groups: boolean;
}

/** By package, newest version first; of equal versions the one that the caller would choose. */
export async function listTaskGroups(
  db: Database,
  user: User,
  { only_active, only_owner, all_groups }: ListQuery,
  defaultGroup: string | null,
): Promise<[string, TaskGroupSlim[]][]> {
  const rows = await store.listTaskGroups(db, user, { active: only_active, owner: only_owner, defaultGroup });
  const defaultGroupId = rows[0]?.default_group_id ?? (await requireDefaultGroup(db, defaultGroup));
  const kept = all_groups
    ? rows
    : [...Map.groupBy(rows, (row) => JSON.stringify([row.pkg_name, row.version])).values()].map((equal) =>
        preferred(equal, user, defaultGroupId),
      );
  return [...Map.groupBy(kept, (row) => row.pkg_name)].map(([pkg_name, versions]) => [
    pkg_name,
    versions
      .toSorted((one, other) => compareVersions(other.version, one.version))
      .map((row) => shown(row, row.task_list)),
  ]);
}

async function withTasks(db: Executor, row: store.GroupRow): Promise<TaskGroup> {
  return shown(row, (await tasksOfGroups(db, [row.id])).get(row.id) ?? []);
}

export async function readTaskGroup(db: Database, user: User, groupId: number): Promise<TaskGroup> {
  const row = await store.findTaskGroupFor(db, user, groupId);
  if (!row) throw refuse(404, NO_TASK_GROUP);
  if (!row.readable) {
    throw refuse(403, `This task group is not shared with you. Ask ${row.user_email} to share it with a user group.`);
  }
  return withTasks(db, row);
}

type Change = { user_group_id?: number | null | undefined };

/** Undefined where nothing changes. */
function sharedWith(row: store.GroupRow, { user_group_id }: Change): store.Identity | undefined {
  return user_group_id === undefined || user_group_id === row.user_group_id ? undefined : { ...row, user_group_id };
}

async function share(db: Database, by: Origin, row: store.GroupRow, wanted: store.Identity): Promise<void> {
  const work = db.transaction().execute(async (trx) => {
    if (!(await store.shareTaskGroup(trx, row.id, wanted.user_group_id))) throw refuse(404, NO_TASK_GROUP);
    const details = { user_group_id: { from: row.user_group_id, to: wanted.user_group_id } };
    const name = `${row.pkg_name} ${row.version}`;
    await record(trx, by, { action: 'task_group.share', object: ['task_group', row.id, name], details });
  });
  await orDuplicate(db, wanted, work);
}

async function refuseDuplicate(db: Database, wanted: store.Identity): Promise<void> {
  const text = wanted.user_group_id === null ? undefined : await store.sharedTwice(db, wanted);
  if (text !== undefined) throw refuse(422, text);
}

export async function updateTaskGroup(db: Database, by: Acting, groupId: number, change: Change): Promise<TaskGroup> {
  const { user } = by;
  const row = await store.findTaskGroup(db, groupId);
  if (!row) throw refuse(404, NO_TASK_GROUP);
  if (row.user_id !== user.id) throw refuse(403, `Only the owner, ${row.user_email}, can change this task group.`);
  const wanted = sharedWith(row, change);
  if (!wanted) return withTasks(db, row);
  await refuseDuplicate(db, wanted);
  if (wanted.user_group_id !== null) await requireMembership(db, user, wanted.user_group_id);
  await share(db, by, row, wanted);
  return withTasks(db, { ...row, user_group_id: wanted.user_group_id });
}

async function withTasksForAdministrators(db: Executor, rows: store.GroupRow[]): Promise<TaskGroupAdmin[]> {
  const tasks = await tasksOfGroups(
    db,
    rows.map((row) => row.id),
  );
  return rows.map((row) => shownToAdministrators(row, tasks.get(row.id) ?? []));
}

export async function pageForAdministrators(db: Database, filter: store.TaskGroupFilter, page: PageRequest) {
  if (filter.private && filter.user_group_id !== undefined) {
    throw refuse(422, 'A private task group belongs to no user group: ask for private or user_group_id, not both.');
  }
  const { items, ...rest } = await store.pageOfTaskGroups(db, filter, page);
  return { ...rest, items: await withTasksForAdministrators(db, items) };
}

export async function readForAdministrators(db: Database, groupId: number): Promise<TaskGroupAdmin> {
  const row = await store.findTaskGroup(db, groupId);
  if (!row) throw refuse(404, NO_TASK_GROUP);
  return (await withTasksForAdministrators(db, [row]))[0]!;
}

/** An administrator can give a task group to any user group. */
export async function updateForAdministrators(
  db: Database,
  by: Origin,
  groupId: number,
  change: Change,
): Promise<TaskGroupAdmin> {
  const row = await store.findTaskGroup(db, groupId);
  if (!row) throw refuse(404, NO_TASK_GROUP);
  const wanted = sharedWith(row, change);
  if (wanted) await share(db, by, row, wanted);
  return readForAdministrators(db, groupId);
}
