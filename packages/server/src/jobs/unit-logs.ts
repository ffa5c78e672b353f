/** The logs of units: from the files of the job, or from the cluster where the unit is at work. */
import { join, relative } from 'node:path';

import type { User } from '@service/contract';

import { refuse, Refusal } from '../http/index.ts';
import type { Logger } from '../logging/index.ts';
import type { Clusters } from '../slurm/index.ts';
import type { JobFiles } from './files/index.ts';
import { isOf, openHistory, OTHER_RUN, type TaskOnDataset } from './history.ts';
import type { LogReader } from './log-readers.ts';
import * as store from './store/history.ts';
import type { Executor } from './store/jobs.ts';

export interface LogParts {
  db: Executor;
  files: JobFiles;
  clusters: Clusters;
  log: Logger;
  reader: LogReader;
}

/** Logs come here when their units have ended. Until then they are read where they are written. */
async function logOnCluster(
  { files, clusters, reader }: LogParts,
  unit: store.UnitWithLog,
): Promise<string | undefined> {
  const { cluster, working_dir, working_dir_user, logfile, job_status } = unit;
  if (!cluster || job_status !== 'submitted' || working_dir === null || working_dir_user === null) return undefined;
  const path = join(working_dir_user, relative(working_dir, logfile));
  return reader.onCluster(cluster, () => clusters.readFile(cluster, path, files.logText));
}

/** The text of a log, or a sentence in its place: who looks for a log is better served by words than by an error. */
async function logText(
  parts: LogParts,
  unit: store.UnitWithLog,
  { task, dataset }: { task: string; dataset: string },
): Promise<string> {
  const { files, log } = parts;
  const { logfile, working_dir, job_status } = unit;
  try {
    const text = (await files.readLog({ working_dir }, logfile)) ?? (await logOnCluster(parts, unit));
    if (text !== undefined) return text;
  } catch (error) {
    if (error instanceof Refusal) throw error;
    log.warning(`The log ${logfile} could not be read`, error);
    return `The log of task "${task}" on dataset "${dataset}" could not be read. Try again, or ask an administrator.`;
  }
  const missing = `There is no log at ${logfile}`;
  if (job_status === 'submitted') log.info(missing);
  else log.warning(missing);
  const hint = job_status === 'submitted' ? 'It appears when the task has begun.' : 'Its files may have been removed.';
  return `The log of task "${task}" on dataset "${dataset}" is not available. ${hint}`;
}

export async function imageLog(parts: LogParts, user: User, target: TaskOnDataset, zarr_url: string): Promise<string> {
  const names = await openHistory(parts.db, user, target);
  const unit = await store.latestUnitOfImage(parts.db, { ...target, zarr_url });
  if (!unit) throw refuse(404, 'This task has not looked at this image yet.');
  return logText(parts, unit, names);
}

export async function unitLog(
  parts: LogParts,
  user: User,
  target: TaskOnDataset & { history_run_id: number; history_unit_id: number },
): Promise<string> {
  const names = await openHistory(parts.db, user, target);
  const unit = await store.findUnit(parts.db, target.history_unit_id);
  if (!unit) throw refuse(404, 'There is no unit with this id.');
  if (unit.history_run_id !== target.history_run_id) throw refuse(422, 'This unit is one of another run.');
  if (!isOf(target, unit)) throw refuse(422, OTHER_RUN);
  return logText(parts, unit, names);
}
