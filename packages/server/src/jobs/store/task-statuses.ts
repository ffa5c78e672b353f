/**
 * The SQL of what happened with the tasks of workflows on datasets: one statement for the runs, one for their units, one
 * for the images, however many tasks there are.
 */
import { sql } from 'kysely';

import type { Cause, HistoryStatus } from '@service/contract';

import type { Executor } from './jobs.ts';

/** A workflow and the dataset it runs on. */
export interface WorkflowOnDataset {
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
  has_imports: boolean;
  num_available_images: number;
  num_new_images: number | null;
}

export type TaskWithRun = TaskRow & { run: RunRow | null };

const pairsOf = (pairs: WorkflowOnDataset[]) => sql`unnest(
  ${pairs.map((pair) => pair.workflow_id)}::int[], ${pairs.map((pair) => pair.dataset_id)}::int[]
) with ordinality as pair (workflow_id, dataset_id, number)`;

/** Every task in the order of its workflow, with its latest run on the dataset. `only` names the tasks to look at. */
export async function tasksWithLatestRuns(
  db: Executor,
  pairs: WorkflowOnDataset[],
  only?: number[],
): Promise<TaskWithRun[]> {
  type Flat = TaskRow & { run_id: number | null } & Omit<RunRow, 'id'>;
  const { rows } = await sql<Flat>`
    select pair.workflow_id, pair.dataset_id, task.id as workflowtask_id, awaiting.id as awaited_by,
           run.id as run_id, run.job_id, run.status, run.timestamp_started, run.timestamp_ended,
           run.timestamp_imports is not null as has_imports,
           run.num_available_images, run.num_new_images
    from ${pairsOf(pairs)}
    join workflow_tasks task on task.workflow_id = pair.workflow_id
    left join jobs awaiting on awaiting.dataset_id = pair.dataset_id and awaiting.workflow_id = pair.workflow_id
      and awaiting.status = 'submitted' and task."order" between awaiting.first_task_index and awaiting.last_task_index
    left join lateral (
      select * from history_runs
      where dataset_id = pair.dataset_id and workflowtask_id = task.id
      order by timestamp_started desc, id desc limit 1
    ) run on true
    where ${only === undefined ? sql`true` : sql`task.id = any(${only}::int[])`}
    order by pair.number, task."order"`.execute(db);
  return rows.map(({ workflow_id, dataset_id, workflowtask_id, awaited_by, run_id, ...run }) => ({
    workflow_id,
    dataset_id,
    workflowtask_id,
    awaited_by,
    run: run_id === null ? null : { id: run_id, ...run },
  }));
}

export interface UnitCount {
  history_run_id: number;
  is_init: boolean;
  state: 'waiting' | 'running' | 'done' | 'failed';
  cause: Cause | null;
  has_warnings: boolean;
  num: number;
}

/** The numbers are kept while units change, so that this costs the same for a million units as for one. */
export async function countUnits(db: Executor, runIds: number[]): Promise<UnitCount[]> {
  const { rows } = await sql<UnitCount>`
    select history_run_id, is_init, state, nullif(cause, '') as cause, has_warnings, num_units as num
    from history_unit_counts where history_run_id = any(${runIds}::int[]) and num_units > 0`.execute(db);
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
  const { rows } = await sql<ImageCount>`
    select dataset_id, workflowtask_id, status, has_warnings, num_images as num from history_image_counts
    where (workflowtask_id, dataset_id) in (
      select * from unnest(${tasks.map((task) => task.workflowtask_id)}::int[], ${tasks.map((task) => task.dataset_id)}::int[])
    ) and num_images > 0`.execute(db);
  return rows;
}
