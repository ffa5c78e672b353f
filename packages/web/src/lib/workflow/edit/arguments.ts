/** The arguments that a task gets when it comes into a workflow, is copied, or changes its version. */
import type { JsonObject, Task, WorkflowTask, WorkflowTaskCreate } from '@service/contract';

import { type BlockName, blocksOf } from '#lib/form/blocks.ts';
import { initialData } from '#lib/form/initial.ts';
import { dialectOf } from '#lib/form/schema.ts';
import { dataToSend } from '#lib/form/sent.ts';
import { argumentsAfterUpdate, checkBeforeRun } from '#lib/form/update.ts';
import { isValid } from '#lib/form/validate.ts';
import { isObject } from '#lib/json.ts';

import { problemsOf } from '../run/check.ts';
import { type Difference, differences } from './differences.ts';

type Arguments = Record<BlockName, JsonObject | null>;

/** Defaults of the schemas, as they would be saved; tasks without schemas begin empty. */
export function defaultArguments(task: Task): Partial<Arguments> {
  const blocks = blocksOf(task, {}).flatMap(({ name, view }) => {
    if (view.kind !== 'form') return [];
    const { data } = dataToSend(view.prepared, initialData(view.prepared, null));
    return isObject(data) && Object.keys(data).length > 0 ? [[name, data] as const] : [];
  });
  return Object.fromEntries(blocks);
}

/** A task as it comes into a workflow. */
export const newTask = (task: Task): WorkflowTaskCreate => ({
  task_id: task.id,
  args_non_parallel: null,
  args_parallel: null,
  meta_non_parallel: null,
  meta_parallel: null,
  type_filters: {},
  alias: null,
  description: null,
  ...defaultArguments(task),
});

/** Everything that somebody set on a task, for a second one like it. */
export const copyOf = (task: WorkflowTask): WorkflowTaskCreate => ({
  task_id: task.task_id,
  args_non_parallel: task.args_non_parallel,
  args_parallel: task.args_parallel,
  meta_non_parallel: task.meta_non_parallel,
  meta_parallel: task.meta_parallel,
  type_filters: task.type_filters,
  alias: task.alias,
  description: task.description,
});

export interface VersionChange {
  args: Arguments;
  /** By block. */
  differences: { block: string; list: Difference[] }[];
  /** Why the task could not run with them; empty when it could. */
  problems: string[];
}

/** What becomes of a task's arguments in another version. */
export function versionChange(step: WorkflowTask, task: Task): VersionChange {
  const args: Arguments = { args_non_parallel: step.args_non_parallel, args_parallel: step.args_parallel };
  const change: VersionChange = { args, differences: [], problems: [] };
  const dialect = dialectOf(task.args_schema_version);
  for (const { name, heading, view } of blocksOf(task, args)) {
    const before = step[name];
    if (view.kind === 'form' && before !== null) {
      const merged = argumentsAfterUpdate(before, view.prepared);
      args[name] = dataToSend(view.prepared, merged).data as JsonObject;
    }
    const list = differences(before ?? {}, args[name] ?? {});
    if (list.length > 0) change.differences.push({ block: heading, list });
    const schema = name === 'args_parallel' ? task.args_schema_parallel : task.args_schema_non_parallel;
    const errors = checkBeforeRun(args[name], schema, dialect);
    if (errors !== undefined && !isValid(errors)) change.problems.push(...problemsOf(errors));
  }
  return change;
}
