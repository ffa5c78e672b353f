/** The SQL of jobs as the wire shows them. */
import { type Expression, type ExpressionBuilder, type Nullable, sql, type Transaction } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';

import { type Job, type JobStatus, type JsonObject, type PageRequest, parseJson } from '@service/contract';

import { builtOnce, type Database, rowsOf, type Tables, timeText } from '../../db/index.ts';
import type { ClusterAccess } from '../snapshot.ts';

export type Executor = Database | Transaction<Tables>;

/** In the order of the wire; the log goes in between. */
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

/** What the wire shows of the dumps: those of older services hold more. */
const DUMPS = {
  project_dump: ['id', 'name', 'timestamp_created'],
  workflow_dump: ['id', 'name', 'project_id', 'timestamp_created'],
  dataset_dump: ['id', 'name', 'project_id', 'timestamp_created', 'zarr_dir'],
} as const;
const DUMP_NAMES = Object.keys(DUMPS) as (keyof typeof DUMPS)[];

const keep = (dump: Record<string, unknown>, keys: readonly string[]) =>
  Object.fromEntries(keys.filter((key) => key in dump).map((key) => [key, dump[key]]));

const fromJobs = (db: Executor) => db.selectFrom('jobs').leftJoin('projects', 'projects.id', 'jobs.project_id');
type InJobs = ExpressionBuilder<Tables & { projects: Nullable<Tables['projects']> }, 'jobs' | 'projects'>;

const logOf = (eb: InJobs, log: boolean) => sql<string | null>`${log ? eb.ref('jobs.log') : sql`null::text`}`;

const columns = (log: boolean) => (eb: InJobs) =>
  [...FIRST_COLUMNS, logOf(eb, log).as('log'), ...LAST_COLUMNS] as const;

const selectJobs = (db: Executor, log: boolean) => fromJobs(db).select(columns(log));

type Row = Awaited<ReturnType<ReturnType<typeof selectJobs>['executeTakeFirstOrThrow']>>;

const asJob = (row: Row): Job => {
  const dumps = Object.fromEntries(DUMP_NAMES.map((name) => [name, keep(row[name], DUMPS[name])]));
  return { ...row, ...(dumps as Pick<Job, keyof typeof DUMPS>) };
};

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

function filtered(db: Executor, filter: JobFilter) {
  let query = fromJobs(db);
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

const newestFirst = (db: Executor, filter: JobFilter) =>
  filtered(db, filter).orderBy('jobs.start_timestamp', 'desc').orderBy('jobs.id', 'desc');

const TIMES_IN_TEXT = ['start_timestamp', 'end_timestamp', 'stop_requested_at', 'timestamp_first_unit'] as const;

/** A job as a JSON text, with null in the places of its dumps. */
function jobText(eb: InJobs, log: boolean) {
  const values = (names: readonly (typeof FIRST_COLUMNS | typeof LAST_COLUMNS)[number][]) =>
    Object.fromEntries(names.map((name) => [name.slice(name.indexOf('.') + 1), eb.ref(name)]));
  const fields: Record<string, Expression<unknown>> = {
    ...values(FIRST_COLUMNS),
    log: logOf(eb, log),
    ...values(LAST_COLUMNS),
    ...Object.fromEntries(TIMES_IN_TEXT.map((name) => [name, timeText(eb.ref(`jobs.${name}`))])),
    ...Object.fromEntries(DUMP_NAMES.map((name) => [name, sql`null::json`])),
  };
  return sql<string>`${jsonBuildObject(fields)}::text`;
}

interface Slice {
  limit?: number | undefined;
  offset?: number | undefined;
}

const selectTexts = (log: boolean) =>
  builtOnce((db, { limit, offset, ...filter }: JobFilter & Slice) => {
    const all = newestFirst(db, filter).select((eb) => [
      jobText(eb, log).as('job'),
      ...DUMP_NAMES.map((name) => sql<string>`${eb.ref(name)}::text`.as(name)),
    ]);
    const some = limit === undefined ? all : all.limit(limit);
    return offset === undefined ? some : some.offset(offset);
  });
const [withLogs, withoutLogs] = [selectTexts(true), selectTexts(false)];

/** What the wire shows of a dump, as texts. Jobs of one list have much in common: each text is read once. */
function shownDumps() {
  const known = new Map<string, string>();
  return (name: keyof typeof DUMPS, text: string): string => {
    const key = name + text;
    const shown = known.get(key) ?? JSON.stringify(keep(parseJson(text) as JsonObject, DUMPS[name]));
    known.set(key, shown);
    return shown;
  };
}

/** As JSON texts, newest first, all of them or so many. */
export async function listJobs(db: Executor, filter: JobFilter, { log, ...slice }: Slice & { log: boolean }) {
  const rows = await (log ? withLogs : withoutLogs)(db, { ...filter, ...slice });
  const shown = shownDumps();
  // the first such name is the field: in a text before it, the quotation marks would be escaped
  const placed = (job: string, name: keyof typeof DUMPS, text: string) =>
    job.replace(`"${name}" : null`, () => `"${name}" : ${shown(name, text)}`);
  return rows.map(({ job, ...dumps }) => DUMP_NAMES.reduce((text, name) => placed(text, name, dumps[name]), job));
}

const countJobs = builtOnce((db, filter: JobFilter) =>
  filtered(db, filter).select((eb) => eb.fn.countAll<number>().as('count')),
);

/** How many there are, and those of a page as JSON texts. */
export async function pageOfJobs(db: Executor, filter: JobFilter, log: boolean, page: PageRequest) {
  const [row] = await countJobs(db, filter);
  const { limit, offset } = rowsOf(page);
  const items = await listJobs(db, filter, { log, limit: limit ?? undefined, offset });
  return { total: row!.count, items };
}

export async function newestJob(db: Executor, filter: JobFilter): Promise<Job | undefined> {
  const row = await newestFirst(db, filter).select(columns(true)).limit(1).executeTakeFirst();
  return row && asJob(row);
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
