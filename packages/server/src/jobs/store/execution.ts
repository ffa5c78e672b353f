/**
 * The SQL of running jobs. Everything is safe to do twice: after a crash, or a connection that broke at the wrong moment,
 * the same step is taken again.
 */
import { sql, type Transaction } from 'kysely';

import type { Cause, HistoryStatus, ImageStatus, JobFailure, JobStatus, Scalar } from '@service/contract';

import type { Database, Tables } from '../../db/index.ts';
import type { Lease } from '../../queue/index.ts';
import type { Snapshot, SnapshotTask } from '../snapshot.ts';

export type Trx = Transaction<Tables>;
const BATCH = 5000;

export interface JobAtWork {
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

export async function findJobAtWork(db: Database, jobId: number): Promise<JobAtWork | undefined> {
  const { rows } = await sql<JobAtWork>`
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

/** The work belongs to another process now. */
export class LeaseLost extends Error {}
/** Somebody ended the job by hand. */
export class JobIsOver extends Error {}

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
    if (!row) throw new LeaseLost();
    if (row.status !== 'submitted') throw new JobIsOver();
    return work(trx);
  });

/** Which of these jobs somebody wants to end, or has ended. */
export async function jobsToStop(db: Database, ids: number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from jobs
    where id = any(${ids}) and (stop_requested_at is not null or status <> 'submitted')`.execute(db);
  return rows.map((row) => row.id);
}

/** The tasks of a job that are done, by their place in the workflow. */
export async function tasksDone(db: Database, jobId: number): Promise<Set<number>> {
  const rows = await db
    .selectFrom('history_runs')
    .select('task_index')
    .where('job_id', '=', jobId)
    .where('status', '=', 'done')
    .execute();
  return new Set(rows.flatMap((row) => row.task_index ?? []));
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

export async function hasUnits(trx: Trx, runId: number, isInit: boolean): Promise<boolean> {
  const row = await trx
    .selectFrom('history_units')
    .select('id')
    .where('history_run_id', '=', runId)
    .where('is_init', '=', isInit)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
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
  run: { job: JobAtWork; task: SnapshotTask; task_index: number; num_available_images: number },
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

export interface NewUnit {
  number: number;
  is_init: boolean;
  logfile: string;
  zarr_urls: string[];
}

function* inPieces<T>(items: Iterable<T>): Generator<T[]> {
  let piece: T[] = [];
  for (const item of items) {
    if (piece.push(item) < BATCH) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

/** Units with one statement for thousands; those with images become what the images' status points to. */
export async function insertUnits(
  trx: Trx,
  runId: number,
  units: Iterable<NewUnit>,
  cache: { dataset_id: number; workflowtask_id: number } | null,
): Promise<void> {
  for (const rows of inPieces(units)) {
    await sql`
      insert into history_units (history_run_id, logfile, status, zarr_urls, number, is_init)
      select ${runId}, unit.logfile, 'submitted', unit.zarr_urls, unit.number, unit.is_init
      from json_to_recordset(${JSON.stringify(rows)}::json)
        as unit (number int, is_init boolean, logfile text, zarr_urls text[])
      order by unit.number`.execute(trx);
  }
  if (cache === null) return;
  await sql`
    insert into history_image_cache (dataset_id, workflowtask_id, zarr_url, latest_history_unit_id)
    select ${cache.dataset_id}, workflow_tasks.id, image.zarr_url, unit.id
    from workflow_tasks, history_units unit, unnest(unit.zarr_urls) as image (zarr_url)
    where workflow_tasks.id = ${cache.workflowtask_id} and unit.history_run_id = ${runId}
    on conflict (dataset_id, zarr_url, workflowtask_id)
      do update set latest_history_unit_id = excluded.latest_history_unit_id`.execute(trx);
}

export interface PlannedRow {
  number: number;
  zarr_urls: string[];
  ended: boolean;
}

/** The units of a phase as they were planned, in order. */
export async function unitsOfPhase(db: Database, runId: number, isInit: boolean): Promise<PlannedRow[]> {
  const { rows } = await sql<PlannedRow>`
    select number, zarr_urls, timestamp_ended is not null as ended from history_units
    where history_run_id = ${runId} and is_init = ${isInit} order by number`.execute(db);
  return rows;
}

/** What is left out stays as it is, or is nothing. Times are seconds since 1970. */
export interface UnitNews {
  number: number;
  status?: HistoryStatus | undefined;
  started?: number;
  ended?: number;
  exit_code?: number | null;
  signal?: number | null;
  cause?: Cause | undefined;
  message?: string | undefined;
  warnings?: number;
  cpu?: number;
  memory?: number | null;
  /** On a cluster. */
  node?: string | null | undefined;
  scheduler_job?: number | null | undefined;
  memory_limit?: number | null | undefined;
}

export async function recordUnits(
  trx: Trx,
  jobId: number,
  runId: number,
  isInit: boolean,
  news: UnitNews[],
): Promise<void> {
  for (let start = 0; start < news.length; start += BATCH) {
    await sql`
      update history_units unit set
        status = coalesce(news.status, unit.status),
        timestamp_started = coalesce(to_timestamp(news.started), unit.timestamp_started),
        timestamp_ended = coalesce(to_timestamp(news.ended), unit.timestamp_ended),
        exit_code = news.exit_code, signal = news.signal, cause = news.cause, message = news.message,
        num_warnings = coalesce(news.warnings, 0), has_warnings = coalesce(news.warnings, 0) > 0, cpu_seconds = news.cpu,
        peak_memory_bytes = news.memory, node = coalesce(news.node, unit.node),
        scheduler_job_id = coalesce(news.scheduler_job, unit.scheduler_job_id),
        memory_limit_bytes = coalesce(news.memory_limit, unit.memory_limit_bytes)
      from json_to_recordset(${JSON.stringify(news.slice(start, start + BATCH))}::json) as news (
        number int, status text, started float8, ended float8, exit_code int, signal int, cause text, message text,
        warnings int, cpu float8, memory bigint, node text, scheduler_job int, memory_limit bigint)
      where unit.history_run_id = ${runId} and unit.is_init = ${isInit} and unit.number = news.number`.execute(trx);
  }
  const first = news.reduce((least, { started }) => Math.min(least, started ?? Infinity), Infinity);
  if (first === Infinity) return;
  await sql`
    update jobs set timestamp_first_unit = to_timestamp(${first})
    where id = ${jobId} and timestamp_first_unit is null`.execute(trx);
}

/** Units that have not ended. With `all`, those whose status was to follow later have failed too. */
export async function failUnits(
  trx: Trx,
  runId: number,
  { cause, message }: { cause: Cause; message: string },
  all = false,
): Promise<void> {
  await sql`
    update history_units set status = 'failed',
      cause = case when timestamp_ended is null then ${cause} else cause end,
      message = case when timestamp_ended is null then ${message} else message end,
      timestamp_ended = coalesce(timestamp_ended, clock_timestamp())
    where history_run_id = ${runId} and status = 'submitted' and (${all} or timestamp_ended is null)`.execute(trx);
}

/** Every unit of the run gets this status, whatever it had. */
export async function settleUnits(trx: Trx, runId: number, status: 'done' | 'failed'): Promise<void> {
  await trx
    .updateTable('history_units')
    .set({ status })
    .where('history_run_id', '=', runId)
    .where('status', '<>', status)
    .execute();
}

/** Outputs that do not fit together: no unit can be said to have done its work. */
export async function failAllUnits(trx: Trx, runId: number, message: string): Promise<void> {
  await sql`
    update history_units set status = 'failed', cause = coalesce(cause, 'output'), message = coalesce(message, ${message}),
      timestamp_ended = coalesce(timestamp_ended, clock_timestamp())
    where history_run_id = ${runId}`.execute(trx);
}

export type RunFailure = Pick<JobFailure, 'kind' | 'message' | 'num_images'>;

export async function endRun(trx: Trx, runId: number, failure: RunFailure | null, numNewImages = 0): Promise<void> {
  await trx
    .updateTable('history_runs')
    .set({
      status: failure ? 'failed' : 'done',
      failure: failure && JSON.stringify(failure),
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

/** What the scheduler's jobs of the task that ran last complained about. */
export async function setExecutorError(trx: Trx, jobId: number, text: string | null): Promise<void> {
  await trx.updateTable('jobs').set({ executor_error_log: text }).where('id', '=', jobId).execute();
}

/** One record for a phase of a run; written again when more is submitted. */
export async function recordSchedulerJobs(
  trx: Trx,
  { job, runId, isInit, ids }: { job: JobAtWork; runId: number; isInit: boolean; ids: number[] },
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
