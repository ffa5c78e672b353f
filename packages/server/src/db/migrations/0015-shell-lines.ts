/**
 * Who wrote the shell lines that a workflow brings along, and when: they run in the name of whoever starts a job. Of rows from
 * before nobody knows.
 */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table workflow_tasks
    add column shell_changed_by int references users (id) on delete set null,
    add column shell_changed_at timestamptz`.execute(db);
  await sql`alter table tasks
    add column commands_changed_by int references users (id) on delete set null,
    add column commands_changed_at timestamptz`.execute(db);
}
