/** Forgets old records, where the settings say so: they name people and their addresses. */
import type { Database } from '../db/index.ts';
import { guarded } from '../guard.ts';
import type { Logger } from '../logging/index.ts';
import { forgetRecords } from './store.ts';

const HOUR_MS = 60 * 60 * 1000;
const AT_A_TIME = 10_000;

interface Forgetting {
  db: Database;
  log: Logger;
  /** Null: never. */
  keepDays: number | null;
}

async function forget({ db, log, keepDays }: Forgetting): Promise<void> {
  let all = 0;
  for (let some = AT_A_TIME; some === AT_A_TIME; all += some) some = await forgetRecords(db, keepDays!, AT_A_TIME);
  if (all > 0) log.info(`${all} records of the audit log were older than ${keepDays} days and are gone`);
}

/** Now and every hour. Gives back how to end it. */
export function startForgetting(parts: Forgetting): () => void {
  if (parts.keepDays === null) return () => undefined;
  const failed = (error: Error) => parts.log.error('Old records of the audit log could not be removed', error);
  const look = guarded(() => forget(parts), failed);
  look();
  const timer = setInterval(guarded(look, failed), HOUR_MS);
  timer.unref();
  return () => clearInterval(timer);
}
