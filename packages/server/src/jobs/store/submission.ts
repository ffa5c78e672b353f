/** The SQL of submitting a job. */
import { sql, type Transaction } from 'kysely';

import type { JobCreate, User } from '@service/contract';

import type { Database, Tables } from '../../db/index.ts';
import { isReadable, onOwnResource } from '../../tasks/index.ts';
import type { Snapshot } from '../snapshot.ts';

type Executor = Database | Transaction<Tables>;

/** The tasks of a workflow in order, with everything that a job keeps of them and what the caller may do with each. */
export const tasksToRun = (db: Executor, user: User, workflowId: number) =>
  db
    .selectFrom('workflow_tasks')
    .innerJoin('tasks', 'tasks.id', 'workflow_tasks.task_id')
    .innerJoin('task_groups', 'task_groups.id', 'tasks.taskgroupv2_id')
    .select([
      'workflow_tasks.id',
      'workflow_tasks.workflow_id',
      'workflow_tasks.order',
      'workflow_tasks.meta_parallel',
      'workflow_tasks.meta_non_parallel',
      'workflow_tasks.args_parallel',
      'workflow_tasks.args_non_parallel',
      'workflow_tasks.type_filters',
      'workflow_tasks.task_type',
      'workflow_tasks.task_id',
      'workflow_tasks.alias',
      'workflow_tasks.description',
      'tasks.name',
      'tasks.type',
      'tasks.command_non_parallel',
      'tasks.command_parallel',
      'tasks.version',
      'tasks.input_types',
      'tasks.output_types',
      'task_groups.id as group_id',
      'task_groups.origin',
      'task_groups.pkg_name',
      'task_groups.version as group_version',
      'task_groups.python_version',
      'task_groups.pip_extras',
      'task_groups.pinned_package_versions_pre',
      'task_groups.pinned_package_versions_post',
      'task_groups.path',
      'task_groups.venv_path',
      'task_groups.archive_path',
      'task_groups.active',
    ])
    .select((eb) => [isReadable(eb, user).as('readable'), onOwnResource(eb, user).as('on_own_resource')])
    .where('workflow_tasks.workflow_id', '=', workflowId)
    .orderBy('workflow_tasks.order')
    .execute();
export type TaskToRun = Awaited<ReturnType<typeof tasksToRun>>[number];

export interface NewJob {
  project: { id: number; name: string; timestamp_created: string };
  workflow: { id: number; name: string; project_id: number; timestamp_created: string };
  dataset: { id: number; name: string; project_id: number; timestamp_created: string; zarr_dir: string };
  user: User;
  slurm_account: string | null;
  first_task_index: number;
  last_task_index: number;
  asked: JobCreate;
  snapshot: Snapshot;
  version: string;
}

/** Fails with the constraint jobs_one_submitted_per_dataset where the dataset has an unfinished job. */
export const insertJob = (trx: Transaction<Tables>, job: NewJob) =>
  trx
    .insertInto('jobs')
    .values({
      project_id: job.project.id,
      workflow_id: job.workflow.id,
      dataset_id: job.dataset.id,
      user_id: job.user.id,
      user_email: job.user.email,
      slurm_account: job.slurm_account,
      worker_init: job.asked.worker_init ?? null,
      project_dump: JSON.stringify(job.project),
      workflow_dump: JSON.stringify(job.workflow),
      dataset_dump: JSON.stringify(job.dataset),
      fractal_server_version: job.version,
      first_task_index: job.first_task_index,
      last_task_index: job.last_task_index,
      attribute_filters: JSON.stringify(job.asked.attribute_filters),
      type_filters: JSON.stringify(job.asked.type_filters),
      first_task_image_status: job.asked.first_task_image_status ?? null,
      snapshot: JSON.stringify(job.snapshot),
      // a transaction may have waited for a lock: the job begins now
      start_timestamp: sql<string>`clock_timestamp()`,
    })
    .returning(['id', 'start_timestamp'])
    .executeTakeFirstOrThrow();

export async function setFolders(
  trx: Transaction<Tables>,
  jobId: number,
  folders: { working_dir: string; working_dir_user: string; service_folder: string },
): Promise<void> {
  await trx.updateTable('jobs').set(folders).where('id', '=', jobId).execute();
}

/** False when one of them has been deactivated in the meantime. */
export async function touchTaskGroups(trx: Transaction<Tables>, ids: number[], time: string): Promise<boolean> {
  const rows = await trx
    .updateTable('task_groups')
    .set({ timestamp_last_used: time })
    .where('id', 'in', ids)
    .returning('active')
    .execute();
  return rows.every((row) => row.active);
}

export async function resourceOf(db: Executor, user: User): Promise<number | undefined> {
  if (user.profile_id === null) return undefined;
  const row = await db
    .selectFrom('profiles')
    .select('resource_id')
    .where('id', '=', user.profile_id)
    .executeTakeFirst();
  return row?.resource_id;
}

/** True when the dataset has an unfinished job. */
export async function hasUnfinishedJob(db: Executor, datasetId: number): Promise<boolean> {
  const row = await db
    .selectFrom('jobs')
    .select('id')
    .where('dataset_id', '=', datasetId)
    .where('status', '=', 'submitted')
    .executeTakeFirst();
  return row !== undefined;
}
