/** The SQL of workflows. */
import { type ExpressionBuilder, sql } from 'kysely';

import type { WorkflowCreate, WorkflowWithWarnings } from '@service/contract';

import { builtOnce, type Tables } from '../../db/index.ts';
import type { Reader } from '../../tasks/index.ts';
import { type Executor, type Found, foundProject, projectFor } from './access.ts';
import { taskList, type Warnings } from './workflow-tasks.ts';

type InWorkflows = ExpressionBuilder<Tables, 'workflows'>;

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

type JobNumbers = Pick<WorkflowWithWarnings, 'num_jobs' | 'num_submitted_jobs' | 'last_dataset_id'>;

/** The jobs of a workflow in numbers, and the dataset of the newest one that still has its dataset. */
const jobNumbers = sql<JobNumbers>`(
  select json_build_object(
    'num_jobs', count(*),
    'num_submitted_jobs', count(*) filter (where jobs.status = 'submitted'),
    'last_dataset_id', (array_agg(jobs.dataset_id order by jobs.start_timestamp desc, jobs.id desc)
      filter (where jobs.dataset_id is not null))[1])
  from jobs where jobs.workflow_id = workflows.id)`;

interface Asked {
  userId: number;
  projectId: number;
  workflowId: number;
}

/** A project for a caller, beside one of its workflows. */
const withProject = (db: Executor, { userId, projectId, workflowId }: Asked) =>
  projectFor(db, userId, projectId)
    .leftJoin('workflows', (join) =>
      join.onRef('workflows.project_id', '=', 'projects.id').on('workflows.id', '=', workflowId),
    )
    .select([
      'workflows.id as workflow_id',
      'workflows.name as workflow_name',
      'workflows.is_starred as workflow_is_starred',
      'workflows.timestamp_created as workflow_timestamp_created',
      'workflows.description as workflow_description',
      'workflows.template_id',
    ]);

type WithProject = Awaited<ReturnType<ReturnType<typeof withProject>['executeTakeFirstOrThrow']>>;

interface FoundWorkflow {
  project: Found;
  workflow: WorkflowRow | undefined;
}

function foundWorkflow(row: WithProject): FoundWorkflow {
  const project = foundProject(row);
  if (row.workflow_id === null) return { project, workflow: undefined };
  const workflow = {
    id: row.workflow_id,
    name: row.workflow_name!,
    project_id: row.id,
    is_starred: row.workflow_is_starred!,
    timestamp_created: row.workflow_timestamp_created!,
    description: row.workflow_description,
    template_id: row.template_id,
  };
  return { project, workflow };
}

const selectWithProject = builtOnce(withProject);

/** A project for a caller, with one of its workflows if it is there. */
export async function findProjectAndWorkflow(db: Executor, asked: Asked): Promise<FoundWorkflow | undefined> {
  const [row] = await selectWithProject(db, asked);
  return row && foundWorkflow(row);
}

/** Of projects that the caller has no access to, tasks are not even looked for. */
const selectWhole = builtOnce((db, { profileId, ...given }: Asked & Warnings & { profileId: number | null }) =>
  withProject(db, given).select((eb) => [
    jobNumbers.as('jobs'),
    eb
      .case()
      .when('link.permissions', 'is not', null)
      .then(taskList(eb as InWorkflows, { id: given.userId, profile_id: profileId }, given))
      .end()
      .as('task_list'),
  ]),
);

export interface WholeWorkflow extends FoundWorkflow {
  jobs: JobNumbers;
  /** A JSON text. */
  taskList: string | null;
}

/** The same with all that its page shows, in one statement. */
export async function findWholeWorkflow(
  db: Executor,
  user: Reader,
  { projectId, workflowId }: Pick<Asked, 'projectId' | 'workflowId'>,
  warnings: Warnings,
): Promise<WholeWorkflow | undefined> {
  const asked = { userId: user.id, profileId: user.profile_id, projectId, workflowId };
  const [row] = await selectWhole(db, { ...asked, ...warnings });
  return row && { ...foundWorkflow(row), jobs: row.jobs, taskList: row.task_list };
}

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
