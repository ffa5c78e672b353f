/** The SQL of the units of a run: planned, told of while they run, ended. As safe to do twice as the rest (execution.ts). */
import { sql, type Transaction } from 'kysely';

import type { Cause, HistoryStatus } from '@service/contract';

import type { Database, Tables } from '../../db/index.ts';

export type Trx = Transaction<Tables>;

/** Rows of one statement. */
const AT_A_TIME = 5000;

export interface NewUnit {
  number: number;
  is_init: boolean;
  logfile: string;
  zarr_urls: string[];
}

function* inPieces<T>(items: Iterable<T>): Generator<T[]> {
  let piece: T[] = [];
  for (const item of items) {
    if (piece.push(item) < AT_A_TIME) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

/** Units with one statement for thousands; those with images become what the images' status points to. */
export async function insertUnits(
  trx: Trx,
  runId: number,
  units: Iterable<NewUnit>,
  cache: { dataset_id: number; workflowtask_id: number } | null,
): Promise<void> {
  for (const rows of inPieces(units)) {
    await sql`
      insert into history_units (history_run_id, logfile, status, zarr_urls, number, is_init)
      select ${runId}, unit.logfile, 'submitted', unit.zarr_urls, unit.number, unit.is_init
      from json_to_recordset(${JSON.stringify(rows)}::json)
        as unit (number int, is_init boolean, logfile text, zarr_urls text[])
      order by unit.number`.execute(trx);
  }
  if (cache === null) return;
  await sql`
    insert into history_image_cache (dataset_id, workflowtask_id, zarr_url, latest_history_unit_id)
    select ${cache.dataset_id}, workflow_tasks.id, image.zarr_url, unit.id
    from workflow_tasks, history_units unit, unnest(unit.zarr_urls) as image (zarr_url)
    where workflow_tasks.id = ${cache.workflowtask_id} and unit.history_run_id = ${runId}
    on conflict (dataset_id, zarr_url, workflowtask_id)
      do update set latest_history_unit_id = excluded.latest_history_unit_id`.execute(trx);
}

/** The units of the second phase of a compound task; nothing where they are there already. */
export async function insertUnitsOnce(trx: Trx, runId: number, units: NewUnit[]): Promise<void> {
  const before = await trx
    .selectFrom('history_units')
    .select('id')
    .where('history_run_id', '=', runId)
    .where('is_init', '=', false)
    .limit(1)
    .executeTakeFirst();
  if (!before) await insertUnits(trx, runId, units, null);
}

export interface PlannedRow {
  number: number;
  zarr_urls: string[];
  ended: boolean;
}

/** The units of a phase as they were planned, in order. */
export async function unitsOfPhase(db: Database, runId: number, isInit: boolean): Promise<PlannedRow[]> {
  const { rows } = await sql<PlannedRow>`
    select number, zarr_urls, timestamp_ended is not null as ended from history_units
    where history_run_id = ${runId} and is_init = ${isInit} order by number`.execute(db);
  return rows;
}

/** What is left out stays as it is, or is nothing. Times are seconds since 1970. */
export interface UnitUpdate {
  number: number;
  status?: HistoryStatus | undefined;
  started?: number;
  ended?: number;
  exit_code?: number | null;
  signal?: number | null;
  cause?: Cause | undefined;
  message?: string | undefined;
  num_warnings?: number;
  cpu_seconds?: number;
  peak_memory_bytes?: number | null;
  /** On a cluster. */
  node?: string | null | undefined;
  scheduler_job_id?: number | null | undefined;
  memory_limit_bytes?: number | null | undefined;
}

export async function recordUnits(
  trx: Trx,
  jobId: number,
  runId: number,
  isInit: boolean,
  updates: UnitUpdate[],
): Promise<void> {
  for (let start = 0; start < updates.length; start += AT_A_TIME) {
    await sql`
      update history_units unit set
        status = coalesce(told.status, unit.status),
        timestamp_started = coalesce(to_timestamp(told.started), unit.timestamp_started),
        timestamp_ended = coalesce(to_timestamp(told.ended), unit.timestamp_ended),
        exit_code = told.exit_code, signal = told.signal, cause = told.cause, message = told.message,
        num_warnings = coalesce(told.num_warnings, 0), has_warnings = coalesce(told.num_warnings, 0) > 0,
        cpu_seconds = told.cpu_seconds, peak_memory_bytes = told.peak_memory_bytes,
        node = coalesce(told.node, unit.node),
        scheduler_job_id = coalesce(told.scheduler_job_id, unit.scheduler_job_id),
        memory_limit_bytes = coalesce(told.memory_limit_bytes, unit.memory_limit_bytes)
      from json_to_recordset(${JSON.stringify(updates.slice(start, start + AT_A_TIME))}::json) as told (
        number int, status text, started float8, ended float8, exit_code int, signal int, cause text, message text,
        num_warnings int, cpu_seconds float8, peak_memory_bytes bigint, node text, scheduler_job_id int,
        memory_limit_bytes bigint)
      where unit.history_run_id = ${runId} and unit.is_init = ${isInit} and unit.number = told.number`.execute(trx);
  }
  const first = updates.reduce((least, { started }) => Math.min(least, started ?? Infinity), Infinity);
  if (first === Infinity) return;
  await sql`
    update jobs set timestamp_first_unit = to_timestamp(${first})
    where id = ${jobId} and timestamp_first_unit is null`.execute(trx);
}

/** Units that have not ended. With `all`, those whose status was to follow later have failed too. */
export async function failUnits(
  trx: Trx,
  runId: number,
  { cause, message }: { cause: Cause; message: string },
  all = false,
): Promise<void> {
  await sql`
    update history_units set status = 'failed',
      cause = case when timestamp_ended is null then ${cause} else cause end,
      message = case when timestamp_ended is null then ${message} else message end,
      timestamp_ended = coalesce(timestamp_ended, clock_timestamp())
    where history_run_id = ${runId} and status = 'submitted' and (${all} or timestamp_ended is null)`.execute(trx);
}

/** Every unit of the run gets this status, whatever it had; those that have nothing to say for it get these words. */
export async function settleUnits(
  trx: Trx,
  runId: number,
  status: 'done' | 'failed',
  words: string | null = null,
): Promise<void> {
  await sql`
    update history_units set status = ${status}, message = case when cause is null then ${words} else message end
    where history_run_id = ${runId} and status <> ${status}`.execute(trx);
}

/** Outputs that do not fit together: no unit can be said to have done its work. */
export async function failAllUnits(trx: Trx, runId: number, message: string): Promise<void> {
  await sql`
    update history_units set status = 'failed', cause = coalesce(cause, 'output'), message = coalesce(message, ${message}),
      timestamp_ended = coalesce(timestamp_ended, clock_timestamp())
    where history_run_id = ${runId}`.execute(trx);
}
