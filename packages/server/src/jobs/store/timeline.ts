/** The SQL of how a job went over time. The database counts; what comes back is small, however many units there are. */
import { sql } from 'kysely';

import type { Timeline } from '@service/contract';

import type { Executor } from './jobs.ts';

type TaskOfTimeline = Timeline['tasks'][number];

/** The runs of a job with the sums over their units, in the order of the workflow. */
export async function runsOfJob(db: Executor, jobId: number): Promise<TaskOfTimeline[]> {
  const { rows } = await sql<TaskOfTimeline>`
    select run.workflowtask_id, run.task_index,
           coalesce(run.workflowtask_dump -> 'task' ->> 'name', '') as name,
           run.workflowtask_dump ->> 'alias' as alias,
           run.id as history_run_id, run.status, run.timestamp_started, run.timestamp_ended, run.num_available_images,
           counted.*, unit.*, run.num_new_images,
           run.status = 'submitted' and run.timestamp_imports is not null and not exists (
             select from history_unit_counts
             where history_run_id = run.id and not is_init and state <> 'waiting' and num_units > 0
           ) as is_starting
    from history_runs run
    cross join lateral (
      select coalesce(sum(num_units), 0) as num_units,
             coalesce(sum(num_units) filter (where status = 'submitted'), 0) as num_submitted_units,
             coalesce(sum(num_units) filter (where status = 'done'), 0) as num_done_units,
             coalesce(sum(num_units) filter (where status = 'failed'), 0) as num_failed_units,
             coalesce(sum(num_units) filter (where has_warnings), 0) as num_units_with_warnings
      from history_unit_counts where history_run_id = run.id
    ) counted
    cross join lateral (
      select sum(cpu_seconds) as cpu_seconds,
             max(peak_memory_bytes) as peak_memory_bytes,
             max(memory_limit_bytes) as memory_limit_bytes,
             coalesce(array_agg(distinct scheduler_job_id) filter (where scheduler_job_id is not null), '{}')
               as scheduler_job_ids
      from history_units where history_run_id = run.id
    ) unit
    where run.job_id = ${jobId}
    order by run.task_index nulls last, run.timestamp_started, run.id`.execute(db);
  return rows;
}

/** Started units with the time at which they left the machine; of one without an end, the end of what it was part of. */
const started = (jobId: number) => sql`
  select unit.timestamp_started as began,
         greatest(unit.timestamp_started,
           coalesce(unit.timestamp_ended, run.timestamp_ended, job.end_timestamp, now())) as ended,
         unit.timestamp_ended is not null as is_finished,
         unit.peak_memory_bytes
  from jobs job
  join history_runs run on run.job_id = job.id
  join history_units unit on unit.history_run_id = run.id
  where job.id = ${jobId} and unit.timestamp_started is not null`;

/** When the first unit began, and how many seconds lie between that and the last end. */
export async function spanOfJob(db: Executor, jobId: number): Promise<{ start: string | null; seconds: number }> {
  const { rows } = await sql<{ start: string | null; seconds: number }>`
    select min(began) as start, coalesce(date_part('epoch', max(ended) - min(began)), 0) as seconds
    from (${started(jobId)}) units`.execute(db);
  return rows[0]!;
}

export interface Bins {
  start: string;
  seconds: number;
  count: number;
}

/** Which of the bins a moment is in; `parts` cuts each bin into so many. */
const bin = (moment: 'began' | 'ended', { start, seconds, count }: Bins, parts = 1) => sql`
  greatest(0, least(${count * parts}::int - 1,
    floor(date_part('epoch', ${sql.ref(moment)} - ${start}::timestamptz) * ${parts / seconds}::float8)::int))`;

export interface Stretch {
  first: number;
  last: number;
  finished: number;
  peak_memory_bytes: number | null;
}

/** Units put together by the bins in which they began and ended: at most as many rows as there are pairs of bins. */
export async function stretches(db: Executor, jobId: number, bins: Bins): Promise<Stretch[]> {
  const { rows } = await sql<Stretch>`
    select ${bin('began', bins)} as first, ${bin('ended', bins)} as last,
           count(*) filter (where is_finished) as finished, max(peak_memory_bytes) as peak_memory_bytes
    from (${started(jobId)}) units group by 1, 2`.execute(db);
  return rows;
}

/** How many units more, or fewer, run after each part of a bin in which some began or ended. */
export async function flows(
  db: Executor,
  jobId: number,
  bins: Bins,
  parts: number,
): Promise<{ part: number; change: number }[]> {
  const { rows } = await sql<{ part: number; change: number }>`
    with units as materialized (${started(jobId)}),
    steps as (
      select ${bin('began', bins, parts)} as part, 1 as step from units
      union all select ${bin('ended', bins, parts)}, -1 from units
    )
    select part, sum(step) as change from steps group by part`.execute(db);
  return rows;
}
