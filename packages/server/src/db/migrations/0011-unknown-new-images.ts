/** Of imported runs nobody recorded how many images they made: that is not zero, and those that made some are looked for. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table history_runs alter column num_new_images drop not null`.execute(db);
  // there was nothing before an import, and what came after it was counted
  await sql`
    update history_runs set num_new_images = null
    where timestamp_started < (select min(started) from imports)`.execute(db);
}
