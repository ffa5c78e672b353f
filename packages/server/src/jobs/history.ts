/** History of one task on one dataset: its runs and their units. */
import type { HistoryRun, PageRequest, User } from '@service/contract';

import { refuse } from '../http/index.ts';
import { openProject } from '../projects/index.ts';
import * as store from './store/history.ts';
import type { Executor } from './store/jobs.ts';

export interface TaskOnDataset {
  project_id: number;
  dataset_id: number;
  workflowtask_id: number;
}

/** The check that everything here begins with. Gives the names of the task and the dataset. */
export async function openHistory(
  db: Executor,
  user: User,
  { project_id, dataset_id, workflowtask_id }: TaskOnDataset,
): Promise<{ task: string; dataset: string }> {
  const task = await store.projectOfTask(db, workflowtask_id);
  if (!task) throw refuse(404, 'There is no workflow task with this id.');
  await openProject(db, user, project_id, 'r');
  if (task.project_id !== project_id) throw refuse(422, 'This workflow task is in another project.');
  const dataset = await store.projectOfDataset(db, dataset_id);
  if (!dataset) throw refuse(404, 'There is no dataset with this id.');
  if (dataset.project_id !== project_id) throw refuse(422, 'This dataset is in another project.');
  return { task: task.name, dataset: dataset.name };
}

export async function listRuns(db: Executor, user: User, target: TaskOnDataset): Promise<HistoryRun[]> {
  await openHistory(db, user, target);
  return store.listRuns(db, target.dataset_id, target.workflowtask_id);
}

export const OTHER_RUN = 'This run is one of another task or dataset.';

export const isOf = (target: TaskOnDataset, run: { dataset_id: number; workflowtask_id: number | null }) =>
  run.dataset_id === target.dataset_id && run.workflowtask_id === target.workflowtask_id;

export async function listUnits(
  db: Executor,
  user: User,
  target: TaskOnDataset & { history_run_id: number },
  filter: store.UnitFilter,
  page: PageRequest,
) {
  await openHistory(db, user, target);
  const run = await store.findRun(db, target.history_run_id);
  if (!run) throw refuse(404, 'There is no run with this id.');
  if (!isOf(target, run)) throw refuse(422, OTHER_RUN);
  return store.pageOfUnits(db, run.id, filter, page);
}
