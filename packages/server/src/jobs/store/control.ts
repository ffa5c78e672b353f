/** The SQL of stopping jobs and of labelling them by hand. */
import { sql, type Transaction } from 'kysely';

import type { JobFailure } from '@service/contract';

import type { Tables } from '../../db/index.ts';

/** The first request counts. False for a job that has ended or does not exist. */
export async function requestStop(db: Transaction<Tables>, jobId: number, email: string): Promise<boolean> {
  const result = await db
    .updateTable('jobs')
    .set({
      stop_requested_at: sql<string>`coalesce(stop_requested_at, clock_timestamp())`,
      stop_requested_by: sql<string>`coalesce(stop_requested_by, ${email})`,
    })
    .where('id', '=', jobId)
    .where('status', '=', 'submitted')
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Holds a job until the transaction ends, so that nobody else settles it. */
export const holdJob = (trx: Transaction<Tables>, jobId: number) =>
  trx.selectFrom('jobs').select(['status', 'log']).where('id', '=', jobId).forUpdate().executeTakeFirst();

/** Ends a job by hand: what its latest run has not finished has failed. What is done stays done. */
export async function labelFailed(
  trx: Transaction<Tables>,
  jobId: number,
  log: string,
  failure: JobFailure,
): Promise<void> {
  await trx
    .updateTable('jobs')
    .set({ status: 'failed', end_timestamp: sql<string>`clock_timestamp()`, log, failure: JSON.stringify(failure) })
    .where('id', '=', jobId)
    .execute();
  await sql`
    with latest as (
      select id from history_runs where job_id = ${jobId} order by timestamp_started desc, id desc limit 1
    ), units as (
      update history_units set status = 'failed', cause = coalesce(cause, 'stopped'),
        message = coalesce(message, ${failure.message}),
        timestamp_ended = coalesce(timestamp_ended, clock_timestamp())
      where history_run_id in (select id from latest) and status = 'submitted'
    )
    update history_runs set status = 'failed', timestamp_ended = coalesce(timestamp_ended, clock_timestamp())
    where id in (select id from latest)`.execute(trx);
}
