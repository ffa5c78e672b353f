/**
 * The project folder that each dataset was made in, kept with it: who had that folder may leave the project, and what is read
 * of the dataset stays within. Datasets of before get the nearest folder of those who are in the project now, if there is one.
 */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table datasets add column project_dir text`.execute(db);
  await sql`
    update datasets dataset set project_dir = (
      select dir from project_links member
      join users person on person.id = member.user_id
      cross join unnest(person.project_dirs) as dir
      where member.project_id = dataset.project_id and member.is_verified
        and starts_with(dataset.zarr_dir || '/', rtrim(dir, '/') || '/')
      order by length(dir) desc limit 1
    )`.execute(db);
}
