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
           unit.*, run.num_new_images
    from history_runs run
    cross join lateral (
      select count(*) as num_units,
             count(*) filter (where status = 'submitted') as num_submitted_units,
             count(*) filter (where status = 'done') as num_done_units,
             count(*) filter (where status = 'failed') as num_failed_units,
             count(*) filter (where has_warnings) as num_units_with_warnings,
             sum(cpu_seconds) as cpu_seconds,
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
    select min(began) as start, coalesce(extract(epoch from max(ended) - min(began)), 0)::float8 as seconds
    from (${started(jobId)}) units`.execute(db);
  return rows[0]!;
}

export interface Bins {
  start: string;
  seconds: number;
  count: number;
}

const bin = (moment: 'began' | 'ended' | 'moment', { start, seconds, count }: Bins) => sql`
  greatest(0, least(${count}::int - 1,
    floor(extract(epoch from ${sql.ref(moment)} - ${start}::timestamptz) / ${seconds}::float8)::int))`;

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

export interface Flow {
  bin: number;
  /** The most units that ran at once, counted from the start of the job. */
  most: number;
  /** Begun less ended. */
  change: number;
}

/** For each bin in which something began or ended. */
export async function flows(db: Executor, jobId: number, bins: Bins): Promise<Flow[]> {
  const { rows } = await sql<Flow>`
    with units as materialized (${started(jobId)}),
    moments as (
      select began as moment, 1 as step from units union all select ended, -1 from units
    ), running as (
      select moment, step, sum(step) over (order by moment, step rows unbounded preceding) as num from moments
    )
    select ${bin('moment', bins)} as bin, max(num) as most, sum(step) as change
    from running group by 1 order by 1`.execute(db);
  return rows;
}
