/** Runs the tasks of a job, one after the other, until all are done or one has failed. */
import type { JobFailure } from '@service/contract';

import { cleanText, jobErrorLog, unknownErrorLog } from '../../engine/failures.ts';
import type { Logger } from '../../logging/index.ts';
import { RunnerProblem } from '../../runners/index.ts';
import { jobFiles } from '../files/index.ts';
import type { SnapshotTask } from '../snapshot.ts';
import * as store from '../store/execution.ts';
import { concernsJob, type JobContext, read, write } from './context.ts';
import { failureOfRun, type TaskFailure } from './failure.ts';
import { surroundingsOf, warmCommands } from './phase-plan.ts';
import { runPhases } from './phases.ts';
import { planTask } from './plan.ts';
import { settleRun } from './settle.ts';

export interface JobEnd {
  status: 'done' | 'failed';
  log: string;
  failure: JobFailure | null;
}

export const failedJob = (
  log: string,
  failure: Pick<JobFailure, 'kind' | 'message'> & Partial<JobFailure>,
): JobEnd => ({
  status: 'failed',
  log: cleanText(log),
  failure: { workflowtask_id: null, num_images: 0, zarr_url: null, ...failure, message: cleanText(failure.message) },
});

/** What a defect is told as. A runner that could not work is nobody's defect but the machine's. */
function endOfDefect(jobId: number, error: Error): JobEnd {
  const { message } = error;
  const text = error instanceof RunnerProblem ? jobErrorLog(jobId, 'RunnerError', message) : undefined;
  return failedJob(text ?? unknownErrorLog(jobId, error.stack ?? message), { kind: 'internal', message });
}

/** Undefined when the task is done. `position` counts the tasks of this job from 0. */
async function runTask(context: JobContext, task: SnapshotTask, position: number): Promise<TaskFailure | undefined> {
  const plan = await planTask(context, task, position);
  const { runId } = plan;
  if (!plan.over) {
    try {
      const result = await runPhases(context, task, plan);
      await settleRun(context, runId, task, result);
    } catch (error) {
      const message = cleanText((error as Error).message);
      const { user_id } = context.job;
      if (concernsJob(error)) await write(context, (trx) => store.failRun(trx, { runId, user_id, message }));
      throw error;
    }
  }
  return failureOfRun(context, runId, task);
}

/** Counted from 1, as on pages. */
const nameOf = ({ workflowtask: { order, alias }, task }: SnapshotTask) =>
  `task ${order + 1} (${alias === null ? '' : `${alias}, `}${task.name})`;

/** `serviceLog` hears of defects; the log of the context is the job's own. */
export async function runTasks(context: JobContext, serviceLog: Logger): Promise<JobEnd> {
  const { job, log } = context;
  try {
    const begun = await read(context, (db) => store.tasksBegun(db, job.id));
    const open = job.snapshot.tasks.filter(({ workflowtask: { order } }) => begun.get(order) !== 'done');
    context.runner.importAhead?.(warmCommands(context, open), surroundingsOf(context));
    for (const [position, task] of job.snapshot.tasks.entries()) {
      const { order, id } = task.workflowtask;
      if (begun.get(order) === 'done') continue;
      const { pkg_name, version } = task.task_group;
      log.line('INFO', `${begun.has(order) ? 'Continue' : 'Submit'} ${nameOf(task)}, ${pkg_name} ${version}`);
      const failure = await runTask(context, task, position);
      if (failure) {
        log.line('ERROR', `ERROR: ${nameOf(task)} failed`);
        const { text, ...rest } = failure;
        return failedJob(jobErrorLog(job.id, 'JobExecutionError', text), { ...rest, workflowtask_id: id });
      }
      log.line('INFO', `End of ${nameOf(task)}`);
    }
    log.line('INFO', `End of workflow "${job.workflow_name}"`);
    const text = (await jobFiles.workflowLog(job)) ?? log.problem() ?? '';
    return { status: 'done', log: cleanText(text), failure: null };
  } catch (error) {
    if (!concernsJob(error)) throw error;
    serviceLog.error(`Job ${job.id} failed unexpectedly`, error);
    return endOfDefect(job.id, error as Error);
  }
}
