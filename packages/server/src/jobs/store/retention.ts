/** The SQL of old job folders. */
import { sql } from 'kysely';

import type { Database } from '../../db/index.ts';

const BATCH = 1000;

/** Jobs that ended at least so many days ago and whose work is over, oldest first. */
export async function* jobsEndedBefore(
  db: Database,
  days: number,
): AsyncGenerator<{ working_dir: string; ended: Date }> {
  let after = 0;
  for (;;) {
    const { rows } = await sql<{ id: number; working_dir: string; ended: string }>`
      select id, working_dir, end_timestamp as ended from jobs
      where id > ${after} and status <> 'submitted' and working_dir is not null
        and end_timestamp <= now() - make_interval(days => ${days})
        and not exists (select from background_work where kind = 'job' and subject_id = jobs.id)
      order by id limit ${BATCH}`.execute(db);
    for (const { working_dir, ended } of rows) yield { working_dir, ended: new Date(ended) };
    if (rows.length < BATCH) return;
    after = rows.at(-1)!.id;
  }
}
