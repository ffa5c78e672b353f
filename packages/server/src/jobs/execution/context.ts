/** What the steps of a running job share. */
import { ServiceError } from '@service/contract/errors';

import { type Database, isPassing, retryWhileAway } from '../../db/index.ts';
import type { AccountHost } from '../../hosts/index.ts';
import { type Lease, LeaseLost } from '../../queue/index.ts';
import type { Runner } from '../../runners/index.ts';
import type { WorkflowLog } from '../files/index.ts';
import { fenced, JobIsOver, type RunningJob, type Trx } from '../store/execution.ts';

export interface Limits {
  /** Units of one task. */
  units: number;
  /** Bytes of the output of one unit. */
  output: number;
  /** Bytes of the outputs of all units of a task: they are in memory until it is over. */
  taskOutput: number;
}

export interface JobContext {
  db: Database;
  job: RunningJob;
  lease: Lease;
  runner: Runner;
  /** The account of this machine that runs its tasks, where it is not that of the service. */
  account: AccountHost | undefined;
  /** The configuration of the resource's runner. */
  runnerConfig: Record<string, unknown>;
  limits: Limits;
  log: WorkflowLog;
  /** Somebody else goes on: this process ends, or has lost the job. */
  leave: AbortSignal;
  /** The job is to be ended. */
  stop: AbortController;
}

/** The runner has left the units to run; another process goes on with the job, and nothing more is to be done here. */
export class HandedOver extends ServiceError {
  readonly kind = 'handed-over';
  readonly jobId: number;

  constructor(jobId: number) {
    super(`Another process continues job ${jobId}`);
    this.jobId = jobId;
  }
}

/** False where the job is to be left as it is: for another process, for a later attempt, or because somebody ended it. */
export const concernsJob = (error: unknown) =>
  !(error instanceof HandedOver || error instanceof LeaseLost || error instanceof JobIsOver || isPassing(error));

/** Stores something, however long the database is away, as long as the job is ours and not over. */
export const write = <T>(
  { db, job, lease, leave }: Pick<JobContext, 'db' | 'job' | 'lease' | 'leave'>,
  work: (trx: Trx) => Promise<T>,
): Promise<T> => retryWhileAway(() => fenced(db, { jobId: job.id, lease }, work), leave);

export const read = <T>({ db, leave }: JobContext, work: (db: Database) => Promise<T>): Promise<T> =>
  retryWhileAway(() => work(db), leave);
