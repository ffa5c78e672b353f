/**
 * Executes jobs: takes a job from where it is to its end, whoever had it before and however that ended.
 *
 * What is known of a job is in the database (runs, units) and in the journals of its workers; both are read again after an
 * interruption, and every step notices what was done already.
 */
import { chmod, mkdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { JobFailure, Resource } from '@service/contract';

import { findResource } from '../../accounts/index.ts';
import { type Database, patiently } from '../../db/index.ts';
import { cleanText, jobErrorLog, unknownErrorLog, workflowLogLine } from '../../engine/failures.ts';
import type { Logger } from '../../logging/index.ts';
import type { Handler, WorkContext } from '../../queue/index.ts';
import { type Clusters, type LocalRunner, type Runner, RunnerProblem } from '../../runners/index.ts';
import { archiveJob, jobFiles, makeJobFolder, openWorkflowLog } from '../files/index.ts';
import * as store from '../store/execution.ts';
import type { Attention } from './attention.ts';
import { concernsJob, type Execution, Left, type Limits, write } from './execution.ts';
import { runTask } from './task.ts';

export interface ExecutionParts {
  db: Database;
  log: Logger;
  runner: LocalRunner;
  clusters: Clusters;
  attention: Attention;
  limits: Limits;
}

interface End {
  status: 'done' | 'failed';
  log: string;
  failure: JobFailure | null;
}

const failed = (
  log: string,
  failure: Omit<JobFailure, 'workflowtask_id' | 'num_images'> & Partial<JobFailure>,
): End => ({
  status: 'failed',
  log: cleanText(log),
  failure: { workflowtask_id: null, num_images: 0, ...failure, message: cleanText(failure.message) },
});

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** The service's own folder comes first: where it is, the job has begun before. */
async function prepareFolders({ working_dir, service_folder, snapshot }: store.JobAtWork): Promise<string | undefined> {
  try {
    if (!(await exists(service_folder))) {
      if (await exists(working_dir)) return `The folder of the job is there already: ${working_dir}`;
      await mkdir(service_folder, { recursive: true });
      if (snapshot.cluster?.type === 'slurm_sudo') await openForPerson(service_folder);
    }
    await makeJobFolder(working_dir);
    return undefined;
  } catch (error) {
    return `The folder of the job could not be made: ${(error as Error).message}`;
  }
}

/** The account that runs the tasks reads its inputs there; who does not know the name of the folder does not find it. */
async function openForPerson(folder: string): Promise<void> {
  await chmod(dirname(folder), 0o711);
  await chmod(folder, 0o755);
}

const runnerOf = ({
  runner,
  clusters,
  job,
  resource,
}: Pick<Task, 'runner' | 'clusters' | 'job' | 'resource'>): Runner =>
  job.snapshot.cluster ? clusters.runner(job.snapshot.cluster) : runner.with(pythonOf(resource));

function pythonOf(resource: Resource | undefined): string {
  const config = resource?.tasks_python_config as { default_version?: string; versions?: Record<string, string> };
  return config?.versions?.[config.default_version ?? ''] ?? 'python3';
}

function greet({ job, log }: Execution, again: boolean): void {
  if (again) return log.line('INFO', 'The service was interrupted; the job goes on');
  log.line('INFO', `Start of workflow "${job.workflow_name}"`);
  log.line('DEBUG', `resource: ${job.resource_name}`);
  log.line('DEBUG', `profile: ${job.profile_name}`);
  log.line('DEBUG', `user: ${job.user_email}`);
  log.line('DEBUG', `job: ${job.id}`);
  log.line('DEBUG', `folder: ${job.working_dir}`);
  if (job.snapshot.cluster) {
    log.line('DEBUG', `folder on the cluster: ${job.working_dir_user}`);
    log.line('DEBUG', `account: ${job.slurm_account}`);
    log.line('DEBUG', `worker_init: ${job.worker_init}`);
  }
  log.line('DEBUG', `tasks: ${job.first_task_index} to ${job.last_task_index}`);
}

async function runTasks(execution: Execution): Promise<End> {
  const { job, log, db, leave } = execution;
  const done = await patiently(() => store.tasksDone(db, job.id), leave);
  for (const [position, task] of job.snapshot.tasks.entries()) {
    const { order, alias, id } = task.workflowtask;
    if (done.has(order)) continue;
    const named = `task ${order} (${alias === null ? '' : `${alias}, `}${task.task.name})`;
    log.line('INFO', `Submit ${named}, ${task.task_group.pkg_name} ${task.task_group.version}`);
    const failure = await runTask(execution, task, position);
    if (failure) {
      log.line('ERROR', `ERROR: ${named} failed`);
      const { text, ...rest } = failure;
      return failed(jobErrorLog(job.id, 'JobExecutionError', text), { ...rest, workflowtask_id: id });
    }
    log.line('INFO', `End of ${named}`);
  }
  log.line('INFO', `End of workflow "${job.workflow_name}"`);
  const text = (await jobFiles.workflowLog(job)) ?? log.problem() ?? '';
  return { status: 'done', log: cleanText(text), failure: null };
}

/** What a defect is told as. A runner that could not work is nobody's defect but the machine's. */
function endOfDefect(jobId: number, error: Error): End {
  const { message } = error;
  const text = error instanceof RunnerProblem ? jobErrorLog(jobId, 'RunnerError', message) : undefined;
  return failed(text ?? unknownErrorLog(jobId, error.stack ?? message), { kind: 'internal', message });
}

/** What the parts of a run of the handler know. */
interface Task extends ExecutionParts {
  job: store.JobAtWork;
  resource: Resource | undefined;
  context: WorkContext;
}

async function execute({ job, resource, context, ...parts }: Task): Promise<void> {
  const { db, log, runner, clusters, attention, limits } = parts;
  const { lease, signal: leave, attempt } = context;
  const place = { db, job, lease, leave };
  const problem = await prepareFolders(job);
  if (problem !== undefined) {
    const end = failed(problem, { kind: 'internal', message: problem });
    return write(place, (trx) => store.endJob(trx, job.id, end));
  }
  const format = (time: Date, level: string, message: string) =>
    workflowLogLine(time, job.workflow_id ?? 0, job.id, level, message);
  const execution: Execution = {
    ...place,
    runner: runnerOf({ runner, clusters, job, resource }),
    runnerConfig: resource?.jobs_runner_config ?? {},
    limits,
    log: openWorkflowLog(join(job.working_dir, 'workflow.log'), format),
    stop: new AbortController(),
  };
  if (job.stop_requested) execution.stop.abort();
  const forget = attention.watch(job.id, () => execution.stop.abort());
  let end: End;
  try {
    greet(execution, attempt > 1);
    end = await runTasks(execution);
  } catch (error) {
    if (!concernsJob(error)) throw error;
    log.error(`Job ${job.id} failed unexpectedly`, error);
    end = endOfDefect(job.id, error as Error);
  } finally {
    forget();
    await execution.log.close();
  }
  await write(place, (trx) => store.endJob(trx, job.id, end));
}

/** What a job leaves when it has ended: no processes, a zip, no files of the service. */
async function cleanUp(task: Task): Promise<void> {
  const { log, job } = task;
  // a job that never began has no files; what lies where its folder was to be is somebody else's
  if (!(await exists(job.service_folder))) return;
  try {
    await runnerOf(task).end(job.service_folder);
  } catch (error) {
    log.error(`What runs of job ${job.id} could not be ended`, error);
  }
  try {
    await archiveJob(job.working_dir);
  } catch (error) {
    log.warning(`The folder of job ${job.id} could not be zipped: ${(error as Error).message}`);
  }
  await rm(job.service_folder, { recursive: true, force: true });
}

/** The job with what is needed to run it; undefined when it is not there. */
async function open(parts: ExecutionParts, jobId: number, context: WorkContext): Promise<Task | undefined> {
  const { db } = parts;
  const job = await patiently(() => store.findJobAtWork(db, jobId), context.signal);
  if (!job) return undefined;
  const { resource_id } = job;
  const resource =
    resource_id === null ? undefined : await patiently(() => findResource(db, resource_id), context.signal);
  return { ...parts, job, resource, context };
}

export function jobHandler(parts: ExecutionParts): Handler {
  return async (jobId, context) => {
    const task = await open(parts, jobId, context);
    if (!task) return;
    if (task.job.status === 'submitted') {
      try {
        await execute(task);
      } catch (error) {
        if (error instanceof Left || error instanceof store.LeaseLost) return 'unfinished';
        if (context.signal.aborted) return 'unfinished';
        // ended by hand: nothing more is written, what it left is cleaned up
        if (!(error instanceof store.JobIsOver)) throw error;
        parts.log.info(`Job ${jobId} was ended by hand`);
      }
    }
    await cleanUp(task);
  };
}
