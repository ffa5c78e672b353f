/** Another task, or another version of it, in the place of one; and which newer versions there are. */
import type { JsonObject, TaskType, User, WorkflowTask, WorkflowTaskReplace } from '@service/contract';

import type { Database } from '../db/index.ts';
import { compareVersions, isVersion } from '../engine/pep440.ts';
import { metaOnReplacement } from '../engine/task-meta.ts';
import { refuse } from '../http/index.ts';
import { type OtherVersion, otherVersions, tasksForUser, versionsInUse } from './store/tasks.ts';
import * as store from './store/workflow-tasks.ts';
import { requireExistingParts, requireMatchingTypes, usableTask } from './task-access.ts';
import { findTask, linesBy, type TaskAddress, requireRevision } from './workflow-tasks.ts';
import { openWorkflow, orRefused } from './workflows.ts';

/** What a task may become besides its own type. */
const CONVERTER_FORM: Partial<Record<TaskType, TaskType>> = {
  non_parallel: 'converter_non_parallel',
  compound: 'converter_compound',
};
const canBecome = (before: TaskType, after: TaskType) => before === after || CONVERTER_FORM[before] === after;

/** For each task of a workflow the newer versions that can take its place, oldest first. */
export async function versionCandidates(db: Database, user: User, projectId: number, workflowId: number) {
  await openWorkflow(db, user, projectId, workflowId, 'r');
  const inUse = await versionsInUse(db, workflowId);
  const others = await otherVersions(db, user, workflowId);
  const byName = Map.groupBy(others, ({ pkg_name, name }: OtherVersion) => JSON.stringify([pkg_name, name]));
  return inUse.map(({ pkg_name, name, version, task_type, has_schema }) => {
    if (!has_schema || !isVersion(version)) return [];
    return (byName.get(JSON.stringify([pkg_name, name])) ?? [])
      .filter((other) => canBecome(task_type, other.type) && isVersion(other.version))
      .filter((other) => compareVersions(other.version, version) > 0)
      .sort((one, other) => compareVersions(one.version, other.version))
      .map((other) => ({ task_id: other.task_id, version: other.version }));
  });
}

interface Wish {
  task_id: number;
  args: WorkflowTaskReplace;
  revision: number | undefined;
}

/** Position, name, description and filters stay; configuration that somebody changed stays, the rest is the new task's. */
export const replaceTask = (db: Database, user: User, address: TaskAddress, wish: Wish): Promise<WorkflowTask> =>
  db.transaction().execute(async (trx) => {
    await openWorkflow(trx, user, address.project_id, address.workflow_id, 'rw', { hold: true });
    await store.lockWorkflowTask(trx, address.workflow_id, address.workflow_task_id);
    const stored = await findTask(trx, address);
    requireRevision(stored, wish.revision);
    if (await store.isAwaited(trx, address.workflow_id, stored.order!)) {
      throw refuse(
        422,
        'A running job has yet to execute this task. Replace it when the job has ended, or stop the job.',
      );
    }
    const [found] = await tasksForUser(trx, user, [wish.task_id]);
    const task = usableTask(found, wish.task_id);
    if (!canBecome(stored.task_type, task.type)) {
      throw refuse(422, `A ${stored.task_type} task cannot become a ${task.type} one. Choose one of the same type.`);
    }
    requireExistingParts(task.type, wish.args);
    requireMatchingTypes(task.name, task.input_types, stored.type_filters);
    const meta = (name: 'meta_non_parallel' | 'meta_parallel'): JsonObject | null =>
      metaOnReplacement({ before: stored.task[name], stored: stored[name], after: task[name] });
    const configuration = { meta_non_parallel: meta('meta_non_parallel'), meta_parallel: meta('meta_parallel') };
    const changes = {
      task_id: task.id,
      task_type: task.type,
      ...configuration,
      args_non_parallel: wish.args.args_non_parallel ?? stored.args_non_parallel,
      args_parallel: wish.args.args_parallel ?? stored.args_parallel,
      ...linesBy(user, stored, configuration),
      task_chosen_by: user.id,
    };
    await orRefused(store.updateWorkflowTask(trx, stored.id, changes));
    return findTask(trx, address);
  });
