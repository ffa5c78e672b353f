/** The SQL of projects. */
import { sql, type Updateable } from 'kysely';

import type { PageRequest, ProjectAdmin, ProjectInList } from '@service/contract';

import { contains, pageOf, rowsOf, type Tables } from '../../db/index.ts';
import type { Executor } from './access.ts';

interface NewProject {
  name: string;
  description: string | null;
  resource_id: number;
  owner_id: number;
}

export const insertProject = (db: Executor, project: NewProject) =>
  db
    .insertInto('projects')
    .values(project)
    .returning(['id', 'name', 'description', 'is_starred', 'timestamp_created'])
    .executeTakeFirstOrThrow();

/** The columns after the change, or nothing when the project is gone. */
export const updateProject = (db: Executor, projectId: number, change: Updateable<Tables['projects']>) =>
  db
    .updateTable('projects')
    .set(change)
    .where('id', '=', projectId)
    .returning(['name', 'description', 'is_starred'])
    .executeTakeFirst();

export async function deleteProject(db: Executor, projectId: number): Promise<void> {
  await db.deleteFrom('projects').where('id', '=', projectId).execute();
}

interface ListRow extends Omit<ProjectInList, 'last_job'> {
  job_id: number | null;
  job_status: string;
  job_timestamp: string;
  workflow_name: string | null;
  dataset_name: string | null;
  task_name: string | null;
  has_warnings: boolean;
  stopped: boolean;
  waiting: number | null;
  running: number;
  done: number;
  failed: number;
}

function listed(row: ListRow): ProjectInList {
  const { job_id, job_status, job_timestamp, workflow_name, dataset_name, task_name, has_warnings, ...rest } = row;
  const { stopped, waiting, running, done, failed, ...project } = rest;
  if (job_id === null) return { ...project, last_job: null };
  const last_job = {
    id: job_id,
    status: job_status,
    stopped,
    has_warnings,
    workflow_name: workflow_name ?? '',
    dataset_name: dataset_name ?? '',
    task_name,
    timestamp: job_timestamp,
    progress: waiting === null ? null : { waiting, running, done, failed },
  };
  return { ...project, last_job };
}

/** The projects of a person, owned or shared and accepted, with what is in them and how their newest job fares. */
export async function listProjects(db: Executor, userId: number, isOwner: boolean): Promise<ProjectInList[]> {
  const { rows } = await sql<ListRow>`
    with mine as materialized (
      select p.id, p.name, p.description, p.is_starred, p.timestamp_created,
             l.is_owner, l.permissions, o.email as owner_email
      from project_links l
      join projects p on p.id = l.project_id
      join users o on o.id = p.owner_id
      where l.user_id = ${userId} and l.is_verified and l.is_owner = ${isOwner}
    )
    select mine.*,
           coalesce(d.num_datasets, 0) as num_datasets,
           coalesce(w.num_workflows, 0) as num_workflows,
           1 + coalesce(g.num_guests, 0) as num_members,
           coalesce(d.image_count, 0) as image_count,
           job.id as job_id, job.status as job_status, job.start_timestamp as job_timestamp,
           job.workflow_dump ->> 'name' as workflow_name, job.dataset_dump ->> 'name' as dataset_name,
           run.task_name, warned.has_warnings, units.waiting, units.running, units.done, units.failed,
           coalesce(job.failure ->> 'kind', '') = 'stopped' as stopped
    from mine
    left join (
      select project_id, count(*) as num_datasets, sum(num_images) as image_count
      from datasets where project_id in (select id from mine) group by project_id
    ) d on d.project_id = mine.id
    left join (
      select project_id, count(*) as num_workflows
      from workflows where project_id in (select id from mine) group by project_id
    ) w on w.project_id = mine.id
    left join (
      select project_id, count(*) as num_guests
      from project_guests where is_verified and project_id in (select id from mine) group by project_id
    ) g on g.project_id = mine.id
    left join lateral (
      select id from jobs where project_id = mine.id order by start_timestamp desc, id desc limit 1
    ) newest on true
    left join jobs job on job.id = newest.id
    left join lateral (
      select id, workflowtask_dump -> 'task' ->> 'name' as task_name
      from history_runs where job_id = job.id order by timestamp_started desc, id desc limit 1
    ) run on true
    left join lateral (
      select coalesce(sum(num_units) filter (where state = 'waiting'), 0) as waiting,
             coalesce(sum(num_units) filter (where state = 'running'), 0) as running,
             coalesce(sum(num_units) filter (where state = 'done'), 0) as done,
             coalesce(sum(num_units) filter (where state = 'failed'), 0) as failed
      from history_unit_counts where history_run_id = run.id and not is_init
    ) units on run.id is not null
    left join lateral (
      select exists (
        select from history_runs r join history_unit_counts c on c.history_run_id = r.id
        where r.job_id = job.id and c.has_warnings and c.num_units > 0
      ) as has_warnings
    ) warned on true
    order by mine.is_starred desc, mine.timestamp_created desc, mine.id desc`.execute(db);
  return rows.map(listed);
}

const selectForAdministrators = (db: Executor) =>
  db
    .selectFrom('projects')
    .innerJoin('users', 'users.id', 'projects.owner_id')
    .select([
      'projects.id',
      'projects.name',
      'projects.description',
      'projects.is_starred',
      'projects.timestamp_created',
      'users.email as user_email',
    ]);

export const findForAdministrators = (db: Executor, projectId: number): Promise<ProjectAdmin | undefined> =>
  selectForAdministrators(db).where('projects.id', '=', projectId).executeTakeFirst();

interface ProjectFilter {
  project_id?: number | undefined;
  name?: string | undefined;
  user_email?: string | undefined;
}

export async function pageForAdministrators(db: Executor, filter: ProjectFilter, page: PageRequest) {
  let query = selectForAdministrators(db);
  if (filter.project_id !== undefined) query = query.where('projects.id', '=', filter.project_id);
  if (filter.name !== undefined) query = query.where('projects.name', 'ilike', contains(filter.name));
  if (filter.user_email !== undefined) query = query.where('users.email', '=', filter.user_email);
  const { limit, offset } = rowsOf(page);
  const { count } = await query
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const items = await query
    .orderBy(sql`users.email collate "C"`)
    .orderBy('projects.name')
    .orderBy('projects.id')
    .limit(limit)
    .offset(offset)
    .execute();
  return pageOf(page, count, items);
}
