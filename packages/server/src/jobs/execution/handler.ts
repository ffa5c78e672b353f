/**
 * Executes jobs: takes a job from where it is to its end, whoever had it before and however that ended.
 *
 * What is known of a job is in the database (runs, units) and in the journals of its workers; both are read again after an
 * interruption, and every step notices what was done already.
 */
import { findResource } from '../../accounts/index.ts';
import { type Database, retryWhileAway } from '../../db/index.ts';
import { type AccountHost, AccountProblem } from '../../hosts/index.ts';
import type { Logger } from '../../logging/index.ts';
import { type Handler, LeaseLost, type WorkContext } from '../../queue/index.ts';
import type { LocalRunner, Runner, SlurmRunners } from '../../runners/index.ts';
import type { RunAs } from '../../run-as/index.ts';
import * as store from '../store/execution.ts';
import { HandedOver, type JobContext, type Limits, write } from './context.ts';
import { prepareFolders, tidyUp } from './folders.ts';
import { openJobLog } from './job-log.ts';
import type { StopRequests } from './stop-requests.ts';
import { workerPython } from '../worker-python.ts';
import { failedJob, type JobEnd, runTasks } from './tasks.ts';

export interface ExecutionParts {
  db: Database;
  log: Logger;
  runner: LocalRunner;
  slurmRunners: SlurmRunners;
  stopRequests: StopRequests;
  limits: Limits;
  runAs: RunAs;
}

/** A job with what is needed to run it. */
interface OpenJob {
  job: store.RunningJob;
  runner: Runner;
  /** The account of this machine that runs its tasks, where it is not that of the service. */
  account: AccountHost | undefined;
  /** Why nothing of it can run, if nothing can. */
  problem: string | undefined;
  /** The configuration of the resource's runner. */
  runnerConfig: Record<string, unknown>;
}

/** An account that was there when the job was submitted may be gone. */
async function accountOf(runAs: RunAs, name: string | undefined): Promise<Pick<OpenJob, 'account' | 'problem'>> {
  if (name === undefined) return { account: undefined, problem: undefined };
  try {
    return { account: await runAs.host(name, 'jobs'), problem: undefined };
  } catch (error) {
    if (!(error instanceof AccountProblem)) throw error;
    return { account: undefined, problem: `The tasks of the job can't run. ${error.message}` };
  }
}

/** Undefined when it is not there. */
async function open(
  { db, runner, slurmRunners, runAs }: ExecutionParts,
  jobId: number,
  leave: AbortSignal,
): Promise<OpenJob | undefined> {
  const job = await retryWhileAway(() => store.findRunningJob(db, jobId), leave);
  if (!job) return undefined;
  const { resource_id, snapshot } = job;
  const resource = resource_id === null ? undefined : await retryWhileAway(() => findResource(db, resource_id), leave);
  const account = await accountOf(runAs, snapshot.account);
  return {
    job,
    ...account,
    runner: snapshot.cluster ? slurmRunners.at(snapshot.cluster) : runner.with(workerPython(resource), account.account),
    runnerConfig: resource?.jobs_runner_config ?? {},
  };
}

async function run(parts: ExecutionParts, opened: OpenJob, { signal, lease, attempt }: WorkContext): Promise<JobEnd> {
  const { db, limits, stopRequests } = parts;
  const { job } = opened;
  const problem = opened.problem ?? (await prepareFolders(job, opened.account));
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
    const { job, runner, account } = opened;
    if (job.status === 'submitted') {
      try {
        const end = await run(parts, opened, context);
        await write({ db, job, lease, leave }, (trx) => store.endJob(trx, jobId, end));
      } catch (error) {
        if (error instanceof HandedOver || error instanceof LeaseLost || leave.aborted) return 'unfinished';
        // ended by hand: nothing more is written, what it left is tidied up
        if (!(error instanceof store.JobIsOver)) throw error;
        log.info(`Job ${jobId} was ended by hand`);
      }
    }
    // without its account nothing can be ended, and nothing removed
    if (opened.problem === undefined) await tidyUp({ job, runner, account }, log);
  };
}
