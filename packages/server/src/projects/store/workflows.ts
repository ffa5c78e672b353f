/** The SQL of workflows. */
import { sql } from 'kysely';

import type { WorkflowCreate } from '@service/contract';

import type { Executor } from './access.ts';

const COLUMNS = [
  'workflows.id',
  'workflows.name',
  'workflows.project_id',
  'workflows.is_starred',
  'workflows.timestamp_created',
  'workflows.description',
  'workflows.template_id',
] as const;

const inProject = (db: Executor, projectId: number) =>
  db.selectFrom('workflows').select(COLUMNS).where('workflows.project_id', '=', projectId);

export type WorkflowRow = Awaited<ReturnType<ReturnType<typeof inProject>['executeTakeFirstOrThrow']>>;

export const findWorkflow = (db: Executor, projectId: number, workflowId: number): Promise<WorkflowRow | undefined> =>
  inProject(db, projectId).where('workflows.id', '=', workflowId).executeTakeFirst();

/** For those who have asked before whether the caller may see it. */
export const findWorkflowById = (db: Executor, workflowId: number): Promise<WorkflowRow | undefined> =>
  db.selectFrom('workflows').select(COLUMNS).where('workflows.id', '=', workflowId).executeTakeFirst();

/**
 * Finds a workflow and holds it until the transaction ends: its task list stays as it is, and no job of it begins
 * meanwhile.
 */
export const lockWorkflow = (db: Executor, projectId: number, workflowId: number): Promise<WorkflowRow | undefined> =>
  inProject(db, projectId).where('workflows.id', '=', workflowId).forUpdate().executeTakeFirst();

/** The starred ones first, then by name. */
export const listWorkflows = (db: Executor, projectId: number): Promise<WorkflowRow[]> =>
  inProject(db, projectId).orderBy('is_starred', 'desc').orderBy('name').orderBy('id').execute();

/** How many tasks each workflow of a project has. */
export async function numbersOfTasks(db: Executor, projectId: number): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom('workflow_tasks')
    .innerJoin('workflows', 'workflows.id', 'workflow_tasks.workflow_id')
    .select(({ fn }) => ['workflow_tasks.workflow_id', fn.countAll<number>().as('num_tasks')])
    .where('workflows.project_id', '=', projectId)
    .groupBy('workflow_tasks.workflow_id')
    .execute();
  return new Map(rows.map((row) => [row.workflow_id, row.num_tasks]));
}

/** The jobs of a workflow in numbers, and the dataset of the newest one that still has its dataset. */
export const jobsOf = (db: Executor, workflowId: number) =>
  db
    .selectFrom('jobs')
    .select(({ fn }) => [
      fn.countAll<number>().as('num_jobs'),
      fn.countAll<number>().filterWhere('status', '=', 'submitted').as('num_submitted_jobs'),
      sql<number | null>`(array_agg(dataset_id order by start_timestamp desc, id desc)
        filter (where dataset_id is not null))[1]`.as('last_dataset_id'),
    ])
    .where('workflow_id', '=', workflowId)
    .executeTakeFirstOrThrow();

interface NewWorkflow extends WorkflowCreate {
  project_id: number;
  template_id?: number | null;
}

export const insertWorkflow = (db: Executor, workflow: NewWorkflow): Promise<WorkflowRow> =>
  db.insertInto('workflows').values(workflow).returning(COLUMNS).executeTakeFirstOrThrow();

interface Changes {
  name?: string | undefined;
  description?: string | null | undefined;
  is_starred?: boolean | undefined;
}

export async function updateWorkflow(db: Executor, workflowId: number, changes: Changes): Promise<void> {
  if (Object.values(changes).every((value) => value === undefined)) return;
  await db.updateTable('workflows').set(changes).where('id', '=', workflowId).execute();
}

export async function deleteWorkflow(db: Executor, workflowId: number): Promise<void> {
  await db.deleteFrom('workflows').where('id', '=', workflowId).execute();
}
