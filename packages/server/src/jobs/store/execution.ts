/**
 * The SQL of running jobs. Everything is safe to do twice: after a crash, or a connection that broke at the wrong moment,
 * the same step is taken again.
 */
import { sql } from 'kysely';

import type { Cause, HistoryStatus, ImageStatus, JobFailure, JobStatus, Scalar } from '@service/contract';
import { ServiceError } from '@service/contract/errors';

import type { Database } from '../../db/index.ts';
import { type Lease, LeaseLost } from '../../queue/index.ts';
import type { Snapshot, SnapshotTask } from '../snapshot.ts';
import { failUnits, type Trx } from './units.ts';

export type { Trx } from './units.ts';

export interface RunningJob {
  id: number;
  status: JobStatus;
  workflow_id: number | null;
  workflow_name: string;
  dataset_id: number | null;
  user_id: number | null;
  user_email: string;
  resource_id: number | null;
  resource_name: string | null;
  profile_name: string | null;
  working_dir: string;
  working_dir_user: string;
  service_folder: string;
  slurm_account: string | null;
  worker_init: string | null;
  first_task_index: number;
  last_task_index: number;
  attribute_filters: Record<string, Scalar[]>;
  type_filters: Record<string, boolean>;
  first_task_image_status: ImageStatus[] | null;
  stop_requested: boolean;
  snapshot: Snapshot;
}

export async function findRunningJob(db: Database, jobId: number): Promise<RunningJob | undefined> {
  const { rows } = await sql<RunningJob>`
    select jobs.id, jobs.status, jobs.workflow_id, jobs.workflow_dump ->> 'name' as workflow_name, jobs.dataset_id,
      jobs.user_id, jobs.user_email, projects.resource_id, resources.name as resource_name, profiles.name as profile_name,
      jobs.working_dir, jobs.working_dir_user, jobs.service_folder, jobs.slurm_account, jobs.worker_init, jobs.first_task_index, jobs.last_task_index, jobs.attribute_filters,
      jobs.type_filters, jobs.first_task_image_status, jobs.stop_requested_at is not null as stop_requested, jobs.snapshot
    from jobs
      left join projects on projects.id = jobs.project_id
      left join resources on resources.id = projects.resource_id
      left join users on users.id = jobs.user_id
      left join profiles on profiles.id = users.profile_id
    where jobs.id = ${jobId}`.execute(db);
  return rows[0];
}

/** Somebody ended the job by hand. */
export class JobIsOver extends ServiceError {
  readonly kind = 'job-is-over';
  readonly jobId: number;
  readonly status: JobStatus;

  constructor(jobId: number, status: JobStatus) {
    super(`Job ${jobId} is ${status} already`);
    this.jobId = jobId;
    this.status = status;
  }
}

/**
 * A transaction that only takes effect while the job is ours and not over. It holds the job's row, so that a stop or a label
 * comes before or after it, never in between.
 */
export const fenced = <T>(
  db: Database,
  { jobId, lease }: { jobId: number; lease: Lease },
  work: (trx: Trx) => Promise<T>,
): Promise<T> =>
  db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ status: JobStatus }>`
      select jobs.status from jobs, background_work work
      where jobs.id = ${jobId} and work.id = ${lease.id} and work.leased_by = ${lease.holder}
      for update of jobs for share of work`.execute(trx);
    const row = rows[0];
    if (!row) throw new LeaseLost(lease.id);
    if (row.status !== 'submitted') throw new JobIsOver(jobId, row.status);
    return work(trx);
  });

/** Which of these jobs somebody wants to end, or has ended. */
export async function jobsToStop(db: Database, ids: number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from jobs
    where id = any(${ids}) and (stop_requested_at is not null or status <> 'submitted')`.execute(db);
  return rows.map((row) => row.id);
}

/** How the tasks of a job that have begun stand, by their place in the workflow. */
export async function tasksBegun(db: Database, jobId: number): Promise<Map<number | null, HistoryStatus>> {
  const rows = await db
    .selectFrom('history_runs')
    .select(['task_index', 'status'])
    .where('job_id', '=', jobId)
    .execute();
  return new Map(rows.map((row) => [row.task_index, row.status]));
}

export interface FailedUnit {
  is_init: boolean;
  logfile: string;
  exit_code: number | null;
  signal: number | null;
  cause: Cause;
  message: string;
}

/** Why a run failed, with the first of its units that did. */
export async function failureOfRun(
  db: Database,
  runId: number,
): Promise<{ failure: RunFailure | null; unit: FailedUnit | undefined }> {
  const run = await db.selectFrom('history_runs').select('failure').where('id', '=', runId).executeTakeFirst();
  const unit = await db
    .selectFrom('history_units')
    .select(['is_init', 'logfile', 'exit_code', 'signal', 'cause', 'message'])
    .where('history_run_id', '=', runId)
    .where('cause', 'is not', null)
    .orderBy('is_init', 'desc')
    .orderBy('number')
    .limit(1)
    .$narrowType<{ cause: Cause; message: string }>()
    .executeTakeFirst();
  return { failure: run?.failure ?? null, unit };
}

export const findRun = (
  trx: Trx,
  jobId: number,
  taskIndex: number,
): Promise<{ id: number; status: HistoryStatus } | undefined> =>
  trx
    .selectFrom('history_runs')
    .select(['id', 'status'])
    .where('job_id', '=', jobId)
    .where('task_index', '=', taskIndex)
    .executeTakeFirst();

/** False for a run that has been settled, perhaps by this very step before its connection broke. */
export async function isOpen(trx: Trx, runId: number): Promise<boolean> {
  const row = await trx.selectFrom('history_runs').select('status').where('id', '=', runId).executeTakeFirst();
  return row?.status === 'submitted';
}

export async function insertRun(
  trx: Trx,
  run: { job: RunningJob; task: SnapshotTask; task_index: number; num_available_images: number },
): Promise<number> {
  const { workflowtask, task, task_group } = run.task;
  const { rows } = await sql<{ id: number }>`
    insert into history_runs (dataset_id, workflowtask_id, job_id, task_id, workflowtask_dump, task_group_dump, status,
      num_available_images, task_index, timestamp_started)
    values (${run.job.dataset_id}, (select id from workflow_tasks where id = ${workflowtask.id}), ${run.job.id},
      (select id from tasks where id = ${task.id}), ${JSON.stringify({ ...workflowtask, task })},
      ${JSON.stringify(task_group)}, 'submitted', ${run.num_available_images}, ${run.task_index}, clock_timestamp())
    returning id`.execute(trx);
  return rows[0]!.id;
}

/** Its images are counted when the run ends. */
export type NewFailure = Pick<JobFailure, 'kind' | 'message' | 'zarr_url'>;
export type RunFailure = Omit<JobFailure, 'workflowtask_id'>;

/** The images of a compound task are those of its first unit: the others may be made for anything. */
async function countFailedImages(trx: Trx, runId: number): Promise<number> {
  const { rows } = await sql<{ num: number }>`
    select coalesce(sum(cardinality(zarr_urls)), 0)::int as num from history_units
    where history_run_id = ${runId} and status = 'failed'
      and is_init = exists (select from history_units where history_run_id = ${runId} and is_init)`.execute(trx);
  return rows[0]!.num;
}

/** `zarr_url` is null where no single image can be named. */
const describeFailure = async (trx: Trx, runId: number, failure: NewFailure): Promise<RunFailure> => ({
  zarr_url: null,
  ...failure,
  num_images: await countFailedImages(trx, runId),
});

export async function endRun(trx: Trx, runId: number, failure: NewFailure | null, numNewImages = 0): Promise<void> {
  await trx
    .updateTable('history_runs')
    .set({
      status: failure ? 'failed' : 'done',
      failure: failure && JSON.stringify(await describeFailure(trx, runId, failure)),
      num_new_images: numNewImages,
      timestamp_ended: sql<string>`clock_timestamp()`,
    })
    .where('id', '=', runId)
    .execute();
}

export async function insertAccounting(
  trx: Trx,
  record: { user_id: number | null; num_tasks: number; num_new_images: number },
): Promise<void> {
  if (record.user_id === null) return;
  await trx
    .insertInto('accounting_records')
    .values({ ...record, user_id: record.user_id })
    .execute();
}

/** When Python began to import for the units of a run; the first time counts. */
export async function recordImports(trx: Trx, runId: number, time: number): Promise<void> {
  await sql`
    update history_runs set timestamp_imports = to_timestamp(${time})
    where id = ${runId} and timestamp_imports is null`.execute(trx);
}

/** A defect while the units ran: what has no outcome of its own has failed. */
export async function failRun(
  trx: Trx,
  { runId, user_id, message }: { runId: number; user_id: number | null; message: string },
): Promise<void> {
  if (!(await isOpen(trx, runId))) return;
  await failUnits(trx, runId, { cause: 'start', message }, true);
  await endRun(trx, runId, { kind: 'internal', message });
  await insertAccounting(trx, { user_id, num_tasks: 0, num_new_images: 0 });
}

/** What the scheduler's jobs of the task that ran last complained about. */
export async function setExecutorError(trx: Trx, jobId: number, text: string | null): Promise<void> {
  await trx.updateTable('jobs').set({ executor_error_log: text }).where('id', '=', jobId).execute();
}

/** One record for a phase of a run; written again when more is submitted. */
export async function recordSchedulerJobs(
  trx: Trx,
  { job, runId, isInit, ids }: { job: RunningJob; runId: number; isInit: boolean; ids: number[] },
): Promise<void> {
  if (job.user_id === null) return;
  await sql`
    insert into accounting_records_slurm (user_id, slurm_job_ids, fractal_job_id, resource_id, history_run_id, is_init)
    values (${job.user_id}, ${ids}, ${job.id}, (select id from resources where id = ${job.resource_id}), ${runId}, ${isInit})
    on conflict (history_run_id, is_init) where history_run_id is not null
      do update set slurm_job_ids = excluded.slurm_job_ids`.execute(trx);
}

export async function endJob(
  trx: Trx,
  jobId: number,
  end: { status: 'done' | 'failed'; log: string; failure: JobFailure | null },
): Promise<void> {
  await trx
    .updateTable('jobs')
    .set({
      status: end.status,
      log: end.log,
      failure: end.failure && JSON.stringify(end.failure),
      end_timestamp: sql<string>`clock_timestamp()`,
    })
    .where('id', '=', jobId)
    .execute();
  await trx.deleteFrom('job_images').where('job_id', '=', jobId).execute();
}

export async function submissionsPrevented(db: Database | Trx, resourceId: number): Promise<boolean> {
  const row = await db
    .selectFrom('resources')
    .select('prevent_new_submissions')
    .where('id', '=', resourceId)
    .executeTakeFirst();
  return row?.prevent_new_submissions ?? false;
}
