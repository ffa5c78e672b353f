/** Zips or removes the folders of old jobs, where the settings say so. */
import type { Database } from '../db/index.ts';
import { guarded } from '../guard.ts';
import type { Logger } from '../logging/index.ts';
import { applyRetention } from './files/index.ts';
import { jobsEndedBefore } from './store/retention.ts';

const HOUR_MS = 60 * 60 * 1000;

export interface RetentionParts {
  db: Database;
  log: Logger;
  zipAfterDays: number | null;
  removeAfterDays: number | null;
}

/** Two processes may do it at the same time: both find the same files, and what one has done the other leaves alone. */
export async function tidyUp({ db, log, zipAfterDays, removeAfterDays }: RetentionParts): Promise<void> {
  const days = [zipAfterDays, removeAfterDays].filter((value) => value !== null);
  if (days.length === 0) return;
  const jobs = jobsEndedBefore(db, Math.min(...days));
  const { zipped, removed, problems } = await applyRetention({ jobs, zipAfterDays, removeAfterDays, now: new Date() });
  if (zipped + removed > 0) log.info(`Of old jobs, ${zipped} folders were zipped and ${removed} removed`);
  for (const { working_dir, problem } of problems) log.warning(`${working_dir} stays as it is: ${problem}`);
}

/** Now and every hour. Gives back how to end it. */
export function startTidyingUp(parts: RetentionParts): () => void {
  if (parts.zipAfterDays === null && parts.removeAfterDays === null) return () => undefined;
  const failed = (error: Error) => parts.log.error('Old job folders could not be looked at', error);
  const tidy = guarded(() => tidyUp(parts), failed);
  tidy();
  const timer = setInterval(guarded(tidy, failed), HOUR_MS);
  timer.unref();
  return () => clearInterval(timer);
}
