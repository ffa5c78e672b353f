/** The tasks of a workflow as the run dialog knows them: kinds, where a job begins and ends. */
import type { ImageStatus, TaskStatus, TaskType, WorkflowTask } from '@service/contract';

export type RunMode = 'run' | 'continue' | 'reset' | 'rerun';

export type Statuses = Record<string, TaskStatus | null>;

export const isConverter = (type: TaskType): boolean => type.startsWith('converter_');

/** Only a task that runs once per image has a status for each of them. */
export const hasStatusPerImage = (type: TaskType): boolean => type === 'parallel';

/** `Tasks 4 to 6 of 6`, `Task 4 of 6` */
export const rangeWords = (first: number, last: number, count: number): string =>
  first === last ? `Task ${first + 1} of ${count}` : `Tasks ${first + 1} to ${last + 1} of ${count}`;

const statusOf = (task: WorkflowTask, statuses: Statuses) => statuses[String(task.id)] ?? null;

/** The task before this one has left something to work on. */
function isReached(tasks: readonly WorkflowTask[], index: number, statuses: Statuses): boolean {
  const before = tasks[index - 1];
  const status = before === undefined ? null : statusOf(before, statuses);
  if (status === null || !('num_done_images' in status)) return false;
  return status.num_done_images > 0 || (isConverter(before!.task_type) && status.status === 'done');
}

/**
 * Where the dialog begins. To continue, that is the task the reader looks at if it can begin there, else the first one
 * that failed or did not run; nothing when all are done.
 */
export function firstTask(
  mode: RunMode,
  tasks: readonly WorkflowTask[],
  statuses: Statuses,
  selected: number | undefined,
): number | undefined {
  if (mode === 'run' || mode === 'reset') return 0;
  const at = tasks.findIndex(({ id }) => id === selected);
  if (mode === 'rerun') return at >= 0 ? at : undefined;
  if (at >= 0 && (statusOf(tasks[at]!, statuses) !== null || isReached(tasks, at, statuses))) return at;
  const open = tasks.findIndex((task) => statusOf(task, statuses)?.status !== 'done');
  return open >= 0 ? open : undefined;
}

/** A last task before the first one is none. */
export const lastTask = (first: number | undefined, last: number | undefined): number | undefined =>
  last === undefined || (first !== undefined && last < first) ? undefined : last;

/** What a rerun takes: the failed images; after a stop also those that never began. */
export function rerunStatuses(status: TaskStatus | null): ImageStatus[] {
  const stopped = status !== null && 'causes' in status && (status.causes.stopped ?? 0) > 0;
  return stopped ? ['failed', 'unset'] : ['failed'];
}
