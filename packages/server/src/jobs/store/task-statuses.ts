/**
 * The SQL of what happened with the tasks of workflows on datasets: one statement for the runs, one for their units, one
 * for the images, however many tasks there are.
 */
import { sql } from 'kysely';

import type { Cause, HistoryStatus } from '@service/contract';

import type { Executor } from './jobs.ts';

/** A workflow and the dataset it runs on. */
export interface Place {
  workflow_id: number;
  dataset_id: number;
}

interface TaskRow {
  workflow_id: number;
  dataset_id: number;
  workflowtask_id: number;
  /** The submitted job of this workflow on this dataset, where the task is within its range. */
  awaited_by: number | null;
}

export interface RunRow {
  id: number;
  job_id: number;
  status: HistoryStatus;
  timestamp_started: string;
  timestamp_ended: string | null;
  num_available_images: number;
  num_new_images: number;
}

type Row = TaskRow & { run: RunRow | null };

const placesOf = (places: Place[]) => sql`unnest(
  ${places.map((place) => place.workflow_id)}::int[], ${places.map((place) => place.dataset_id)}::int[]
) with ordinality as place (workflow_id, dataset_id, number)`;

/** Every task in the order of its workflow, with its latest run on the dataset. `only` names the tasks to look at. */
export async function tasksWithLatestRuns(db: Executor, places: Place[], only?: number[]): Promise<Row[]> {
  type Flat = TaskRow & { run_id: number | null } & Omit<RunRow, 'id'>;
  const { rows } = await sql<Flat>`
    select place.workflow_id, place.dataset_id, task.id as workflowtask_id, awaiting.id as awaited_by,
           run.id as run_id, run.job_id, run.status, run.timestamp_started, run.timestamp_ended,
           run.num_available_images, run.num_new_images
    from ${placesOf(places)}
    join workflow_tasks task on task.workflow_id = place.workflow_id
    left join jobs awaiting on awaiting.dataset_id = place.dataset_id and awaiting.workflow_id = place.workflow_id
      and awaiting.status = 'submitted' and task."order" between awaiting.first_task_index and awaiting.last_task_index
    left join lateral (
      select * from history_runs
      where dataset_id = place.dataset_id and workflowtask_id = task.id
      order by timestamp_started desc, id desc limit 1
    ) run on true
    where ${only === undefined ? sql`true` : sql`task.id = any(${only}::int[])`}
    order by place.number, task."order"`.execute(db);
  return rows.map(({ workflow_id, dataset_id, workflowtask_id, awaited_by, run_id, ...run }) => ({
    workflow_id,
    dataset_id,
    workflowtask_id,
    awaited_by,
    run: run_id === null ? null : { id: run_id, ...run },
  }));
}

/**
 * What a unit is doing. Compound tasks keep all their units `submitted` until the end and flip them together, so times and
 * causes are asked first; rows of older services have neither, and their status counts.
 */
const STATE = sql`case
  when cause is not null then 'failed'
  when timestamp_ended is not null then 'done'
  when status <> 'submitted' then status
  when timestamp_started is not null then 'running'
  else 'waiting' end`;

export interface UnitCount {
  history_run_id: number;
  is_init: boolean;
  state: 'waiting' | 'running' | 'done' | 'failed';
  cause: Cause | null;
  has_warnings: boolean;
  num: number;
}

/** The units that need a look: nearly all of a task that ran well are done without warnings, and only counted. */
const NOTABLE = sql`(unit.status <> 'done' or unit.has_warnings)`;

export async function countUnits(db: Executor, runIds: number[]): Promise<UnitCount[]> {
  if (runIds.length === 0) return [];
  const { rows } = await sql<UnitCount>`
    with every as (
      select history_run_id, is_init, count(*) as num from history_units
      where history_run_id = any(${runIds}::int[]) group by 1, 2
    ), notable as materialized (
      select unit.history_run_id, unit.is_init, ${STATE} as state, unit.cause, unit.has_warnings, count(*) as num
      from history_units unit where unit.history_run_id = any(${runIds}::int[]) and ${NOTABLE} group by 1, 2, 3, 4, 5
    )
    select * from notable
    union all
    select every.history_run_id, every.is_init, 'done', null, false,
      every.num - coalesce((select sum(num)::bigint from notable
        where notable.history_run_id = every.history_run_id and notable.is_init = every.is_init), 0)
    from every`.execute(db);
  return rows;
}

export interface ImageCount {
  dataset_id: number;
  workflowtask_id: number;
  status: HistoryStatus;
  has_warnings: boolean;
  num: number;
}

/** How many images the latest units of each task left in which status. */
export async function countImages(
  db: Executor,
  tasks: { dataset_id: number; workflowtask_id: number }[],
): Promise<ImageCount[]> {
  if (tasks.length === 0) return [];
  const datasets = [...new Set(tasks.map((task) => task.dataset_id))];
  const wanted = tasks.map((task) => task.workflowtask_id);
  const { rows } = await sql<ImageCount>`
    with every as (
      select dataset_id, workflowtask_id, count(*) as num from history_image_cache
      where workflowtask_id = any(${wanted}::int[]) and dataset_id = any(${datasets}::int[]) group by 1, 2
    ), notable as materialized (
      select run.dataset_id, run.workflowtask_id, unit.status, unit.has_warnings, count(*) as num
      from history_runs run
      join history_units unit on unit.history_run_id = run.id
      join history_image_cache cache on cache.latest_history_unit_id = unit.id
        and cache.dataset_id = run.dataset_id and cache.workflowtask_id = run.workflowtask_id
      where run.workflowtask_id = any(${wanted}::int[]) and run.dataset_id = any(${datasets}::int[]) and ${NOTABLE}
      group by 1, 2, 3, 4
    )
    select * from notable
    union all
    select every.dataset_id, every.workflowtask_id, 'done', false,
      every.num - coalesce((select sum(num)::bigint from notable
        where notable.dataset_id = every.dataset_id and notable.workflowtask_id = every.workflowtask_id), 0)
    from every`.execute(db);
  return rows;
}
