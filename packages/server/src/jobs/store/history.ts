/** The SQL of history: runs, units, and where the logs of units lie. */
import type { HistoryRun, HistoryStatus, HistoryUnit, JobStatus, PageRequest, TaskOfImage } from '@service/contract';
import { sql } from 'kysely';

import { pageOf, rowsOf } from '../../db/index.ts';
import type { ClusterAccess } from '../snapshot.ts';
import type { Executor } from './jobs.ts';

/** The project that a workflow task is in, by way of its workflow. */
export const projectOfTask = (db: Executor, workflowTaskId: number) =>
  db
    .selectFrom('workflow_tasks')
    .innerJoin('workflows', 'workflows.id', 'workflow_tasks.workflow_id')
    .innerJoin('tasks', 'tasks.id', 'workflow_tasks.task_id')
    .select(['workflows.project_id', 'tasks.name'])
    .where('workflow_tasks.id', '=', workflowTaskId)
    .executeTakeFirst();

export const projectOfDataset = (db: Executor, datasetId: number) =>
  db.selectFrom('datasets').select(['project_id', 'name']).where('id', '=', datasetId).executeTakeFirst();

/** The runs of a task on a dataset, oldest first. */
export async function listRuns(db: Executor, datasetId: number, workflowTaskId: number): Promise<HistoryRun[]> {
  const { rows } = await sql<HistoryRun>`
    select run.id, run.timestamp_started, run.workflowtask_dump,
           unit.submitted as num_submitted_units, unit.done as num_done_units, unit.failed as num_failed_units,
           unit.warned as num_units_with_warnings,
           task.args_schema_parallel, task.args_schema_non_parallel, task.version,
           run.status, run.job_id, run.num_available_images, run.timestamp_ended
    from history_runs run
    left join tasks task on task.id = run.task_id
    cross join lateral (
      select coalesce(sum(num_units) filter (where status = 'submitted'), 0) as submitted,
             coalesce(sum(num_units) filter (where status = 'done'), 0) as done,
             coalesce(sum(num_units) filter (where status = 'failed'), 0) as failed,
             coalesce(sum(num_units) filter (where has_warnings), 0) as warned
      from history_unit_counts where history_run_id = run.id
    ) unit
    where run.dataset_id = ${datasetId} and run.workflowtask_id = ${workflowTaskId}
    order by run.timestamp_started, run.id`.execute(db);
  return rows;
}

export const findRun = (db: Executor, runId: number) =>
  db
    .selectFrom('history_runs')
    .select(['id', 'dataset_id', 'workflowtask_id'])
    .where('id', '=', runId)
    .executeTakeFirst();

export interface UnitFilter {
  status: HistoryStatus | undefined;
  /** Only those that have ended, the last one first. */
  ended: boolean;
}

/** By id; those that have ended by their last change, which an index knows. */
export async function pageOfUnits(db: Executor, runId: number, { status, ended }: UnitFilter, page: PageRequest) {
  let query = db.selectFrom('history_units').where('history_run_id', '=', runId);
  if (status !== undefined) query = query.where('status', '=', status);
  if (ended) query = query.where('timestamp_ended', 'is not', null);
  const { count } = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  const { limit, offset } = rowsOf(page);
  const items: HistoryUnit[] = await query
    .select([
      'id',
      'logfile',
      'has_warnings',
      'status',
      'zarr_urls',
      'is_init',
      'timestamp_started',
      'timestamp_ended',
      'exit_code',
      'signal',
      'cause',
      'message',
      'num_warnings',
      'cpu_seconds',
      'peak_memory_bytes',
      'memory_limit_bytes',
      'scheduler_job_id',
      'node',
    ])
    .orderBy(ended ? 'change' : 'id', ended ? 'desc' : 'asc')
    .limit(limit)
    .offset(offset)
    .execute();
  return pageOf(page, count, items);
}

/** A unit with what tells where its log is, and whose it is. */
export interface UnitWithLog {
  history_run_id: number;
  dataset_id: number;
  workflowtask_id: number | null;
  logfile: string;
  working_dir: string | null;
  /** The same on the cluster, and how that is reached. */
  working_dir_user: string | null;
  cluster: ClusterAccess | null;
  job_status: JobStatus;
}

const unitsWithLogs = (db: Executor) =>
  db
    .selectFrom('history_units')
    .innerJoin('history_runs', 'history_runs.id', 'history_units.history_run_id')
    .innerJoin('jobs', 'jobs.id', 'history_runs.job_id')
    .select([
      'history_units.history_run_id',
      'history_runs.dataset_id',
      'history_runs.workflowtask_id',
      'history_units.logfile',
      'jobs.working_dir',
      'jobs.working_dir_user',
      sql<ClusterAccess | null>`jobs.snapshot -> 'cluster'`.as('cluster'),
      'jobs.status as job_status',
    ]);

export const findUnit = (db: Executor, unitId: number): Promise<UnitWithLog | undefined> =>
  unitsWithLogs(db).where('history_units.id', '=', unitId).executeTakeFirst();

/** The unit of a task that looked at an image last. */
export const latestUnitOfImage = (
  db: Executor,
  { dataset_id, workflowtask_id, zarr_url }: { dataset_id: number; workflowtask_id: number; zarr_url: string },
): Promise<UnitWithLog | undefined> =>
  unitsWithLogs(db)
    .innerJoin('history_image_cache as cache', 'cache.latest_history_unit_id', 'history_units.id')
    .where('cache.dataset_id', '=', dataset_id)
    .where('cache.workflowtask_id', '=', workflowtask_id)
    .where('cache.zarr_url', '=', zarr_url)
    .executeTakeFirst();

/** What tasks did with some images, and what converters did for the dataset, oldest first. */
export interface DeedOfTask extends TaskOfImage {
  /** Null for converters, which have no image to begin with. */
  zarr_url: string | null;
  output_types: Record<string, boolean>;
}

export async function deedsOfTasks(
  db: Executor,
  datasetId: number,
  zarrUrls: readonly string[],
): Promise<DeedOfTask[]> {
  const { rows } = await sql<DeedOfTask>`
    with deeds as (
      select cache.zarr_url, unit.history_run_id, unit.status, unit.timestamp_ended
      from history_image_cache cache
      join history_units unit on unit.id = cache.latest_history_unit_id
      where cache.dataset_id = ${datasetId} and cache.zarr_url = any(${zarrUrls})
      union all
      select null, run.id, run.status, run.timestamp_ended
      from history_runs run
      -- where nobody counted, one that is done made some
      where run.dataset_id = ${datasetId}
        and (run.num_new_images > 0 or run.num_new_images is null and run.status = 'done')
        and coalesce(run.workflowtask_dump ->> 'task_type', run.workflowtask_dump -> 'task' ->> 'type') like 'converter%'
    )
    select deed.zarr_url, deed.status, deed.timestamp_ended, run.id as history_run_id, run.job_id, run.workflowtask_id,
           run.task_index, run.workflowtask_dump -> 'args_parallel' as args_parallel,
           run.workflowtask_dump -> 'args_non_parallel' as args_non_parallel,
           coalesce(run.workflowtask_dump ->> 'alias', run.workflowtask_dump -> 'task' ->> 'name', '') as name,
           run.workflowtask_dump -> 'task' ->> 'version' as version,
           coalesce(run.workflowtask_dump -> 'task' -> 'output_types', '{}') as output_types
    from deeds deed join history_runs run on run.id = deed.history_run_id
    order by run.timestamp_started, run.id`.execute(db);
  return rows;
}
