/** The figures of the overview, as the database has them. */
import { sql } from 'kysely';

import type { Overview, Resource } from '@service/contract';

import { type Database, zulu } from '../db/index.ts';

const FEW = 5;
const MOST_RESOURCES = 20;

/** Signed in, and not yet somebody who may work. */
const PENDING = sql`is_active and not is_superuser and (not is_verified or profile_id is null)`;
/** Somebody wanted a stopped job to end. */
const FAILED = sql`status = 'failed' and failure ->> 'kind' is distinct from 'stopped'`;
const LAST_DAY = sql`now() - interval '24 hours'`;

interface Figures {
  running: number;
  waiting: number;
  done: number;
  failed: number;
  active: number;
  pending: number;
  ongoing: number;
  failed_activities: number;
  num_resources: number;
  database: string;
}

/** Everything that is one number. */
export async function countAll(db: Database): Promise<Figures> {
  const { rows } = await sql<Figures>`
    with submitted as (
      select count(timestamp_first_unit) as running, count(*) - count(timestamp_first_unit) as waiting
      from jobs where status = 'submitted'
    ), ended as (
      select count(*) filter (where status = 'done') as done, count(*) filter (where ${FAILED}) as failed
      from jobs where end_timestamp >= ${LAST_DAY}
    ), people as (
      select count(*) filter (where is_active) as active, count(*) filter (where ${PENDING}) as pending from users
    ), activities as (
      select count(*) filter (where status in ('pending', 'ongoing')) as ongoing,
        count(*) filter (where status = 'failed' and timestamp_ended >= ${LAST_DAY}) as failed_activities
      from task_group_activities
    )
    select submitted.*, ended.*, people.*, activities.*,
      (select count(*) from resources) as num_resources, current_setting('server_version') as database
    from submitted, ended, people, activities`.execute(db);
  return rows[0]!;
}

/** Why the newest ones failed: the first line says it. */
export async function newestFailures(db: Database): Promise<Overview['failed_jobs']> {
  const { rows } = await sql<Overview['failed_jobs'][number]>`
    select id, user_email, project_dump ->> 'name' as project_name, workflow_dump ->> 'name' as workflow_name,
      left(failure ->> 'message', 500) as message, end_timestamp
    from jobs where end_timestamp >= ${LAST_DAY} and ${FAILED}
    order by end_timestamp desc, id desc limit ${FEW}`.execute(db);
  return rows.map((row) => ({ ...row, end_timestamp: zulu(row.end_timestamp) }));
}

export async function newestPending(db: Database): Promise<Overview['pending_accounts']> {
  const { rows } = await sql<Overview['pending_accounts'][number]>`
    select id, email, timestamp_created from users where ${PENDING}
    order by timestamp_created desc, id desc limit ${FEW}`.execute(db);
  return rows.map((row) => ({ ...row, timestamp_created: zulu(row.timestamp_created) }));
}

export interface ResourceRow extends Pick<
  Resource,
  | 'id'
  | 'name'
  | 'type'
  | 'host'
  | 'prevent_new_submissions'
  | 'jobs_local_dir'
  | 'tasks_local_dir'
  | 'tasks_python_config'
> {
  jobs_poll_interval: number;
  jobs_slurm_python_worker: string | null;
  /** Of the first profile: as whom the resource can be asked. */
  username: string | null;
  ssh_key_path: string | null;
  running: number;
  waiting: number;
}

export async function listResources(db: Database): Promise<ResourceRow[]> {
  const { rows } = await sql<ResourceRow>`
    select resources.id, name, type, host, prevent_new_submissions, jobs_local_dir, tasks_local_dir,
      tasks_python_config, jobs_poll_interval,
      jobs_slurm_python_worker, profile.username, profile.ssh_key_path,
      coalesce(jobs.running, 0) as running, coalesce(jobs.waiting, 0) as waiting
    from resources
    left join lateral (
      select username, ssh_key_path from profiles where resource_id = resources.id order by id limit 1
    ) profile on true
    left join (
      select projects.resource_id, count(timestamp_first_unit) as running,
        count(*) - count(timestamp_first_unit) as waiting
      from jobs join projects on projects.id = jobs.project_id
      where status = 'submitted' group by projects.resource_id
    ) jobs on jobs.resource_id = resources.id
    order by resources.id limit ${MOST_RESOURCES}`.execute(db);
  return rows;
}
