/**
 * What a press on Run does, from how the tasks of a workflow stand on a dataset. The button says it, the dialog begins with
 * it. What is done is not done again, unless everything is.
 *
 *     nextRun(tasks, statuses) // { words: 'Rerun 6 failed and continue', first: 3, statuses: ['failed'], … }
 */
import type { FullTaskStatus, ImageStatus, TaskStatus, TaskType, WorkflowTask } from '@service/contract';

import { counted, formatCount } from '../../format.ts';
import { onlyStopped } from '../counts.ts';

/**
 * What was asked for: what is to be done next, everything again, a task and what follows it, what is to be done on another
 * dataset, or everything on a dataset that begins anew.
 */
export type RunMode = 'next' | 'again' | 'task' | 'other' | 'reset';

/** Of every task, by its id. */
type Statuses = Record<string, TaskStatus | null>;

export const isConverter = (type: TaskType): boolean => type.startsWith('converter_');

/** Only a task that runs once per image has a status for each of them. */
export const hasStatusPerImage = (type: TaskType): boolean => type === 'parallel';

/** A last task before the first one is none. */
export const lastTask = (first: number | undefined, last: number | undefined): number | undefined =>
  last === undefined || (first !== undefined && last < first) ? undefined : last;

export interface NextRun {
  /** Nothing ran yet, something is left to do, or all is done. */
  kind: 'first' | 'rest' | 'again';
  words: string;
  /** The place of its first task. */
  first: number;
  /** The images of the first task that it takes, by their status; none means all. */
  statuses: ImageStatus[];
  /** Later tasks take the other images, too. */
  laterTasksGetAll: boolean;
}

type Tasks = readonly Pick<WorkflowTask, 'id' | 'task_type'>[];

const whole = (kind: NextRun['kind'], words: string, first = 0): NextRun => ({
  kind,
  words,
  first,
  statuses: [],
  laterTasksGetAll: true,
});

export const fromTheStart = (): NextRun => whole('again', 'Run again');

export function nextRun(tasks: Tasks, statuses: Statuses): NextRun {
  const known = tasks.map(({ id }) => statuses[String(id)] ?? null);
  if (known.every((status) => status === null)) return whole('first', 'Run');
  const first = tasks.findIndex((task, index) => leftIn(task, known[index]!) !== undefined);
  return first < 0 ? fromTheStart() : runFrom(first, tasks, statuses);
}

/** From this task on: what is left of it, or all of it when nothing is. */
export function runFrom(first: number, tasks: Tasks, statuses: Statuses): NextRun {
  const known = tasks.map(({ id }) => statuses[String(id)] ?? null);
  const left = leftIn(tasks[first]!, known[first]!);
  const more = first < tasks.length - 1 ? ' and continue' : '';
  if (left === undefined || left.what === 'all') {
    const isNew = known[first] === null;
    return whole('rest', isNew ? `Continue from task ${first + 1}` : `Rerun task ${first + 1}${more}`, first);
  }
  return {
    kind: 'rest',
    words: `${left.verb} ${formatCount(left.count)} ${left.word}${more}`,
    first,
    statuses: left.statuses,
    laterTasksGetAll: !passedOn(known.slice(first)),
  };
}

type Left =
  | { what: 'all' }
  | { what: 'some'; verb: 'Rerun' | 'Run'; count: number; word: string; statuses: ImageStatus[] };

const isFull = (status: TaskStatus | null): status is FullTaskStatus => status !== null && 'progress' in status;

/** What a task has not done yet; undefined when that is nothing. */
function leftIn({ task_type }: Tasks[number], status: TaskStatus | null): Left | undefined {
  if (!isFull(status)) return { what: 'all' };
  // the images of other tasks share one status, so that they run together or not at all
  if (!hasStatusPerImage(task_type)) return status.status === 'done' ? undefined : { what: 'all' };
  return leftOfImages(status);
}

function leftOfImages(status: FullTaskStatus): Left | undefined {
  const { num_done_images: done, num_failed_images: failed, num_submitted_images: submitted } = status;
  const unset = Math.max(0, (status.num_available_images ?? 0) - done - failed - submitted);
  if (failed > 0) {
    const stopped = (status.causes.stopped ?? 0) > 0;
    return {
      what: 'some',
      verb: 'Rerun',
      count: failed + (stopped ? unset : 0),
      word: onlyStopped(status) ? 'stopped' : 'failed',
      statuses: stopped ? ['failed', 'unset'] : ['failed'],
    };
  }
  if (done > 0 && unset + submitted > 0) {
    const statuses: ImageStatus[] = submitted > 0 ? ['unset', 'submitted'] : ['unset'];
    return { what: 'some', verb: 'Run', count: unset + submitted, word: 'remaining', statuses };
  }
  return status.status === 'done' ? undefined : { what: 'all' };
}

/**
 * Every later task has run since the first one has: it knows the other images as they are now, so that only those which run
 * now need to follow. The first one is the head of the list.
 */
function passedOn([first, ...later]: (TaskStatus | null)[]): boolean {
  const begun = (status: TaskStatus | null | undefined) =>
    status && isFull(status) ? Date.parse(status.timestamp_started) : 0;
  return later.length > 0 && later.every((status) => begun(status) >= begun(first));
}

interface Chosen {
  mode: RunMode;
  kind: NextRun['kind'];
  statuses: readonly ImageStatus[];
  /** Images for the first task; undefined while nobody knows. */
  images: number | undefined;
  /** Other tasks follow the first one. */
  goesOn: boolean;
}

/** What the button of the dialog does with what is chosen there. */
export function actionWords({ mode, kind, statuses, images, goesOn }: Chosen): string {
  if (mode === 'reset') return 'Reset and run';
  if (statuses.length === 0 || images === undefined) return kind === 'again' ? 'Run again' : 'Run';
  const verb = statuses.some((status) => status === 'failed' || status === 'done') ? 'Rerun' : 'Run';
  return `${verb} ${counted(images, 'image')}${goesOn ? ' and continue' : ''}`;
}
