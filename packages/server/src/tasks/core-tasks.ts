/**
 * Core tasks: the ones that a site recommends. Of tasks with the same name, package, version and resource at most one is
 * a core task; changes wait for each other, so that two at once cannot make two.
 */
import type { Database } from '../db/index.ts';
import { refuse } from '../http/index.ts';
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

export const setCore = (db: Database, taskIds: number[], isCore: boolean): Promise<void> =>
  db.transaction().execute(async (trx) => {
    await store.holdCoreTasks(trx);
    const equal = await store.equalTasks(trx, taskIds);
    requireAll(equal, taskIds);
    const problem = isCore ? conflict(equal, new Set(taskIds)) : undefined;
    if (problem !== undefined) throw refuse(422, problem);
    await store.setCore(trx, taskIds, isCore);
  });

export async function setGroupCore(db: Database, groupId: number, isCore: boolean): Promise<void> {
  const taskIds = await store.taskIdsOfGroup(db, groupId);
  if (!taskIds) throw refuse(404, 'There is no task group with this id.');
  if (taskIds.length > 0) await setCore(db, taskIds, isCore);
}

/** A rule that the wanted core tasks would break; the message is for the operator. */
export class CoreTaskConflict extends Error {}

/** Makes the tasks with these names core tasks, where they are installed, and all others normal ones. */
export const syncCoreTasks = (db: Database, places: store.Place[], triples: store.Triple[]): Promise<void> =>
  db.transaction().execute(async (trx) => {
    await store.holdCoreTasks(trx);
    await store.clearCore(trx);
    const wanted = await store.tasksNamed(trx, places, triples);
    const problem = conflict(await store.equalTasks(trx, wanted), new Set(wanted));
    if (problem !== undefined) throw new CoreTaskConflict(problem);
    await store.setCore(trx, wanted, true);
  });
