/** Waits until so many statements wait for a lock of the service's database: what is under way has come that far. */
import type { Pool } from 'pg';
import { expect } from 'vitest';

const WAITING = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

export async function untilWaiting({ pool }: { pool: Pool }, statements = 1): Promise<void> {
  await expect.poll(async () => (await pool.query(WAITING)).rowCount, { timeout: 20_000 }).toBe(statements);
}
