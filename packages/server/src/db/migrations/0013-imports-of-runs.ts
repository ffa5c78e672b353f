/** Units that share their imports wait for them: when these began is known, so that nobody takes it for a full queue. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table history_runs add column timestamp_imports timestamptz`.execute(db);
}
