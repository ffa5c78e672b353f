/** A task of a workflow, in words. */
import type { WorkflowTask } from '@service/contract';

/** Its own label here, else the name of the task. */
export const nameOf = ({ alias, task }: Pick<WorkflowTask, 'alias'> & { task: { name: string } }): string =>
  alias ?? task.name;

/** How people call each other: the part before the @. */
export const shortName = (email: string): string => email.split('@')[0]!;

/** `this task`, `tasks 2 and 4`, for sentences about several. */
export const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
