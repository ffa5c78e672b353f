/** History of one task on one dataset: its runs, their units, their logs. */
import type { HistoryRun, PageRequest, User } from '@service/contract';

import { refuse } from '../http/index.ts';
import type { Logger } from '../logging/index.ts';
import { openProject } from '../projects/index.ts';
import type { JobFiles } from './files/index.ts';
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

export async function listRuns(db: Executor, user: User, place: TaskOnDataset): Promise<HistoryRun[]> {
  await openHistory(db, user, place);
  return store.listRuns(db, place.dataset_id, place.workflowtask_id);
}

const OTHER_RUN = 'This run is one of another task or dataset.';

const isOf = (place: TaskOnDataset, run: { dataset_id: number; workflowtask_id: number | null }) =>
  run.dataset_id === place.dataset_id && run.workflowtask_id === place.workflowtask_id;

export async function listUnits(
  db: Executor,
  user: User,
  place: TaskOnDataset & { history_run_id: number },
  filter: store.UnitFilter,
  page: PageRequest,
) {
  await openHistory(db, user, place);
  const run = await store.findRun(db, place.history_run_id);
  if (!run) throw refuse(404, 'There is no run with this id.');
  if (!isOf(place, run)) throw refuse(422, OTHER_RUN);
  return store.pageOfUnits(db, run.id, filter, page);
}

export interface LogParts {
  db: Executor;
  files: JobFiles;
  log: Logger;
}

/** The text of a log, or a sentence in its place: who looks for a log is better served by words than by an error. */
async function logText(
  { files, log }: LogParts,
  unit: store.UnitWithLog,
  { task, dataset }: { task: string; dataset: string },
): Promise<string> {
  const { logfile, working_dir, job_status } = unit;
  try {
    const text = await files.readLog({ working_dir }, logfile);
    if (text !== undefined) return text;
  } catch (error) {
    log.warning(`The log ${logfile} could not be read`, error);
    return `The log of task "${task}" on dataset "${dataset}" could not be read. Try again, or ask an administrator.`;
  }
  const missing = `There is no log at ${logfile}`;
  if (job_status === 'submitted') log.info(missing);
  else log.warning(missing);
  const hint = job_status === 'submitted' ? 'It appears when the task has begun.' : 'Its files may have been removed.';
  return `The log of task "${task}" on dataset "${dataset}" is not available. ${hint}`;
}

export async function imageLog(parts: LogParts, user: User, place: TaskOnDataset, zarr_url: string): Promise<string> {
  const names = await openHistory(parts.db, user, place);
  const unit = await store.latestUnitOfImage(parts.db, { ...place, zarr_url });
  if (!unit) throw refuse(404, 'This task has not looked at this image yet.');
  return logText(parts, unit, names);
}

export async function unitLog(
  parts: LogParts,
  user: User,
  place: TaskOnDataset & { history_run_id: number; history_unit_id: number },
): Promise<string> {
  const names = await openHistory(parts.db, user, place);
  const unit = await store.findUnit(parts.db, place.history_unit_id);
  if (!unit) throw refuse(404, 'There is no unit with this id.');
  if (unit.history_run_id !== place.history_run_id) throw refuse(422, 'This unit is one of another run.');
  if (!isOf(place, unit)) throw refuse(422, OTHER_RUN);
  return logText(parts, unit, names);
}
