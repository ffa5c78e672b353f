/** Whether the saved arguments of the tasks in a range can run (web contract 8.7). */
import type { WorkflowTask } from '@service/contract';

import { blocksOf } from '#lib/form/blocks.ts';
import { dialectOf } from '#lib/form/schema.ts';
import { checkBeforeRun } from '#lib/form/update.ts';
import { type Errors, isValid } from '#lib/form/validate.ts';
import { keysOf } from '#lib/json.ts';

import { nameOf } from '../words.ts';

export interface InvalidTask {
  id: number;
  /** Counted from 1. */
  number: number;
  name: string;
  problems: string[];
}

/** `diameter: Enter a number.` */
export const problemsOf = (errors: Errors): string[] => [
  ...errors.form,
  ...[...errors.at].map(([path, texts]) => `${keysOf(path).join(' › ')}: ${texts.join(' ')}`),
];

function problemsOfTask(step: WorkflowTask): string[] {
  const values = { args_non_parallel: step.args_non_parallel, args_parallel: step.args_parallel };
  return blocksOf(step.task, values).flatMap(({ name }) => {
    const schema = name === 'args_parallel' ? step.task.args_schema_parallel : step.task.args_schema_non_parallel;
    const errors = checkBeforeRun(values[name], schema, dialectOf(step.task.args_schema_version));
    return errors === undefined || isValid(errors) ? [] : problemsOf(errors);
  });
}

export const invalidTasks = (tasks: readonly WorkflowTask[], first: number, last: number): InvalidTask[] =>
  tasks
    .map((step, index) => ({ step, index }))
    .slice(first, last + 1)
    .map(({ step, index }) => ({
      id: step.id,
      number: index + 1,
      name: nameOf(step),
      problems: problemsOfTask(step),
    }))
    .filter(({ problems }) => problems.length > 0);
