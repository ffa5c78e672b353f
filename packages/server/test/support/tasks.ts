/** Task groups, tasks, jobs and history, made by SQL: what stands around workflows. */
import type { Insertable } from 'kysely';
import { randomUUID } from 'node:crypto';

import type { JsonObject, TaskType } from '@service/contract';

import type { Tables } from '../../src/db/index.ts';
import { addWorkflow } from './people.ts';
import { addPerson, addProfile, addProject, type Person } from './plates.ts';
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

export interface JobFields extends Partial<Insertable<Tables['jobs']>> {
  project_id: number | null;
  workflow_id: number | null;
  dataset_id: number | null;
}

const CREATED = { timestamp_created: '2026-01-01T00:00:00Z' };

export async function addJob(service: TestService, fields: JobFields): Promise<number> {
  const project_id = fields.project_id ?? 0;
  const dump = (value: object) => JSON.stringify({ ...value, ...CREATED });
  const { id } = await service.database.db
    .insertInto('jobs')
    .values({
      user_email: 'somebody@example.org',
      dataset_dump: dump({ id: fields.dataset_id ?? 0, name: 'the data', project_id, zarr_dir: '/data' }),
      workflow_dump: dump({ id: fields.workflow_id ?? 0, name: 'the flow', project_id }),
      project_dump: dump({ id: project_id, name: 'the project' }),
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

export interface Scene {
  owner: Person;
  project: number;
  dataset: number;
  workflow: number;
  /** The tasks of the workflow, in order. */
  steps: number[];
}

/** A project with a dataset and a workflow of so many tasks, and nothing that ran. */
export async function addScene(service: TestService, types: TaskType[]): Promise<Scene> {
  const { profile_id, resource_id } = await addResourceAndProfile(service);
  const owner = await addPerson(service, profile_id);
  const project = await addProject(service, owner, `Project ${randomUUID()}`);
  const taskgroupv2_id = await addTaskGroup(service, { user_id: owner.id, resource_id });
  const workflow = await addWorkflow(service, project);
  const steps: number[] = [];
  for (const [order, task_type] of types.entries()) {
    const task_id = await addTask(service, { taskgroupv2_id, name: `Task ${order}`, type: task_type });
    const { id } = await service.database.db
      .insertInto('workflow_tasks')
      .values({ workflow_id: workflow, task_id, order, task_type })
      .returning('id')
      .executeTakeFirstOrThrow();
    steps.push(id);
  }
  return { owner, project, dataset: await addDataset(service, project), workflow, steps };
}

type RunFields = Partial<Insertable<Tables['history_runs']>> & { dataset_id: number; job_id: number };
export type UnitFields = Partial<Insertable<Tables['history_units']>>;

/** A run with these units; the images of a unit remember it as the latest. */
export async function addRunWithUnits(
  service: TestService,
  fields: RunFields,
  units: UnitFields[] = [],
): Promise<{ run: number; units: number[] }> {
  const { db } = service.database;
  const { id } = await db
    .insertInto('history_runs')
    .values({ workflowtask_dump: '{}', task_group_dump: '{}', status: 'done', num_available_images: 0, ...fields })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (units.length === 0) return { run: id, units: [] };
  const rows = await db
    .insertInto('history_units')
    .values(units.map((unit) => ({ logfile: '/log', status: 'done', ...unit, history_run_id: id })))
    .returning(['id', 'zarr_urls'])
    .execute();
  const { dataset_id, workflowtask_id } = fields;
  const seen = rows.flatMap((unit) =>
    unit.zarr_urls.map((zarr_url) => ({
      dataset_id,
      workflowtask_id: workflowtask_id!,
      zarr_url,
      latest_history_unit_id: unit.id,
    })),
  );
  if (workflowtask_id != null && seen.length > 0) {
    await db
      .insertInto('history_image_cache')
      .values(seen)
      .onConflict((conflict) =>
        conflict
          .columns(['dataset_id', 'zarr_url', 'workflowtask_id'])
          .doUpdateSet((eb) => ({ latest_history_unit_id: eb.ref('excluded.latest_history_unit_id') })),
      )
      .execute();
  }
  return { run: id, units: rows.map((row) => row.id) };
}
