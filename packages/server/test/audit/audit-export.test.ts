/** Exports of the audit log: each record is read once, a piece at a time, however many match. */
import { sql, type Transaction } from 'kysely';
import { describe, expect, it } from 'vitest';

import { recordsInBatches } from '../../src/audit/store.ts';
import type { Tables } from '../../src/db/index.ts';
import { startService } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';

const service = await startService({ background: false });
const { db } = service.database;

const RECORDS = 200_000;
const PIECE = 5000;

await sql`
  insert into audit_log (via, address, action, object_type, object_id, object_name, timestamp)
  select 'session', 'crowd', 'job.stop', 'job', i, case when i % 1000 = 0 then 'rare' else 'usual' end,
    '2020-01-01'::timestamptz + (i / 3) * interval '1 second'
  from generate_series(1, ${sql.lit(RECORDS)}) i`.execute(db);
// as PostgreSQL does by itself a little later
await sql`analyze audit_log`.execute(db);

/** Records of the log that this connection has read. What a transaction before it read may still be counted here, so only differences say something. */
async function recordsRead(trx: Transaction<Tables>): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select (coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read
    from pg_stat_xact_user_tables where relname = 'audit_log'`.execute(trx);
  return rows[0]!.read;
}

/** What an export gives, how many statements it takes, and how many records the database reads for it. */
async function exported(text: string) {
  return db.transaction().execute(async (trx) => {
    const before = await recordsRead(trx);
    const ids: number[] = [];
    let largest = 0;
    const statements = await statementsOf(async () => {
      for await (const records of recordsInBatches(trx, { text }, PIECE)) {
        largest = Math.max(largest, records.length);
        ids.push(...records.map(({ object_id }) => object_id));
      }
    });
    return { ids, largest, statements: statements.length, read: (await recordsRead(trx)) - before };
  });
}

describe('an export by a text', () => {
  it('that all records have reads each once, in pieces', async () => {
    const { ids, largest, statements, read } = await exported('crowd');
    expect([ids.length, new Set(ids).size]).toEqual([RECORDS, RECORDS]);
    expect(largest).toBeLessThanOrEqual(PIECE);
    expect(statements).toBeLessThan(RECORDS / PIECE + 5);
    expect(read).toBeLessThan(2 * RECORDS);
  });

  it('that few records have reads few', async () => {
    const { ids, statements, read } = await exported('rare');
    expect(ids).toHaveLength(RECORDS / 1000);
    expect(ids).toEqual(ids.toSorted((one, other) => other - one));
    expect(statements).toBeLessThan(5);
    expect(read).toBeLessThan(RECORDS / 10);
  });

  it('is in the order of time, newest first, over HTTP as well', async () => {
    const { text } = await service.admin.get('/admin/v2/audit/export/', { query: { text: 'crowd usual' } });
    const times = text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',')[1]!);
    expect(times).toHaveLength(RECORDS - RECORDS / 1000);
    expect(times.every((time, index) => index === 0 || time <= times[index - 1]!)).toBe(true);
  });
});
