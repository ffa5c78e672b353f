/** What ended lately is found without reading every job there ever was. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index jobs_ended on jobs (end_timestamp) where end_timestamp is not null`.execute(db);
}
