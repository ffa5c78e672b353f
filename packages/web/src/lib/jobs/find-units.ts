/** The units of a job that are worth a look: those that failed and those with warnings, over all its tasks. */
import { call, type DatasetIds } from '../api/client.ts';
import type { TimelineTask } from './timeline.ts';
import type { JobUnit } from './units.ts';

export interface Found {
  units: JobUnit[];
  /** How many there are; more than these when a job has very many. */
  total: number;
}

export type Wanted = 'failed' | 'warned';

const PAGE = 500;
/** Nobody reads more logs than these. */
const MOST_FAILED = 500;
const MOST_PAGES = 20;

async function unitsOf(ids: DatasetIds, task: TimelineTask, wanted: Wanted): Promise<JobUnit[]> {
  const { project_id, dataset_id } = ids;
  const { workflowtask_id, history_run_id } = task;
  if (workflowtask_id === null) return [];
  const count = wanted === 'failed' ? task.num_failed_units : task.num_units_with_warnings;
  const found: JobUnit[] = [];
  // the service knows no filter for warnings: go on until all of them were met
  for (let page = 1; page <= MOST_PAGES && found.length < Math.min(count, MOST_FAILED); page++) {
    const answer = await call('jobs.listUnits', {
      params: { project_id, history_run_id },
      query: {
        dataset_id,
        workflowtask_id,
        ...(wanted === 'failed' ? { unit_status: 'failed' as const } : {}),
        page,
        page_size: PAGE,
      },
    });
    const fitting = answer.items.filter(({ has_warnings }) => wanted === 'failed' || has_warnings);
    found.push(...fitting.map((unit) => ({ ...unit, history_run_id, workflowtask_id, task: task.alias ?? task.name })));
    if (page * PAGE >= answer.total_count) break;
  }
  return found;
}

export async function findUnits(ids: DatasetIds, tasks: readonly TimelineTask[], wanted: Wanted): Promise<Found> {
  const counts = tasks.map((task) => (wanted === 'failed' ? task.num_failed_units : task.num_units_with_warnings));
  const units = await Promise.all(
    tasks.filter((_, index) => counts[index]! > 0).map((task) => unitsOf(ids, task, wanted)),
  );
  return { units: units.flat(), total: counts.reduce((sum, count) => sum + count, 0) };
}
