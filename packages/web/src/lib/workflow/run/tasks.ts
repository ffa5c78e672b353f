/** The tasks of a workflow as the run dialog knows them: kinds, and which of them a job runs. */
import type { TaskStatus, TaskType } from '@service/contract';

/**
 * What was asked for: what is to be done next, everything again, a task and what follows it, what is to be done on another
 * dataset, or everything on a dataset that begins anew.
 */
export type RunMode = 'next' | 'again' | 'task' | 'other' | 'reset';

export type Statuses = Record<string, TaskStatus | null>;

export const isConverter = (type: TaskType): boolean => type.startsWith('converter_');

/** Only a task that runs once per image has a status for each of them. */
export const hasStatusPerImage = (type: TaskType): boolean => type === 'parallel';

/** A last task before the first one is none. */
export const lastTask = (first: number | undefined, last: number | undefined): number | undefined =>
  last === undefined || (first !== undefined && last < first) ? undefined : last;

/** `Tasks 4 to 6 of 6`, `Task 4 of 6` */
export const rangeWords = (first: number, last: number, count: number): string =>
  first === last ? `Task ${first + 1} of ${count}` : `Tasks ${first + 1} to ${last + 1} of ${count}`;
