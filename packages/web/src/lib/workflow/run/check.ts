/** Whether the saved arguments of the tasks in a range can run. */
import type { WorkflowTask } from '@service/contract';

import { blocksOf } from '#lib/form/blocks.ts';
import { dialectOf } from '#lib/form/schema.ts';
import { checkBeforeRun } from '#lib/form/update.ts';
import { type Errors, isValid } from '#lib/form/validate.ts';
import { keysOf } from '#lib/json.ts';

import { nameOf } from '../../format.ts';

/** One mistake in the arguments. */
export interface ArgumentProblem {
  /** The field that shows it; undefined where it belongs to none. */
  path: string | undefined;
  words: string;
}

export interface InvalidTask {
  id: number;
  /** Counted from 1. */
  number: number;
  name: string;
  problems: readonly ArgumentProblem[];
}

const inErrors = (errors: Errors): ArgumentProblem[] => [
  ...errors.form.map((words) => ({ path: undefined, words })),
  // `diameter: Enter a number.`
  ...[...errors.at].map(([path, texts]) => ({ path, words: `${keysOf(path).join(' › ')}: ${texts.join(' ')}` })),
];

export const problemsOf = (errors: Errors): string[] => inErrors(errors).map(({ words }) => words);

function find(step: WorkflowTask): ArgumentProblem[] {
  const values = { args_non_parallel: step.args_non_parallel, args_parallel: step.args_parallel };
  return blocksOf({ ...step.task, type: step.task_type }, values).flatMap(({ name }) => {
    const schema = name === 'args_parallel' ? step.task.args_schema_parallel : step.task.args_schema_non_parallel;
    const errors = checkBeforeRun(values[name], schema, dialectOf(step.task.args_schema_version));
    return errors === undefined || isValid(errors) ? [] : inErrors(errors);
  });
}

/** A task that is saved is another object: what was found once holds as long as this one is shown. */
const found = new WeakMap<WorkflowTask, readonly ArgumentProblem[]>();

/** What is missing or invalid in the saved arguments of a task. */
export function argumentProblems(step: WorkflowTask): readonly ArgumentProblem[] {
  const known = found.get(step) ?? find(step);
  found.set(step, known);
  return known;
}

export const invalidTasks = (tasks: readonly WorkflowTask[], first: number, last: number): InvalidTask[] =>
  tasks
    .map((step, index) => ({ id: step.id, number: index + 1, name: nameOf(step), problems: argumentProblems(step) }))
    .slice(first, last + 1)
    .filter(({ problems }) => problems.length > 0);
