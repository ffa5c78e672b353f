/** What can be done with the tasks of a workflow, and what is refused. */
import type { User, WorkflowTask, WorkflowTaskCreate, WorkflowTaskUpdate } from '@service/contract';

import type { Database } from '../db/index.ts';
import { extraLines, lineChanges } from '../engine/shell-lines.ts';
import { metaOnInsertion } from '../engine/task-meta.ts';
import { refuse } from '../http/index.ts';
import { type Executor, hasSubmittedJob } from './store/access.ts';
import { type TaskForUser, tasksForUser } from './store/tasks.ts';
import * as store from './store/workflow-tasks.ts';
import { requireExistingParts, requireMatchingTypes, usableTask } from './task-access.ts';
import { openWorkflow, orRefused, requireNoSubmittedJob } from './workflows.ts';

/** Where a workflow task is. */
export interface TaskAddress {
  project_id: number;
  workflow_id: number;
  workflow_task_id: number;
}

type Given = Omit<WorkflowTaskCreate, 'task_id'>;
type UsedTask = Pick<TaskForUser, 'id' | 'type' | 'meta_non_parallel' | 'meta_parallel'>;

/** What is stored of a task that comes into a workflow: arguments as given, configuration over the task's own. */
export const newWorkflowTask = (task: UsedTask, given: Given): store.NewWorkflowTask => ({
  task_id: task.id,
  task_type: task.type,
  meta_non_parallel: metaOnInsertion(task.meta_non_parallel, given.meta_non_parallel),
  meta_parallel: metaOnInsertion(task.meta_parallel, given.meta_parallel),
  args_non_parallel: given.args_non_parallel,
  args_parallel: given.args_parallel,
  type_filters: given.type_filters,
  description: given.description,
  alias: given.alias,
});

/** Inserts tasks at a position, or behind the last one; all of them or none. */
export const insertTasks = (
  db: Database,
  user: User,
  { project_id, workflow_id }: Omit<TaskAddress, 'workflow_task_id'>,
  items: WorkflowTaskCreate[],
  order: number | undefined,
): Promise<WorkflowTask[]> =>
  db.transaction().execute(async (trx) => {
    await openWorkflow(trx, user, project_id, workflow_id, 'rw', { hold: true });
    const present = await store.taskIdsInOrder(trx, workflow_id);
    const position = Math.min(order ?? present.length, present.length);
    if (position < present.length && (await hasSubmittedJob(trx, 'workflow_id', workflow_id))) {
      throw refuse(422, 'A job of this workflow is running: add tasks at the end, or wait until it has ended.');
    }
    const known = await tasksForUser(
      trx,
      user,
      items.map((item) => item.task_id),
    );
    const tasks = new Map(known.map((task) => [task.id, task]));
    const rows = items.map((item) => {
      const task = usableTask(tasks.get(item.task_id), item.task_id);
      requireExistingParts(task.type, item);
      requireMatchingTypes(task.name, task.input_types, item.type_filters);
      return newWorkflowTask(task, item);
    });
    const added = await orRefused(store.appendTasks(trx, user, workflow_id, rows));
    await store.setOrder(trx, workflow_id, [...present.slice(0, position), ...added, ...present.slice(position)]);
    return store.workflowTasksById(trx, added);
  });

export async function findTask(db: Executor, { workflow_id, workflow_task_id }: TaskAddress): Promise<WorkflowTask> {
  const task = await store.findWorkflowTask(db, workflow_id, workflow_task_id);
  if (!task) throw refuse(404, 'There is no task with this id in this workflow.');
  return task;
}

/** Somebody who edits an old state would undo what others did since. */
export function requireRevision(task: WorkflowTask, revision: number | undefined): void {
  if (revision !== undefined && revision !== task.revision) {
    throw refuse(409, 'Someone changed this task in the meantime. Load it again and repeat your change.');
  }
}

export async function readTask(db: Database, user: User, address: TaskAddress): Promise<WorkflowTask> {
  await openWorkflow(db, user, address.project_id, address.workflow_id, 'r');
  return findTask(db, address);
}

type Args = WorkflowTaskUpdate['args_parallel'];
const nullIfEmpty = (args: Args): Args => (args && Object.keys(args).length === 0 ? null : args);

type Configuration = Pick<WorkflowTaskUpdate, 'meta_non_parallel' | 'meta_parallel'>;

/** Whose the shell lines are after a change of the configuration. What is not given stays. */
export function linesBy(user: User, stored: WorkflowTask, { meta_non_parallel, meta_parallel }: Configuration) {
  const after = {
    meta_non_parallel: meta_non_parallel === undefined ? stored.meta_non_parallel : meta_non_parallel,
    meta_parallel: meta_parallel === undefined ? stored.meta_parallel : meta_parallel,
  };
  return lineChanges(extraLines(stored), extraLines(after)) === undefined ? {} : { shell_changed_by: user.id };
}

/** Changes what is given; each given block replaces the stored one as a whole. A running job has its own copy. */
export const updateTask = (
  db: Database,
  user: User,
  address: TaskAddress,
  change: WorkflowTaskUpdate,
  revision: number | undefined,
): Promise<WorkflowTask> =>
  db.transaction().execute(async (trx) => {
    await openWorkflow(trx, user, address.project_id, address.workflow_id, 'rw');
    await store.lockWorkflowTask(trx, address.workflow_id, address.workflow_task_id);
    const stored = await findTask(trx, address);
    requireRevision(stored, revision);
    requireMatchingTypes(stored.task.name, stored.task.input_types, change.type_filters ?? {});
    requireExistingParts(stored.task_type, change, ['non_parallel', 'converter_non_parallel']);
    await store.updateWorkflowTask(trx, stored.id, {
      ...change,
      args_non_parallel: nullIfEmpty(change.args_non_parallel),
      args_parallel: nullIfEmpty(change.args_parallel),
      ...linesBy(user, stored, change),
    });
    return findTask(trx, address);
  });

export const deleteTask = (db: Database, user: User, address: TaskAddress): Promise<void> =>
  db.transaction().execute(async (trx) => {
    await openWorkflow(trx, user, address.project_id, address.workflow_id, 'rw', { hold: true });
    const { id } = await findTask(trx, address);
    await requireNoSubmittedJob(trx, address.workflow_id, 'Delete the task');
    await store.deleteWorkflowTask(trx, id);
    await store.setOrder(trx, address.workflow_id, await store.taskIdsInOrder(trx, address.workflow_id));
  });
