/**
 * Executes jobs: takes a job from where it is to its end, whoever had it before and however that ended.
 *
 * What is known of a job is in the database (runs, units) and in the journals of its workers; both are read again after an
 * interruption, and every step notices what was done already.
 */
import type { Resource } from '@service/contract';

import { findResource } from '../../accounts/index.ts';
import { type Database, retryWhileAway } from '../../db/index.ts';
import type { Logger } from '../../logging/index.ts';
import type { Handler, WorkContext } from '../../queue/index.ts';
import type { LocalRunner, Runner, SlurmRunners } from '../../runners/index.ts';
import * as store from '../store/execution.ts';
import { HandedOver, type JobContext, type Limits, write } from './context.ts';
import { prepareFolders, tidyUp } from './folders.ts';
import { openJobLog } from './job-log.ts';
import type { StopRequests } from './stop-requests.ts';
import { failedJob, type JobEnd, runTasks } from './tasks.ts';

export interface ExecutionParts {
  db: Database;
  log: Logger;
  runner: LocalRunner;
  slurmRunners: SlurmRunners;
  stopRequests: StopRequests;
  limits: Limits;
}

function pythonOf(resource: Resource | undefined): string {
  const config = resource?.tasks_python_config as { default_version?: string; versions?: Record<string, string> };
  return config?.versions?.[config.default_version ?? ''] ?? 'python3';
}

/** A job with what is needed to run it. */
interface OpenJob {
  job: store.RunningJob;
  runner: Runner;
  /** The configuration of the resource's runner. */
  runnerConfig: Record<string, unknown>;
}

/** Undefined when it is not there. */
async function open(
  { db, runner, slurmRunners }: ExecutionParts,
  jobId: number,
  leave: AbortSignal,
): Promise<OpenJob | undefined> {
  const job = await retryWhileAway(() => store.findRunningJob(db, jobId), leave);
  if (!job) return undefined;
  const { resource_id, snapshot } = job;
  const resource = resource_id === null ? undefined : await retryWhileAway(() => findResource(db, resource_id), leave);
  return {
    job,
    runner: snapshot.cluster ? slurmRunners.at(snapshot.cluster) : runner.with(pythonOf(resource)),
    runnerConfig: resource?.jobs_runner_config ?? {},
  };
}

async function run(parts: ExecutionParts, opened: OpenJob, { signal, lease, attempt }: WorkContext): Promise<JobEnd> {
  const { db, limits, stopRequests } = parts;
  const { job } = opened;
  const problem = await prepareFolders(job);
  if (problem !== undefined) return failedJob(problem, { kind: 'internal', message: problem });
  const log = openJobLog(job, attempt > 1);
  const stop = new AbortController();
  if (job.stop_requested) stop.abort();
  const forget = stopRequests.watch(job.id, () => stop.abort());
  const context: JobContext = { ...opened, db, limits, lease, leave: signal, log, stop };
  try {
    return await runTasks(context, parts.log);
  } finally {
    forget();
    await log.close();
  }
}

export function jobHandler(parts: ExecutionParts): Handler {
  const { db, log } = parts;
  return async (jobId, context) => {
    const { signal: leave, lease } = context;
    const opened = await open(parts, jobId, leave);
    if (!opened) return;
    const { job, runner } = opened;
    if (job.status === 'submitted') {
      try {
        const end = await run(parts, opened, context);
        await write({ db, job, lease, leave }, (trx) => store.endJob(trx, jobId, end));
      } catch (error) {
        if (error instanceof HandedOver || error instanceof store.LeaseLost || leave.aborted) return 'unfinished';
        // ended by hand: nothing more is written, what it left is tidied up
        if (!(error instanceof store.JobIsOver)) throw error;
        log.info(`Job ${jobId} was ended by hand`);
      }
    }
    await tidyUp(job, runner, log);
  };
}
