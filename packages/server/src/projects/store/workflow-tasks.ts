/** The SQL of the tasks in workflows. */
import { type Expression, type ExpressionBuilder, sql, type Updateable } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';

import type { JsonObject, TaskType, User, WorkflowTask } from '@service/contract';

import { type Tables, timeText } from '../../db/index.ts';
import { isReadable, type Reader } from '../../tasks/index.ts';
import type { Executor } from './access.ts';
import { taskObject } from './tasks.ts';

const OWN_COLUMNS = [
  'workflow_tasks.id',
  'workflow_tasks.workflow_id',
  'workflow_tasks.order',
  'workflow_tasks.meta_non_parallel',
  'workflow_tasks.meta_parallel',
  'workflow_tasks.args_non_parallel',
  'workflow_tasks.args_parallel',
  'workflow_tasks.type_filters',
  'workflow_tasks.task_type',
  'workflow_tasks.task_id',
  'workflow_tasks.alias',
  'workflow_tasks.description',
  'workflow_tasks.revision',
  'workflow_tasks.timestamp_modified',
] as const;

const withTasks = (db: Executor) =>
  db
    .selectFrom('workflow_tasks')
    .innerJoin('tasks', 'tasks.id', 'workflow_tasks.task_id')
    .select(OWN_COLUMNS)
    .select((eb) => taskObject(eb).as('task'))
    .orderBy('workflow_tasks.order');

/** In the order of the workflow. */
export const tasksOfWorkflows = (db: Executor, workflowIds: number[]): Promise<WorkflowTask[]> =>
  withTasks(db)
    .where('workflow_tasks.workflow_id', '=', sql<number>`any(${workflowIds}::int[])`)
    .execute();

export const workflowTasksById = (db: Executor, ids: number[]): Promise<WorkflowTask[]> =>
  withTasks(db)
    .where('workflow_tasks.id', '=', sql<number>`any(${ids}::int[])`)
    .execute();

export interface Warnings {
  no_access: string;
  inactive: string;
}

/** The tasks of a workflow in order, as a JSON text, each with a warning where the caller could not run it. */
export const taskList = (eb: ExpressionBuilder<Tables, 'workflows'>, user: Reader, warnings: Warnings) =>
  eb
    .selectFrom('workflow_tasks')
    .innerJoin('tasks', 'tasks.id', 'workflow_tasks.task_id')
    .innerJoin('task_groups', 'task_groups.id', 'tasks.taskgroupv2_id')
    .whereRef('workflow_tasks.workflow_id', '=', 'workflows.id')
    .select((inner) => {
      const own = OWN_COLUMNS.map((name) => [name.slice(name.indexOf('.') + 1), inner.ref(name)]);
      const task = jsonBuildObject({
        ...(Object.fromEntries(own) as Record<string, Expression<unknown>>),
        timestamp_modified: timeText(inner.ref('workflow_tasks.timestamp_modified')),
        task: taskObject(inner),
        warning: sql`case when ${isReadable(inner, user)} is not true then ${warnings.no_access}::text
          when ${inner.ref('task_groups.active')} is not true then ${warnings.inactive}::text end`,
      });
      return sql<string>`coalesce(json_agg(${task} order by ${inner.ref('workflow_tasks.order')})::text, '[]')`.as(
        'text',
      );
    });

export const findWorkflowTask = (
  db: Executor,
  workflowId: number,
  workflowTaskId: number,
): Promise<WorkflowTask | undefined> =>
  withTasks(db)
    .where('workflow_tasks.workflow_id', '=', workflowId)
    .where('workflow_tasks.id', '=', workflowTaskId)
    .executeTakeFirst();

/** Holds a workflow task until the transaction ends; a running job can go on. */
export async function lockWorkflowTask(db: Executor, workflowId: number, workflowTaskId: number): Promise<void> {
  await db
    .selectFrom('workflow_tasks')
    .select('id')
    .where('workflow_id', '=', workflowId)
    .where('id', '=', workflowTaskId)
    .forNoKeyUpdate()
    .execute();
}

/** What the flow of types needs. */
export const typesInWorkflow = (db: Executor, workflowId: number) =>
  db
    .selectFrom('workflow_tasks')
    .innerJoin('tasks', 'tasks.id', 'workflow_tasks.task_id')
    .select([
      'workflow_tasks.id',
      'workflow_tasks.type_filters',
      'tasks.name',
      'tasks.input_types',
      'tasks.output_types',
    ])
    .where('workflow_tasks.workflow_id', '=', workflowId)
    .orderBy('workflow_tasks.order')
    .execute();

/** What an export holds. */
export const exportedTasks = (db: Executor, workflowId: number) =>
  db
    .selectFrom('workflow_tasks')
    .innerJoin('tasks', 'tasks.id', 'workflow_tasks.task_id')
    .innerJoin('task_groups', 'task_groups.id', 'tasks.taskgroupv2_id')
    .select([
      'workflow_tasks.meta_non_parallel',
      'workflow_tasks.meta_parallel',
      'workflow_tasks.args_non_parallel',
      'workflow_tasks.args_parallel',
      'workflow_tasks.type_filters',
      'workflow_tasks.description',
      'workflow_tasks.alias',
      'task_groups.pkg_name',
      'task_groups.version',
      'tasks.name',
    ])
    .where('workflow_tasks.workflow_id', '=', workflowId)
    .orderBy('workflow_tasks.order')
    .execute();

/** The ids of a workflow's tasks, in order. */
export async function taskIdsInOrder(db: Executor, workflowId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('workflow_tasks')
    .select('id')
    .where('workflow_id', '=', workflowId)
    .orderBy('order')
    .execute();
  return rows.map((row) => row.id);
}

export interface NewWorkflowTask {
  task_id: number;
  task_type: TaskType;
  meta_non_parallel: JsonObject | null;
  meta_parallel: JsonObject | null;
  args_non_parallel: JsonObject | null;
  args_parallel: JsonObject | null;
  type_filters: Record<string, boolean>;
  description: string | null;
  alias: string | null;
}

/**
 * Adds tasks behind those that are there, and gives their ids in order. They go over as one JSON text: a statement has a
 * largest number of parameters, a workflow no largest number of tasks.
 */
export async function appendTasks(
  db: Executor,
  user: User,
  workflowId: number,
  tasks: NewWorkflowTask[],
): Promise<number[]> {
  if (tasks.length === 0) return [];
  const { rows } = await sql<{ id: number }>`
    with added as (
      insert into workflow_tasks (workflow_id, "order", task_id, task_type, meta_non_parallel, meta_parallel,
        args_non_parallel, args_parallel, type_filters, description, alias, shell_changed_by, shell_changed_at,
        task_chosen_by, task_chosen_at)
      select ${workflowId}::int,
        (select coalesce(max("order") + 1, 0) from workflow_tasks where workflow_id = ${workflowId}) + row.position - 1,
        item.*, ${user.id}::int, now(), ${user.id}::int, now()
      from json_array_elements(${JSON.stringify(tasks)}::json) with ordinality as row (value, position),
        json_to_record(row.value) as item (task_id int, task_type text, meta_non_parallel json, meta_parallel json,
          args_non_parallel json, args_parallel json, type_filters jsonb, description text, alias text)
      returning id, "order"
    )
    select id from added order by "order"`.execute(db);
  return rows.map((row) => row.id);
}

/** Numbers the tasks of a workflow 0, 1, … in the order of these ids. */
export async function setOrder(db: Executor, workflowId: number, ids: number[]): Promise<void> {
  await sql`
    update workflow_tasks set "order" = place.position - 1
    from unnest(${ids}::int[]) with ordinality as place (id, position)
    where workflow_tasks.id = place.id and workflow_id = ${workflowId} and "order" <> place.position - 1`.execute(db);
}

export interface WorkflowTaskChanges extends Partial<NewWorkflowTask> {
  /** Who changed its shell lines. */
  shell_changed_by?: number;
  /** Who chose another task for it. */
  task_chosen_by?: number;
}

const JSON_COLUMNS = new Set<string>([
  'meta_non_parallel',
  'meta_parallel',
  'args_non_parallel',
  'args_parallel',
  'type_filters',
] satisfies (keyof NewWorkflowTask)[]);

/** Changes the columns that are given, and counts the change. */
export async function updateWorkflowTask(db: Executor, id: number, changes: WorkflowTaskChanges): Promise<void> {
  const columns = Object.entries<unknown>({ ...changes })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, JSON_COLUMNS.has(name) && value !== null ? JSON.stringify(value) : value]);
  if (columns.length === 0) return;
  await db
    .updateTable('workflow_tasks')
    .set(Object.fromEntries(columns) as Updateable<Tables['workflow_tasks']>)
    .set((eb) => ({ revision: eb('revision', '+', 1), timestamp_modified: sql<string>`now()` }))
    .$if(changes.shell_changed_by !== undefined, (update) => update.set({ shell_changed_at: sql<string>`now()` }))
    .$if(changes.task_chosen_by !== undefined, (update) => update.set({ task_chosen_at: sql<string>`now()` }))
    .where('id', '=', id)
    .execute();
}

export async function deleteWorkflowTask(db: Executor, id: number): Promise<void> {
  await db.deleteFrom('workflow_tasks').where('id', '=', id).execute();
}

/** Whether a submitted job of the workflow has this position still before it. */
export async function isAwaited(db: Executor, workflowId: number, order: number): Promise<boolean> {
  const job = await db
    .selectFrom('jobs')
    .select('jobs.id')
    .where('jobs.workflow_id', '=', workflowId)
    .where('jobs.status', '=', 'submitted')
    .where('jobs.first_task_index', '<=', order)
    .where('jobs.last_task_index', '>=', order)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('history_runs')
            .innerJoin('workflow_tasks', 'workflow_tasks.id', 'history_runs.workflowtask_id')
            .select('history_runs.id')
            .whereRef('history_runs.job_id', '=', 'jobs.id')
            .where('workflow_tasks.workflow_id', '=', workflowId)
            .where('workflow_tasks.order', '>=', order),
        ),
      ),
    )
    .limit(1)
    .executeTakeFirst();
  return job !== undefined;
}
