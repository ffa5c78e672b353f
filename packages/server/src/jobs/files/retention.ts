/** What happens with the files of jobs that ended long ago. */
import { lstat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';

import { archiveFolder, temporaryZipPath, zipPath } from './archive.ts';
import { remove } from './folder.ts';
import { unlessGone } from '../../hosts/index.ts';

/** Paths come from the database; nothing is removed that does not have the name of a job folder. */
const JOB_FOLDER = /^proj_v2_\d{7,}_wf_\d{7,}_job_\d{7,}_\d{8}_\d{6}$/;

const DAY_MS = 24 * 60 * 60 * 1000;

interface EndedJob {
  working_dir: string;
  ended: Date;
}

export interface RetentionOptions {
  jobs: AsyncIterable<EndedJob> | Iterable<EndedJob>;
  /** After so many days a folder is kept as a zip only; null: never. */
  zipAfterDays: number | null;
  /** After so many days folder and zip are removed; null: never. */
  removeAfterDays: number | null;
  now: Date;
}

export interface RetentionResult {
  zipped: number;
  removed: number;
  problems: { working_dir: string; problem: string }[];
}

/** Goes through all jobs; a job that fails does not keep the others waiting. */
export async function applyRetention(options: RetentionOptions): Promise<RetentionResult> {
  const result: RetentionResult = { zipped: 0, removed: 0, problems: [] };
  for await (const job of options.jobs) {
    try {
      const outcome = await treat(job, options);
      if (outcome) result[outcome] += 1;
    } catch (error) {
      result.problems.push({ working_dir: job.working_dir, problem: (error as Error).message });
    }
  }
  return result;
}

async function treat(
  { working_dir, ended }: EndedJob,
  { zipAfterDays, removeAfterDays, now }: RetentionOptions,
): Promise<'zipped' | 'removed' | undefined> {
  const days = (now.getTime() - ended.getTime()) / DAY_MS;
  const isOlder = (limit: number | null) => limit !== null && days >= limit;
  if (!isOlder(removeAfterDays) && !isOlder(zipAfterDays)) return undefined;
  if (!JOB_FOLDER.test(basename(working_dir)) || resolve(working_dir) !== working_dir) {
    throw new Error('This is not the name of a job folder, so nothing was changed');
  }
  return isOlder(removeAfterDays) ? removeAll(working_dir) : zipFolder(working_dir);
}

async function removeAll(working_dir: string): Promise<'removed' | undefined> {
  const paths = [working_dir, zipPath(working_dir), temporaryZipPath(working_dir)];
  const found = await Promise.all(paths.map((path) => unlessGone(lstat(path))));
  if (found.every((there) => there === undefined)) return undefined;
  for (const path of paths) await remove(path);
  return 'removed';
}

async function zipFolder(working_dir: string): Promise<'zipped' | undefined> {
  if (!(await unlessGone(lstat(working_dir)))?.isDirectory()) return undefined;
  if (!(await archiveFolder(working_dir, 0))) {
    throw new Error('The folder changed while it was zipped, so it stays beside its zip');
  }
  return 'zipped';
}
