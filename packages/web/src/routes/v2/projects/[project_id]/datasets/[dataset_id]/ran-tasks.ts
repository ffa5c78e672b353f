/** The tasks whose work on a dataset can be shown: those of workflows that have run on it, the newest job first. */
import type { Job, JobWithTaskStatuses, TaskStatus, WorkflowTask } from '@service/contract';

export interface RanTask {
  id: number;
  name: string;
  workflow: string;
  status: TaskStatus;
}

interface Ran {
  workflow: { id: number; name: string; task_list: Pick<WorkflowTask, 'id' | 'alias' | 'task' | 'task_type'>[] };
  job: Pick<JobWithTaskStatuses, 'failure' | 'last_task_index' | 'task_statuses'>;
}

/** Each page asks for a few workflows, not for all that ever ran. */
const MOST_WORKFLOWS = 4;

/** Workflows that are still there, by their newest job. */
export const workflowsOf = (jobs: readonly Pick<Job, 'workflow_id'>[]): number[] =>
  [...new Set(jobs.flatMap(({ workflow_id }) => workflow_id ?? []))].slice(0, MOST_WORKFLOWS);

/** Converters make images and have none to show. */
export function ranTasks(ran: readonly Ran[]): RanTask[] {
  return ran.flatMap(({ workflow, job }) =>
    workflow.task_list.flatMap((step) => {
      const status = job.task_statuses[step.id];
      if (!status || step.task_type.startsWith('converter')) return [];
      return [{ id: step.id, name: step.alias ?? step.task.name, workflow: workflow.name, status }];
    }),
  );
}

/** The one to begin with: where the newest job failed, else the last task that ran. */
export function firstTask(ran: readonly Ran[], tasks: readonly RanTask[]): number | undefined {
  const [newest] = ran;
  if (!newest) return undefined;
  const failed = tasks.find(({ id }) => id === newest.job.failure?.workflowtask_id);
  const own = ranTasks([newest]);
  return (failed ?? own.at(-1) ?? tasks[0])?.id;
}

/** What the address asks for: a task, or none; undefined stands for the first choice. */
export function chosenTask(wanted: string | null, tasks: readonly RanTask[], first: number | undefined) {
  if (wanted === 'none') return undefined;
  return tasks.find(({ id }) => id === Number(wanted)) ?? tasks.find(({ id }) => id === first);
}
