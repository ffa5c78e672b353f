/** The SQL of jobs as the wire shows them. */
import { sql, type Transaction } from 'kysely';

import type { Job, JobStatus, PageRequest } from '@service/contract';

import { type Database, pageOf, rowsOf, type Tables } from '../../db/index.ts';
import type { ClusterAccess } from '../snapshot.ts';

export type Executor = Database | Transaction<Tables>;

/** In the order of the wire; the log and the resource go in between. */
const FIRST_COLUMNS = [
  'jobs.id',
  'jobs.project_id',
  'jobs.project_dump',
  'jobs.user_email',
  'jobs.slurm_account',
  'jobs.workflow_id',
  'jobs.workflow_dump',
  'jobs.dataset_id',
  'jobs.dataset_dump',
  'jobs.start_timestamp',
  'jobs.end_timestamp',
  'jobs.status',
] as const;

const LAST_COLUMNS = [
  'jobs.executor_error_log',
  'jobs.working_dir',
  'jobs.working_dir_user',
  'jobs.first_task_index',
  'jobs.last_task_index',
  'jobs.worker_init',
  'jobs.attribute_filters',
  'jobs.type_filters',
  'jobs.fractal_server_version',
  'projects.resource_id',
  'jobs.stop_requested_at',
  'jobs.stop_requested_by',
  'jobs.timestamp_first_unit',
  'jobs.failure',
] as const;

const selectJobs = (db: Executor, log: boolean) =>
  db
    .selectFrom('jobs')
    .leftJoin('projects', 'projects.id', 'jobs.project_id')
    .select(FIRST_COLUMNS)
    .select((eb) => sql<string | null>`${log ? eb.ref('jobs.log') : sql`null::text`}`.as('log'))
    .select(LAST_COLUMNS);

type Row = Awaited<ReturnType<ReturnType<typeof selectJobs>['executeTakeFirstOrThrow']>>;

/** Dumps of older services hold more than the wire shows. */
const keep = (dump: Record<string, unknown>, keys: string[]) =>
  Object.fromEntries(keys.filter((key) => key in dump).map((key) => [key, dump[key]]));

const asJob = (row: Row): Job => ({
  ...row,
  project_dump: keep(row.project_dump, ['id', 'name', 'timestamp_created']) as Job['project_dump'],
  workflow_dump: keep(row.workflow_dump, ['id', 'name', 'project_id', 'timestamp_created']) as Job['workflow_dump'],
  dataset_dump: keep(row.dataset_dump, [
    'id',
    'name',
    'project_id',
    'timestamp_created',
    'zarr_dir',
  ]) as Job['dataset_dump'],
});

export interface JobFilter {
  id?: number | undefined;
  project_id?: number | undefined;
  workflow_id?: number | undefined;
  dataset_id?: number | undefined;
  status?: JobStatus | undefined;
  user_email?: string | undefined;
  resource_id?: number | undefined;
  project_owner_id?: number | undefined;
  start_timestamp_min?: string | undefined;
  start_timestamp_max?: string | undefined;
  end_timestamp_min?: string | undefined;
  end_timestamp_max?: string | undefined;
  /** Only jobs of projects that this person owns, or is an accepted guest of. */
  member_id?: number | undefined;
}

const TIMES = [
  ['start_timestamp_min', 'jobs.start_timestamp', '>='],
  ['start_timestamp_max', 'jobs.start_timestamp', '<='],
  ['end_timestamp_min', 'jobs.end_timestamp', '>='],
  ['end_timestamp_max', 'jobs.end_timestamp', '<='],
] as const;

const EQUAL = [
  ['id', 'jobs.id'],
  ['project_id', 'jobs.project_id'],
  ['workflow_id', 'jobs.workflow_id'],
  ['dataset_id', 'jobs.dataset_id'],
  ['status', 'jobs.status'],
  ['user_email', 'jobs.user_email'],
  ['resource_id', 'projects.resource_id'],
  ['project_owner_id', 'projects.owner_id'],
] as const;

function filtered(db: Executor, filter: JobFilter, log: boolean) {
  let query = selectJobs(db, log);
  for (const [name, column] of EQUAL) {
    if (filter[name] !== undefined) query = query.where(column, '=', filter[name]);
  }
  for (const [name, column, compared] of TIMES) {
    if (filter[name] !== undefined) query = query.where(column, compared, filter[name]);
  }
  const { member_id: member } = filter;
  if (member === undefined) return query;
  return query.where('jobs.project_id', 'in', (eb) =>
    eb.selectFrom('project_links').select('project_id').where('user_id', '=', member).where('is_verified', '=', true),
  );
}

const newestFirst = (db: Executor, filter: JobFilter, log: boolean) =>
  filtered(db, filter, log).orderBy('jobs.start_timestamp', 'desc').orderBy('jobs.id', 'desc');

/** Newest first, all of them or so many. */
export async function listJobs(
  db: Executor,
  filter: JobFilter,
  { log, limit }: { log: boolean; limit: number | null },
): Promise<Job[]> {
  const all = newestFirst(db, filter, log);
  const rows = await (limit === null ? all : all.limit(limit)).execute();
  return rows.map(asJob);
}

export async function pageOfJobs(db: Executor, filter: JobFilter, log: boolean, page: PageRequest) {
  const { count } = await filtered(db, filter, log)
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const { limit, offset } = rowsOf(page);
  const rows = await newestFirst(db, filter, log).limit(limit).offset(offset).execute();
  return pageOf(page, count, rows.map(asJob));
}

export async function newestJob(db: Executor, filter: JobFilter): Promise<Job | undefined> {
  const [job] = await listJobs(db, filter, { log: true, limit: 1 });
  return job;
}

export async function findJob(db: Executor, jobId: number): Promise<Job | undefined> {
  const row = await selectJobs(db, true).where('jobs.id', '=', jobId).executeTakeFirst();
  return row && asJob(row);
}

/** A job that is known to exist. */
export async function readJob(db: Executor, jobId: number, { log = true }: { log?: boolean } = {}): Promise<Job> {
  return asJob(await selectJobs(db, log).where('jobs.id', '=', jobId).executeTakeFirstOrThrow());
}

export async function findJobInProject(db: Executor, projectId: number, jobId: number): Promise<Job | undefined> {
  const row = await selectJobs(db, true)
    .where('jobs.id', '=', jobId)
    .where('jobs.project_id', '=', projectId)
    .executeTakeFirst();
  return row && asJob(row);
}

/** These jobs without their logs, oldest first. */
export async function jobsWithoutLogs(db: Executor, jobIds: number[]): Promise<Omit<Job, 'log'>[]> {
  const rows = await selectJobs(db, false)
    .where('jobs.id', '=', sql<number>`any(${jobIds}::int[])`)
    .orderBy('jobs.start_timestamp')
    .orderBy('jobs.id')
    .execute();
  return rows.map((row) => {
    const { log: _, ...job } = asJob(row);
    return job;
  });
}

/** The jobs of the same resource that were submitted before this one and have not begun either. */
export async function countJobsAhead(db: Executor, jobId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)
    from jobs job
    join projects on projects.id = job.project_id
    join projects other_project on other_project.resource_id = projects.resource_id
    join jobs other on other.project_id = other_project.id
    where job.id = ${jobId} and other.status = 'submitted' and other.timestamp_first_unit is null
      and (other.start_timestamp, other.id) < (job.start_timestamp, job.id)`.execute(db);
  return rows[0]!.count;
}

/** The cluster that a job runs on, if it does, and the scheduler's jobs of the phase that was submitted last. */
export async function findSchedulerJobs(
  db: Executor,
  jobId: number,
): Promise<{ cluster: ClusterAccess | null; ids: number[] }> {
  const { rows } = await sql<{ cluster: ClusterAccess | null; ids: number[] | null }>`
    select jobs.snapshot -> 'cluster' as cluster, (
      select slurm_job_ids from accounting_records_slurm where fractal_job_id = jobs.id order by id desc limit 1
    ) as ids
    from jobs where id = ${jobId}`.execute(db);
  return { cluster: rows[0]?.cluster ?? null, ids: rows[0]?.ids ?? [] };
}

interface RecentJob {
  id: number;
  user_email: string;
  status: JobStatus;
  start_timestamp: string;
  end_timestamp: string | null;
}

/** What runs or ended lately: submitted, done, failed, and in each the newest first. */
export async function recentJobs(db: Executor, minutes: number): Promise<RecentJob[]> {
  const { rows } = await sql<RecentJob>`
    select id, user_email, status, start_timestamp, end_timestamp
    from jobs
    where status = 'submitted' or end_timestamp >= now() - make_interval(mins => ${minutes})
    order by array_position(array['submitted', 'done', 'failed'], status), start_timestamp desc`.execute(db);
  return rows;
}

/** Jobs that wait or run, by the index of those. */
export async function countSubmittedJobs(db: Database): Promise<number> {
  const { count } = await db
    .selectFrom('jobs')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('status', '=', 'submitted')
    .executeTakeFirstOrThrow();
  return Number(count);
}
