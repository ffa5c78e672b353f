/** What can be done with single tasks, and what is refused. */
import { inferredType, type Task, type TaskCreate, type TaskUpdate, type User } from '@service/contract';

import { usableProfile } from '../accounts/index.ts';
import { changes, ifChanged, record } from '../audit/index.ts';
import type { Database } from '../db/index.ts';
import { type Acting, refuse } from '../http/index.ts';
import { insertTaskGroup } from './store/task-groups.ts';
import * as store from './store/tasks.ts';
import { orDuplicate } from './task-groups.ts';
import { chooseUserGroup, type Visibility } from './visibility.ts';

export const GO_BY_GROUP = 'Tasks are deleted together with their task group: POST to /api/v2/task-group/{id}/delete/.';

async function find(db: Database, user: User, taskId: number) {
  const found = await store.findTask(db, user, taskId);
  if (!found) throw refuse(404, 'There is no task with this id.');
  return found;
}

function requireOwnResource({ on_own_resource }: { on_own_resource: boolean }): void {
  if (!on_own_resource) throw refuse(403, 'This task is installed on another resource than yours.');
}

export async function readTask(db: Database, user: User, taskId: number): Promise<Task> {
  const found = await find(db, user, taskId);
  if (!found.readable) {
    throw refuse(403, `This task is not shared with you. Ask ${found.owner_email} to share it with a user group.`);
  }
  requireOwnResource(found);
  return found.task;
}

/** A task of one part has neither configuration nor arguments of the other; converters may, as clients know it. */
function requireExistingParts(type: store.NewTask['type'], body: TaskCreate): void {
  const given = (value: unknown) => value !== undefined && value !== null;
  if (type === 'parallel' && (given(body.args_schema_non_parallel) || given(body.meta_non_parallel))) {
    throw refuse(422, 'A parallel task has no args_schema_non_parallel and no meta_non_parallel. Leave them out.');
  }
  if (type === 'non_parallel' && (given(body.args_schema_parallel) || given(body.meta_parallel))) {
    throw refuse(422, 'A non_parallel task has no args_schema_parallel and no meta_parallel. Leave them out.');
  }
}

/** Tasks that nobody installs: their task group has no files. */
export async function createGroupOfTasks(
  db: Database,
  group: { user_id: number; user_group_id: number | null; resource_id: number; pkg_name: string; version: string },
  tasks: store.NewTask[],
): Promise<Task[]> {
  const work = db.transaction().execute(async (trx) => {
    const groupId = await insertTaskGroup(trx, { ...group, origin: 'other' });
    return store.insertTasks(trx, groupId, tasks);
  });
  return orDuplicate(db, group, work);
}

export async function createTask(
  db: Database,
  user: User,
  visibility: Visibility,
  body: TaskCreate,
  defaultGroup: string | null,
): Promise<Task> {
  const { resource } = await usableProfile(db, user);
  const user_group_id = await chooseUserGroup(db, user, visibility, defaultGroup);
  const type = body.type ?? inferredType(body.command_parallel, body.command_non_parallel);
  requireExistingParts(type, body);
  const { name, version } = body;
  const group = { user_id: user.id, user_group_id, resource_id: resource.id, pkg_name: name, version };
  const task = {
    ...body,
    type,
    command_non_parallel: body.command_non_parallel ?? null,
    command_parallel: body.command_parallel ?? null,
    meta_non_parallel: body.meta_non_parallel ?? {},
    meta_parallel: body.meta_parallel ?? {},
    args_schema_version: body.args_schema_version ?? null,
  };
  return (await createGroupOfTasks(db, group, [task]))[0]!;
}

const OF_THE_PACKAGE = ['command_non_parallel', 'command_parallel', 'input_types', 'output_types'] as const;

const COMMANDS = ['command_non_parallel', 'command_parallel'] as const;

/** Others may run the task, so that new commands are written down. */
export async function updateTask(db: Database, by: Acting, taskId: number, change: TaskUpdate): Promise<Task> {
  const found = await find(db, by.user, taskId);
  if (!found.isOwner) throw refuse(403, `Only the owner, ${found.owner_email}, can change this task.`);
  requireOwnResource(found);
  const fixed = found.origin === 'other' ? undefined : OF_THE_PACKAGE.find((name) => change[name] !== undefined);
  if (fixed) throw refuse(422, `${fixed} comes from the package and stays as it is. Leave it out.`);
  const { type } = found.task;
  if (type === 'non_parallel' && change.command_parallel !== undefined) {
    throw refuse(422, 'A non_parallel task has no command_parallel. Leave it out.');
  }
  if (type === 'parallel' && change.command_non_parallel !== undefined) {
    throw refuse(422, 'A parallel task has no command_non_parallel. Leave it out.');
  }
  const { tags, ...rest } = change;
  return db.transaction().execute(async (trx) => {
    const wanted = { ...rest, ...(tags === undefined ? {} : { tags: tags ?? [] }) };
    const changed = await store.updateTask(trx, taskId, wanted);
    if (!changed) throw refuse(404, 'There is no task with this id.');
    const details = changes(found.task, changed, COMMANDS);
    if (Object.keys(details).length > 0) await store.noteNewCommands(trx, taskId, by.user.id);
    await record(trx, by, ifChanged('task.update', ['task', taskId, changed.name], details));
    return changed;
  });
}
