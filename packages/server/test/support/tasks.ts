/** Task groups, tasks, jobs and history, made by SQL: what stands around workflows. */
import { randomUUID } from 'node:crypto';

import type { JsonObject, TaskType } from '@service/contract';

import { addProfile } from './plates.ts';
import type { TestService } from './server.ts';

/** A resource with a profile on it. */
export async function addResourceAndProfile(
  service: TestService,
): Promise<{ resource_id: number; profile_id: number }> {
  const profile_id = await addProfile(service);
  const { resource_id } = await service.database.db
    .selectFrom('profiles')
    .select('resource_id')
    .where('id', '=', profile_id)
    .executeTakeFirstOrThrow();
  return { resource_id, profile_id };
}

export interface TaskGroupFields {
  user_id: number;
  resource_id: number;
  user_group_id?: number | null;
  pkg_name?: string;
  version?: string;
  active?: boolean;
}

export async function addTaskGroup(service: TestService, fields: TaskGroupFields): Promise<number> {
  const unique = randomUUID();
  const { id } = await service.database.db
    .insertInto('task_groups')
    .values({ origin: 'pypi', pkg_name: `pkg ${unique}`, version: '1.0.0', path: `/tasks/${unique}`, ...fields })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export interface TaskFields {
  taskgroupv2_id: number;
  name?: string;
  type?: TaskType;
  is_core?: boolean;
  meta_non_parallel?: JsonObject;
  meta_parallel?: JsonObject;
  args_schema_non_parallel?: JsonObject | null;
  args_schema_parallel?: JsonObject | null;
  input_types?: Record<string, boolean>;
  output_types?: Record<string, boolean>;
}

const text = (value: JsonObject | null | undefined) => (value == null ? value : JSON.stringify(value));

export async function addTask(service: TestService, fields: TaskFields): Promise<number> {
  const { id } = await service.database.db
    .insertInto('tasks')
    .values({
      taskgroupv2_id: fields.taskgroupv2_id,
      name: fields.name ?? `Task ${randomUUID()}`,
      type: fields.type ?? 'compound',
      version: '0',
      ...(fields.is_core === undefined ? {} : { is_core: fields.is_core }),
      meta_non_parallel: JSON.stringify(fields.meta_non_parallel ?? {}),
      meta_parallel: JSON.stringify(fields.meta_parallel ?? {}),
      args_schema_non_parallel: text(fields.args_schema_non_parallel),
      args_schema_parallel: text(fields.args_schema_parallel),
      input_types: JSON.stringify(fields.input_types ?? {}),
      output_types: JSON.stringify(fields.output_types ?? {}),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function addDataset(service: TestService, project_id: number, name = 'Data'): Promise<number> {
  const { id } = await service.database.db
    .insertInto('datasets')
    .values({ name, project_id, zarr_dir: `/data/${randomUUID()}` })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export interface JobFields {
  project_id: number;
  workflow_id: number;
  dataset_id: number | null;
  status?: 'submitted' | 'done' | 'failed';
  first_task_index?: number;
  last_task_index?: number;
}

export async function addJob(service: TestService, fields: JobFields): Promise<number> {
  const { id } = await service.database.db
    .insertInto('jobs')
    .values({
      user_email: 'somebody@example.org',
      dataset_dump: '{}',
      workflow_dump: '{}',
      project_dump: '{}',
      fractal_server_version: '0',
      first_task_index: 0,
      last_task_index: 0,
      ...fields,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function endJob(service: TestService, jobId: number): Promise<void> {
  await service.database.db.updateTable('jobs').set({ status: 'done' }).where('id', '=', jobId).execute();
}

/** A run of a task with one unit and one image. */
export async function addHistoryRun(
  service: TestService,
  fields: { dataset_id: number; workflowtask_id: number; job_id: number },
): Promise<number> {
  const { db } = service.database;
  const { id } = await db
    .insertInto('history_runs')
    .values({ ...fields, workflowtask_dump: '{}', task_group_dump: '{}', status: 'done', num_available_images: 1 })
    .returning('id')
    .executeTakeFirstOrThrow();
  const unit = await db
    .insertInto('history_units')
    .values({ history_run_id: id, logfile: '/log', status: 'done', zarr_urls: ['/a'] })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('history_image_cache')
    .values({
      dataset_id: fields.dataset_id,
      workflowtask_id: fields.workflowtask_id,
      zarr_url: '/a',
      latest_history_unit_id: unit.id,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return id;
}
