/** Scheduler jobs belong to a phase of a run, so that a phase has one record however often it is written. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table accounting_records_slurm
      add column history_run_id integer references history_runs on delete set null,
      add column is_init boolean`.execute(db);
  await sql`
    create unique index accounting_records_slurm_phase on accounting_records_slurm (history_run_id, is_init)
      where history_run_id is not null`.execute(db);
}
