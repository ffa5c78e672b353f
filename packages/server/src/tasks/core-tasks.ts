/**
 * Core tasks: the ones that a site recommends. Of tasks with the same name, package, version and resource at most one is
 * a core task; changes wait for each other, so that two at once cannot make two.
 */
import { ServiceError } from '@service/contract/errors';

import { type Entry, record } from '../audit/index.ts';
import type { Database } from '../db/index.ts';
import { type Origin, refuse } from '../http/index.ts';
import * as store from './store/core-tasks.ts';

const keyOf = ({ name, pkg_name, version, resource_id }: store.EqualTask) =>
  JSON.stringify([name, pkg_name, version, resource_id]);

const naming = ({ name, pkg_name, version }: store.EqualTask) => `${name} of ${pkg_name} ${version}`;

/** What stands against making all of these tasks core tasks, or nothing. */
function conflict(tasks: store.EqualTask[], wanted: Set<number>): string | undefined {
  for (const equal of Map.groupBy(tasks, keyOf).values()) {
    const asked = equal.filter((task) => wanted.has(task.id));
    const core = equal.find((task) => task.is_core && !wanted.has(task.id));
    const ids = asked.map((task) => task.id).join(' and ');
    if (asked.length > 1) return `Only one of the tasks ${ids} can be the core task ${naming(asked[0]!)}. Choose one.`;
    if (core) {
      return `The task ${core.id} is the core task ${naming(core)} already. Make it a normal task first, or leave ${asked[0]!.id} out.`;
    }
  }
  return undefined;
}

function requireAll(tasks: store.EqualTask[], taskIds: number[]): void {
  const known = new Set(tasks.map((task) => task.id));
  const missing = taskIds.filter((id) => !known.has(id));
  if (missing.length > 0) throw refuse(404, `There are no tasks with these ids: ${missing.join(', ')}.`);
}

/** Tasks whose flag is not what it was. */
const entriesOf = (tasks: store.EqualTask[], isCore: boolean): Entry[] =>
  tasks.map(({ id, name, pkg_name, version }) => ({
    action: 'task.core',
    object: ['task', id, name],
    details: { package: `${pkg_name} ${version}`, is_core: { from: !isCore, to: isCore } },
  }));

export const setCore = (db: Database, by: Origin, taskIds: number[], isCore: boolean): Promise<void> =>
  db.transaction().execute(async (trx) => {
    await store.holdCoreTasks(trx);
    const equal = await store.equalTasks(trx, taskIds);
    requireAll(equal, taskIds);
    const problem = isCore ? conflict(equal, new Set(taskIds)) : undefined;
    if (problem !== undefined) throw refuse(422, problem);
    await store.setCore(trx, taskIds, isCore);
    const asked = new Set(taskIds);
    const changed = equal.filter((task) => asked.has(task.id) && task.is_core !== isCore);
    await record(trx, by, entriesOf(changed, isCore));
  });

export async function setGroupCore(db: Database, by: Origin, groupId: number, isCore: boolean): Promise<void> {
  const taskIds = await store.taskIdsOfGroup(db, groupId);
  if (!taskIds) throw refuse(404, 'There is no task group with this id.');
  if (taskIds.length > 0) await setCore(db, by, taskIds, isCore);
}

/** A rule that the wanted core tasks would break; the message is for the operator. */
export class CoreTaskConflict extends ServiceError {
  readonly kind = 'core-task-conflict';
}

/** Makes the tasks with these names core tasks, where they are installed, and all others normal ones. */
export const syncCoreTasks = (
  db: Database,
  by: Origin,
  pairs: store.ResourceAndGroup[],
  triples: store.Triple[],
): Promise<void> =>
  db.transaction().execute(async (trx) => {
    await store.holdCoreTasks(trx);
    const before = await store.coreTasks(trx);
    const wanted = await store.tasksNamed(trx, pairs, triples);
    await store.setCore(
      trx,
      before.map((task) => task.id),
      false,
    );
    const equal = await store.equalTasks(trx, wanted);
    const asked = new Set(wanted);
    const problem = conflict(equal, asked);
    if (problem !== undefined) throw new CoreTaskConflict(problem);
    await store.setCore(trx, wanted, true);
    const had = new Set(before.map((task) => task.id));
    const lost = before.filter((task) => !asked.has(task.id));
    const won = equal.filter((task) => asked.has(task.id) && !had.has(task.id));
    await record(trx, by, [...entriesOf(lost, false), ...entriesOf(won, true)]);
  });
