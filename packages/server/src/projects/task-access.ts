/** Whether a caller can use a task in a workflow, and what is said when not. */
import type { TaskType } from '@service/contract';

import { contradiction } from '../engine/type-filters.ts';
import { refuse } from '../http/index.ts';
import type { TaskForUser } from './store/tasks.ts';

/** Shown beside a task that the caller could not run. */
export const TASK_WARNINGS = {
  no_access: 'You no longer have access to this task. Replace it, or ask its owner to share it with you.',
  inactive: 'This task is not active. Replace it by an active version, or ask its owner to reactivate it.',
};

/** A task that the caller may put into a workflow, or a refusal. */
export function usableTask(task: TaskForUser | undefined, taskId: number): TaskForUser {
  if (!task) throw refuse(404, `There is no task with id ${taskId}. Load the list of tasks again.`);
  const named = `${task.name} (id ${task.id})`;
  if (!task.readable) throw refuse(403, `You have no access to the task ${named}. Ask its owner to share it with you.`);
  if (!task.on_own_resource) {
    throw refuse(403, `The task ${named} is installed on another resource than yours. Choose one of your resource.`);
  }
  if (!task.active) {
    throw refuse(422, `The task ${named} is not active. Choose an active version, or ask its owner to reactivate it.`);
  }
  return task;
}

type Flags = Record<string, boolean>;

/** Refuses filters that ask for images which the task does not take. */
export function requireMatchingTypes(name: string, inputTypes: Flags, typeFilters: Flags): void {
  const key = contradiction(inputTypes, typeFilters);
  if (key === undefined) return;
  throw refuse(
    422,
    `The task ${name} takes images with ${key} = ${inputTypes[key]}, the type filters ask for ${typeFilters[key]}. ` +
      `Remove ${key} from the type filters.`,
  );
}

type Blocks = Partial<Record<'meta_non_parallel' | 'meta_parallel' | 'args_non_parallel' | 'args_parallel', unknown>>;

/**
 * Refuses arguments and configuration of a part that the task does not have. `withoutParallel` are the types that count
 * as having no parallel part: inserting and replacing let converters have one, editing does not, as clients know it.
 */
export function requireExistingParts(
  type: TaskType,
  blocks: Blocks,
  withoutParallel: readonly TaskType[] = ['non_parallel'],
): void {
  const given = (name: keyof Blocks) => blocks[name] != null;
  if (type === 'parallel' && (given('meta_non_parallel') || given('args_non_parallel'))) {
    throw refuse(422, 'A parallel task has no non-parallel part. Leave meta_non_parallel and args_non_parallel empty.');
  }
  if (withoutParallel.includes(type) && (given('meta_parallel') || given('args_parallel'))) {
    throw refuse(422, 'A non-parallel task has no parallel part. Leave meta_parallel and args_parallel empty.');
  }
}
