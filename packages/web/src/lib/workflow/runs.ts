/** Runs of a task: what they did, and the task as it was then. */
import type { HistoryRun, TaskType, WorkflowTask } from '@service/contract';

import type { TaskSchemas } from '../form/blocks.ts';
import { formatCount } from '../format.ts';
import type { State } from '../ui/status.ts';

type Counts = Pick<
  HistoryRun,
  'status' | 'num_submitted_units' | 'num_done_units' | 'num_failed_units' | 'num_units_with_warnings'
>;

export function runState(run: Counts): State {
  if (run.status === 'failed') return { look: 'failed', word: 'Failed' };
  if (run.status === 'submitted') return { look: 'running', word: 'Running' };
  if (run.num_units_with_warnings === 0) return { look: 'done', word: 'Done' };
  return { look: 'warning', word: `Done, ${formatCount(run.num_units_with_warnings)} with warnings` };
}

/** `6 failed, 1 530 done`; one run for all images has nothing to count. */
export function runFigures(run: Counts, type: TaskType): string {
  if (type.endsWith('non_parallel')) return runState(run).word.toLowerCase();
  const parts = [
    [run.num_failed_units, 'failed'],
    [run.num_submitted_units, 'waiting or running'],
    [run.num_done_units, 'done'],
  ] as const;
  const said = parts.filter(([count]) => count > 0).map(([count, word]) => `${formatCount(count)} ${word}`);
  return said.join(', ') || 'no images';
}

/** The task of a workflow as it was when it ran. */
export interface TaskThen {
  alias: string | null;
  description: string | null;
  version: string | null;
  task_type: TaskType;
  name: string;
  args_non_parallel: unknown;
  args_parallel: unknown;
  meta_non_parallel: unknown;
  meta_parallel: unknown;
  type_filters: Record<string, boolean>;
  input_types: Record<string, boolean>;
  output_types: Record<string, boolean>;
  command_non_parallel: string | null;
  command_parallel: string | null;
  schemas: TaskSchemas;
}

/** What a run keeps of the task; rows of older services lack some of it. */
interface Dump {
  alias?: string | null;
  description?: string | null;
  task_type?: TaskType;
  args_non_parallel?: unknown;
  args_parallel?: unknown;
  meta_non_parallel?: unknown;
  meta_parallel?: unknown;
  type_filters?: Record<string, boolean>;
  task?: {
    name?: string;
    type?: TaskType;
    version?: string | null;
    input_types?: Record<string, boolean>;
    output_types?: Record<string, boolean>;
    command_non_parallel?: string | null;
    command_parallel?: string | null;
  };
}

const NOTHING = {
  alias: null,
  description: null,
  args_non_parallel: null,
  args_parallel: null,
  meta_non_parallel: null,
  meta_parallel: null,
  type_filters: {},
  input_types: {},
  output_types: {},
  command_non_parallel: null,
  command_parallel: null,
};

/** Without the keys that have no value, so that others can stand in. */
const known = <T extends object>(given: T) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]: Exclude<T[Key], undefined>;
  };

/** The task as it was; what was not kept is what it is now, or nothing. */
export function taskThen(run: HistoryRun, now: WorkflowTask): TaskThen {
  const { task = {}, task_type: kind, ...step } = run.workflowtask_dump as Dump;
  const { type, ...fields } = task;
  const task_type = kind ?? type ?? now.task_type;
  return {
    ...NOTHING,
    name: now.task.name,
    version: run.version,
    ...known(step),
    ...known(fields),
    task_type,
    schemas: {
      type: task_type,
      args_schema_version: now.task.args_schema_version,
      args_schema_non_parallel: run.args_schema_non_parallel,
      args_schema_parallel: run.args_schema_parallel,
    },
  };
}
