/** The SQL of background work. */
import { sql, type Transaction } from 'kysely';

import { ServiceError } from '@service/contract/errors';

import type { Database, Tables } from '../db/index.ts';

type Executor = Database | Transaction<Tables>;

export interface WorkItem {
  id: number;
  kind: string;
  subject_id: number;
  attempts: number;
  process: { pid: number; started: string } | null;
}

/** Adds work; in the transaction that makes its subject, so that neither is there without the other. */
export async function addWork(db: Executor, kind: string, subject_id: number): Promise<void> {
  await db
    .insertInto('background_work')
    .values({ kind, subject_id, leased_by: null, leased_until: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Who does a piece of work. */
export interface Lease {
  id: number;
  holder: string;
}

/** The work belongs to another process now. */
export class LeaseLost extends ServiceError {
  readonly kind = 'lease-lost';
  readonly workId: number;

  constructor(workId: number) {
    super('Another process does this now.');
    this.workId = workId;
  }
}

/** Nobody can take the work until the transaction ends; fails when somebody has taken it. */
async function holdLease(trx: Transaction<Tables>, { id, holder }: Lease): Promise<void> {
  const { rows } = await sql`
    select from background_work where id = ${id} and leased_by = ${holder} for share`.execute(trx);
  if (rows.length === 0) throw new LeaseLost(id);
}

/** A transaction that only takes effect while the work is ours. */
export const fenced = <T>(db: Database, lease: Lease, work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> =>
  db.transaction().execute(async (trx) => {
    await holdLease(trx, lease);
    return work(trx);
  });

/** Takes the oldest work that nobody holds; `mine` is what this process does already, though its lease ran out. */
export async function claimWork(
  db: Database,
  worker: string,
  kinds: string[],
  seconds: number,
  mine: number[],
): Promise<WorkItem | undefined> {
  const { rows } = await sql<WorkItem>`
    update background_work set leased_by = ${worker}, leased_until = now() + make_interval(secs => ${seconds}), attempts = attempts + 1
    where id = (
      select id from background_work
      where kind = any(${kinds}) and (leased_until is null or leased_until < now()) and id <> all(${mine})
      order by id for update skip locked limit 1
    )
    returning id, kind, subject_id, attempts, process`.execute(db);
  return rows[0];
}

/** Gives back which of the leases are still held. */
export async function renewLeases(db: Database, worker: string, ids: number[], seconds: number): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`
    update background_work set leased_until = now() + make_interval(secs => ${seconds})
    where id = any(${ids}) and leased_by = ${worker} returning id`.execute(db);
  return new Set(rows.map((row) => row.id));
}

export async function finishWork(db: Database, { id, holder }: Lease): Promise<void> {
  await db.deleteFrom('background_work').where('id', '=', id).where('leased_by', '=', holder).execute();
}

/** Gives work back, for anybody to go on with at once. */
export async function giveBack(db: Database, { id, holder }: Lease): Promise<void> {
  await db
    .updateTable('background_work')
    .set({ leased_by: null, leased_until: null })
    .where('id', '=', id)
    .where('leased_by', '=', holder)
    .execute();
}

/** Gives work back, to be tried again after a while. */
export async function postponeWork(db: Database, { id, holder }: Lease, seconds: number): Promise<void> {
  await sql`
    update background_work set leased_by = null, leased_until = now() + make_interval(secs => ${seconds})
    where id = ${id} and leased_by = ${holder}`.execute(db);
}

export async function rememberProcess(
  db: Database,
  { id, holder }: Lease,
  process: { pid: number; started: string } | null,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('background_work')
    .set({ process: process && JSON.stringify(process) })
    .where('id', '=', id)
    .where('leased_by', '=', holder)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new LeaseLost(id);
}

/** Who holds work right now. */
export async function holdersOfWork(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('background_work')
    .select('leased_by')
    .distinct()
    .where('leased_by', 'is not', null)
    .execute();
  return rows.map((row) => row.leased_by!);
}

/** Gives back the work of these holders; what somebody else has taken meanwhile is not theirs any more. */
export async function releaseWork(db: Database, holders: string[]): Promise<void> {
  if (holders.length === 0) return;
  await db
    .updateTable('background_work')
    .set({ leased_by: null, leased_until: null })
    .where('leased_by', 'in', holders)
    .execute();
}
