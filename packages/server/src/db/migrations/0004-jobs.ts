/** What running jobs remember, so that another process can go on with them; times and causes of units; accounting. */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence history_changes`.execute(db);
  await sql`
    alter table jobs
      add column first_task_image_status text[],
      add column stop_requested_at timestamptz,
      add column stop_requested_by text,
      add column timestamp_first_unit timestamptz,
      add column failure json,
      add column snapshot json,
      add column service_folder text,
      add column change bigint not null default nextval('history_changes')`.execute(db);
  await sql`create index jobs_newest_of_project on jobs (project_id, start_timestamp desc, id desc)`.execute(db);
  await sql`create index jobs_changes_of_project on jobs (project_id, change)`.execute(db);
  await sql`create index jobs_newest on jobs (start_timestamp desc, id desc)`.execute(db);
  await sql`drop index jobs_project_id`.execute(db);
  await sql`
    create table job_images (
      job_id integer not null references jobs on delete cascade,
      zarr_url text collate "C" not null,
      constraint job_images_unique primary key (job_id, zarr_url)
    )`.execute(db);
  await sql`
    alter table history_runs
      add column task_index integer,
      add column timestamp_ended timestamptz,
      add column num_new_images integer not null default 0,
      add column failure json,
      add column change bigint not null default nextval('history_changes')`.execute(db);
  // A task runs once in a job, however often the service is interrupted.
  await sql`create unique index history_runs_once on history_runs (job_id, task_index)`.execute(db);
  await sql`
    create index history_runs_latest on history_runs (dataset_id, workflowtask_id, timestamp_started desc)`.execute(db);
  await sql`drop index history_runs_dataset_id`.execute(db);
  await sql`drop index history_runs_job_id`.execute(db);
  await sql`
    alter table history_units
      add column number integer not null default 0,
      add column is_init boolean not null default false,
      add column timestamp_started timestamptz,
      add column timestamp_ended timestamptz,
      add column exit_code integer,
      add column signal integer,
      add column cause text constraint history_units_cause_known check (cause in
        ('error', 'memory', 'time_limit', 'signal', 'start', 'output', 'stopped', 'lost')),
      add column message text,
      add column num_warnings integer not null default 0,
      add column cpu_seconds double precision,
      add column peak_memory_bytes bigint,
      add column memory_limit_bytes bigint,
      add column scheduler_job_id integer,
      add column node text,
      add column change bigint not null default nextval('history_changes')`.execute(db);
  await sql`drop index history_units_history_run_id`.execute(db);
  await sql`create index history_units_of_run on history_units (history_run_id, is_init, number)`.execute(db);
  await sql`create index history_units_changes on history_units (history_run_id, change)`.execute(db);
  await changes(db);
  await counts(db);
  await accounting(db);
}

/** Who watches a job asks for what has a higher number than what it has seen. */
async function changes(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function count_history_change() returns trigger language plpgsql as $body$
    begin
      new.change := nextval('history_changes');
      return new;
    end
    $body$`.execute(db);
  for (const table of ['jobs', 'history_runs', 'history_units']) {
    await sql`
      create trigger ${sql.ref(`${table}_change`)} before update on ${sql.table(table)}
        for each row execute function count_history_change()`.execute(db);
  }
}

/**
 * How many units of a run, and how many images of a task, are in which state: people look at these numbers all the time, and
 * a run may have a million units. Triggers keep them right, whoever writes.
 */
async function counts(db: Kysely<unknown>): Promise<void> {
  // Compound tasks keep their units `submitted` until all have ended, so that times and causes come first.
  await sql`
    create function unit_state(status text, cause text, started timestamptz, ended timestamptz)
      returns text language sql immutable parallel safe return
      case when cause is not null then 'failed'
           when ended is not null then 'done'
           when status <> 'submitted' then status
           when started is not null then 'running'
           else 'waiting' end`.execute(db);
  await sql`
    create table history_unit_counts (
      history_run_id integer not null references history_runs on delete cascade,
      is_init boolean not null,
      state text not null,
      status text not null,
      cause text not null,
      has_warnings boolean not null,
      num_units integer not null,
      constraint history_unit_counts_unique
        primary key (history_run_id, is_init, state, status, cause, has_warnings)
    )`.execute(db);
  await sql`
    create table history_image_counts (
      dataset_id integer not null references datasets on delete cascade,
      workflowtask_id integer not null references workflow_tasks on delete cascade,
      status text not null,
      has_warnings boolean not null,
      num_images integer not null,
      constraint history_image_counts_unique primary key (workflowtask_id, dataset_id, status, has_warnings)
    )`.execute(db);
  await sql`
    insert into history_unit_counts
    select history_run_id, is_init, unit_state(status, cause, timestamp_started, timestamp_ended), status,
      coalesce(cause, ''), has_warnings, count(*)
    from history_units group by 1, 2, 3, 4, 5, 6`.execute(db);
  await sql`
    insert into history_image_counts
    select cache.dataset_id, cache.workflowtask_id, unit.status, unit.has_warnings, count(*)
    from history_image_cache cache join history_units unit on unit.id = cache.latest_history_unit_id
    group by 1, 2, 3, 4`.execute(db);
  await unitCountTriggers(db);
  await imageCountTriggers(db);
}

async function unitCountTriggers(db: Kysely<unknown>): Promise<void> {
  const grouped = (rows: 'old_rows' | 'new_rows', sign: number) => sql`
    select history_run_id, is_init, unit_state(status, cause, timestamp_started, timestamp_ended) as state, status,
      coalesce(cause, '') as cause, has_warnings, ${sql.lit(sign)} * count(*) as num
    from ${sql.table(rows)} group by 1, 2, 3, 4, 5, 6`;
  const add = (counted: ReturnType<typeof grouped>) => sql`
    insert into history_unit_counts as c
    select history_run_id, is_init, state, status, cause, has_warnings, sum(num) from (${counted}) counted
    group by 1, 2, 3, 4, 5, 6 having sum(num) <> 0
    on conflict (history_run_id, is_init, state, status, cause, has_warnings)
      do update set num_units = c.num_units + excluded.num_units`;
  await sql`
    create function count_history_units() returns trigger language plpgsql as $body$
    begin
      if tg_op = 'INSERT' then
        ${add(grouped('new_rows', 1))};
      else
        ${add(sql`${grouped('new_rows', 1)} union all ${grouped('old_rows', -1)}`)};
      end if;
      return null;
    end
    $body$`.execute(db);
  await sql`
    create trigger history_units_counted_on_insert after insert on history_units referencing new table as new_rows
      for each statement execute function count_history_units()`.execute(db);
  await sql`
    create trigger history_units_counted_on_update after update on history_units
      referencing old table as old_rows new table as new_rows
      for each statement execute function count_history_units()`.execute(db);
}

/** The first half of a lock's name; the second is the dataset. */
const IMAGE_COUNTS_LOCK = 4;

async function imageCountTriggers(db: Kysely<unknown>): Promise<void> {
  const add = (counted: ReturnType<typeof sql>) => sql`
    insert into history_image_counts as c
    select dataset_id, workflowtask_id, status, has_warnings, sum(num) from (${counted}) counted
    group by 1, 2, 3, 4 having sum(num) <> 0
    on conflict (workflowtask_id, dataset_id, status, has_warnings)
      do update set num_images = c.num_images + excluded.num_images`;
  const cached = (rows: 'old_rows' | 'new_rows', sign: number) => sql`
    select cache.dataset_id, cache.workflowtask_id, unit.status, unit.has_warnings, ${sql.lit(sign)} * count(*) as num
    from ${sql.table(rows)} cache join history_units unit on unit.id = cache.latest_history_unit_id group by 1, 2, 3, 4`;
  const ofUnits = (rows: 'old_rows' | 'new_rows', sign: number) => sql`
    select cache.dataset_id, cache.workflowtask_id, unit.status, unit.has_warnings, ${sql.lit(sign)} * count(*) as num
    from old_rows before join new_rows after on after.id = before.id
      join ${sql.table(rows)} unit on unit.id = after.id
      join history_image_cache cache on cache.latest_history_unit_id = unit.id
    where (before.status, before.has_warnings) is distinct from (after.status, after.has_warnings) group by 1, 2, 3, 4`;
  // Somebody may remove an image while its unit ends: who counts second has to see what the first one did.
  const oneAtATime = (datasets: ReturnType<typeof sql>) => sql`
    perform pg_advisory_xact_lock(${sql.lit(IMAGE_COUNTS_LOCK)}, dataset_id) from (
      select distinct dataset_id from ${datasets} order by 1
    ) counted`;
  // What is deleted may be going with its task or dataset, and takes its counts along: nothing must be added then.
  await sql`
    create function count_history_images() returns trigger language plpgsql as $body$
    begin
      if tg_op = 'DELETE' then
        ${oneAtATime(sql`old_rows`)};
      else
        ${oneAtATime(sql`new_rows`)};
      end if;
      if tg_op = 'INSERT' then
        ${add(cached('new_rows', 1))};
      elsif tg_op = 'UPDATE' then
        ${add(sql`${cached('new_rows', 1)} union all ${cached('old_rows', -1)}`)};
      else
        update history_image_counts c set num_images = c.num_images + gone.num
        from (${cached('old_rows', -1)}) gone
        where c.dataset_id = gone.dataset_id and c.workflowtask_id = gone.workflowtask_id
          and c.status = gone.status and c.has_warnings = gone.has_warnings;
      end if;
      return null;
    end
    $body$`.execute(db);
  await sql`
    create function count_images_of_units() returns trigger language plpgsql as $body$
    begin
      ${oneAtATime(sql`history_runs where id in (select history_run_id from new_rows)`)};
      ${add(sql`${ofUnits('new_rows', 1)} union all ${ofUnits('old_rows', -1)}`)};
      return null;
    end
    $body$`.execute(db);
  await sql`
    create trigger history_image_cache_counted_on_insert after insert on history_image_cache
      referencing new table as new_rows for each statement execute function count_history_images()`.execute(db);
  await sql`
    create trigger history_image_cache_counted_on_update after update on history_image_cache
      referencing old table as old_rows new table as new_rows
      for each statement execute function count_history_images()`.execute(db);
  await sql`
    create trigger history_image_cache_counted_on_delete after delete on history_image_cache
      referencing old table as old_rows for each statement execute function count_history_images()`.execute(db);
  await sql`
    create trigger history_units_images_counted after update on history_units
      referencing old table as old_rows new table as new_rows
      for each statement execute function count_images_of_units()`.execute(db);
}

async function accounting(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table accounting_records (
      id integer generated by default as identity primary key,
      user_id integer not null references users,
      timestamp timestamptz not null default now(),
      num_tasks integer not null,
      num_new_images integer not null
    )`.execute(db);
  await sql`create index accounting_records_user on accounting_records (user_id, timestamp)`.execute(db);
  await sql`create index accounting_records_timestamp on accounting_records (timestamp)`.execute(db);
  await sql`
    create table accounting_records_slurm (
      id integer generated by default as identity primary key,
      user_id integer not null references users,
      timestamp timestamptz not null default now(),
      slurm_job_ids integer[] not null default '{}',
      fractal_job_id integer references jobs,
      resource_id integer references resources on delete set null
    )`.execute(db);
  for (const column of ['user_id', 'timestamp', 'fractal_job_id', 'resource_id']) {
    await sql`
      create index ${sql.ref(`accounting_records_slurm_${column}`)}
        on accounting_records_slurm (${sql.ref(column)})`.execute(db);
  }
}
