/** Who chose the task of a workflow task, and when: its command runs in the name of whoever starts a job. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // there already where 0015 was run while it made these columns too
  await sql`alter table workflow_tasks
    add column if not exists task_chosen_by int references users (id) on delete set null,
    add column if not exists task_chosen_at timestamptz`.execute(db);
}
