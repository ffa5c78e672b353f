/** The contrast of plates, kept with the dataset. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table plate_contrasts (
      dataset_id integer not null references datasets on delete cascade,
      plate text not null,
      variant text not null,
      limits jsonb not null,
      num_wells integer not null,
      primary key (dataset_id, plate, variant)
    )`.execute(db);
}
