/** The SQL of watching jobs: rows carry numbers that grow with each change (db/migrations/0004-jobs.ts). */
import { type RawBuilder, sql } from 'kysely';

import type { Cause, HistoryStatus, JobStatus } from '@service/contract';

import type { Executor } from './jobs.ts';

/** How far a job has come. */
export interface Mark {
  id: number;
  status: JobStatus;
  workflow_id: number | null;
  dataset_id: number | null;
  working_dir: string | null;
  /** The numbers of the latest changes of the job, of its runs and of its units. */
  job: number;
  runs: number;
  units: number;
  /** The tasks whose runs may still change. */
  open_tasks: number[];
}

/** An index knows the highest number of each run, so that asking again and again costs little. */
async function marksWhere(db: Executor, condition: RawBuilder<unknown>): Promise<Mark[]> {
  const { rows } = await sql<Mark>`
    select jobs.id, jobs.status, jobs.workflow_id, jobs.dataset_id, jobs.working_dir, jobs.change as job,
           coalesce(max(run.change), 0) as runs, coalesce(max(unit.change), 0) as units,
           coalesce(array_agg(run.workflowtask_id) filter (where run.status = 'submitted'), '{}') as open_tasks
    from jobs
    left join history_runs run on run.job_id = jobs.id
    left join lateral (
      select change from history_units where history_run_id = run.id order by change desc limit 1
    ) unit on true
    where ${condition}
    group by jobs.id order by jobs.id`.execute(db);
  return rows;
}

export const marksOfJob = (db: Executor, jobId: number) => marksWhere(db, sql`jobs.id = ${jobId}`);

/**
 * Of a project: jobs that run, jobs that are being followed, and jobs that changed after a number. The numbers of
 * different jobs may appear out of order, those of one job never do; hence the first two.
 */
export const marksOfProject = (db: Executor, projectId: number, followed: number[], after: number) =>
  marksWhere(
    db,
    sql`jobs.project_id = ${projectId}
      and (jobs.status = 'submitted' or jobs.change > ${after} or jobs.id = any(${followed}::int[]))`,
  );

export async function newestMarkOfProject(db: Executor, projectId: number): Promise<Mark[]> {
  return marksWhere(
    db,
    sql`jobs.id = (
      select id from jobs where project_id = ${projectId} order by start_timestamp desc, id desc limit 1)`,
  );
}

/** The highest number of a change in a project's jobs. */
export async function lastChangeOfProject(db: Executor, projectId: number): Promise<number> {
  const row = await db
    .selectFrom('jobs')
    .select((eb) => eb.fn.max('change').as('change'))
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  return row?.change ?? 0;
}

/** Tasks of a job whose runs changed after a number. */
export async function tasksChangedSince(db: Executor, jobIds: number[], after: number): Promise<number[]> {
  const rows = await db
    .selectFrom('history_runs')
    .select('workflowtask_id')
    .distinct()
    .where('job_id', '=', sql<number>`any(${jobIds}::int[])`)
    .where('change', '>', after)
    .where('workflowtask_id', 'is not', null)
    .execute();
  return rows.map((row) => row.workflowtask_id!);
}

export interface ChangedUnit {
  id: number;
  zarr_urls: string[];
  status: HistoryStatus;
  started: boolean;
  timestamp_ended: string | null;
  cause: Cause | null;
  num_warnings: number;
  peak_memory_bytes: number | null;
}

/** Units of a job that changed after a number, at most so many; the caller asks for one more than it can use. */
export async function unitsChangedSince(
  db: Executor,
  jobId: number,
  after: number,
  limit: number,
): Promise<ChangedUnit[]> {
  const { rows } = await sql<ChangedUnit>`
    select unit.id, unit.zarr_urls, unit.status, unit.timestamp_started is not null as started, unit.timestamp_ended,
           unit.cause, unit.num_warnings, unit.peak_memory_bytes
    from history_runs run
    cross join lateral (
      select * from history_units where history_run_id = run.id and change > ${after} order by change limit ${limit}
    ) unit
    where run.job_id = ${jobId}
    order by unit.change limit ${limit}`.execute(db);
  return rows;
}
