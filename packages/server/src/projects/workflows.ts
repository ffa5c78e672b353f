/** What can be done with workflows as a whole, and what is refused. Their tasks are in workflow-tasks.ts. */
import type {
  Permissions,
  User,
  Workflow,
  WorkflowCreate,
  WorkflowExport,
  WorkflowInList,
  WorkflowTask,
  WorkflowUpdate,
  WorkflowWithWarnings,
} from '@service/contract';

import { record } from '../audit/index.ts';
import { brokenConstraint, type Database } from '../db/index.ts';
import * as flow from '../engine/type-filters.ts';
import { type Acting, objectText, refuse, Written } from '../http/index.ts';
import { openProject, requireProject } from './access.ts';
import { type Executor, hasSubmittedJob, type OpenProject } from './store/access.ts';
import * as taskStore from './store/workflow-tasks.ts';
import * as store from './store/workflows.ts';
import { requireMatchingTypes, TASK_WARNINGS } from './task-access.ts';

const NO_WORKFLOW = 'There is no workflow with this id in this project.';

export interface OpenWorkflow extends OpenProject {
  workflow: store.WorkflowRow;
}

/**
 * The check that every operation inside a workflow begins with. With `hold`, in a transaction, the task list cannot
 * change and no job can begin until the transaction ends.
 */
export async function openWorkflow(
  db: Executor,
  user: User,
  projectId: number,
  workflowId: number,
  needed: Permissions,
  { hold = false }: { hold?: boolean } = {},
): Promise<OpenWorkflow> {
  const found = await store.findProjectAndWorkflow(db, { userId: user.id, projectId, workflowId });
  const opened = requireProject(found?.project, needed);
  const workflow = hold ? await store.lockWorkflow(db, projectId, workflowId) : found!.workflow;
  if (!workflow) throw refuse(404, NO_WORKFLOW);
  return { ...opened, workflow };
}

/** For changes that would pull the ground from under a running job. */
export async function requireNoSubmittedJob(db: Executor, workflowId: number, what: string): Promise<void> {
  if (await hasSubmittedJob(db, 'workflow_id', workflowId)) {
    throw refuse(422, `A job of this workflow is running. ${what} when it has ended, or stop it.`);
  }
}

/** What only the database knows for certain: others may take a name or delete something at this moment. */
const BROKEN: Record<string, [status: number, text: string]> = {
  workflows_name_unique: [422, 'This project has a workflow with this name. Choose another.'],
  workflows_project_id_fkey: [404, 'Someone has just deleted this project.'],
  workflows_template_id_fkey: [404, 'Someone has just deleted this template.'],
  workflow_tasks_task: [404, 'Someone has just deleted one of these tasks. Load the list of tasks again.'],
};

/** Turns a broken rule of the database into a refusal. */
export async function orRefused<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const broken = BROKEN[brokenConstraint(error) ?? ''];
    throw broken ? refuse(...broken) : error;
  }
}

const asShown = ({ project }: OpenProject, workflow: store.WorkflowRow) => ({ ...workflow, project });

export async function listWorkflows(
  db: Database,
  user: User,
  projectId: number,
  slim: boolean,
): Promise<WorkflowInList[]> {
  const opened = await openProject(db, user, projectId, 'r');
  const workflows = await store.listWorkflows(db, projectId);
  if (slim) {
    const numbers = await store.numbersOfTasks(db, projectId);
    return workflows.map((row) => ({ ...asShown(opened, row), num_tasks: numbers.get(row.id) ?? 0 }));
  }
  const tasks = await taskStore.tasksOfWorkflows(
    db,
    workflows.map((row) => row.id),
  );
  const lists = Map.groupBy(tasks, (task: WorkflowTask) => task.workflow_id);
  return workflows.map((row) => ({ ...asShown(opened, row), task_list: lists.get(row.id) ?? [] }));
}

export async function createWorkflow(
  db: Database,
  user: User,
  projectId: number,
  body: WorkflowCreate,
): Promise<Workflow> {
  const opened = await openProject(db, user, projectId, 'rw');
  const workflow = await orRefused(store.insertWorkflow(db, { ...body, project_id: projectId }));
  return { ...asShown(opened, workflow), task_list: [] };
}

/** A workflow as its page shows it. */
export async function readWorkflow(
  db: Executor,
  user: User,
  projectId: number,
  workflowId: number,
): Promise<Written<WorkflowWithWarnings>> {
  const found = await store.findWholeWorkflow(db, user, { projectId, workflowId }, TASK_WARNINGS);
  const opened = requireProject(found?.project, 'r');
  if (!found?.workflow) throw refuse(404, NO_WORKFLOW);
  return new Written(objectText(asShown(opened, found.workflow), { task_list: found.taskList! }, found.jobs));
}

async function reorder(db: Executor, workflowId: number, ids: number[]): Promise<void> {
  await requireNoSubmittedJob(db, workflowId, 'Change the order of its tasks');
  const present = new Set(await taskStore.taskIdsInOrder(db, workflowId));
  if (ids.length !== present.size || !ids.every((id) => present.has(id))) {
    throw refuse(422, 'Give every task of the workflow exactly once. Load the workflow again to see its tasks.');
  }
  await taskStore.setOrder(db, workflowId, ids);
}

export const updateWorkflow = (
  db: Database,
  user: User,
  projectId: number,
  workflowId: number,
  { reordered_workflowtask_ids: order, ...changes }: WorkflowUpdate,
): Promise<Written<WorkflowWithWarnings>> =>
  db.transaction().execute(async (trx) => {
    await openWorkflow(trx, user, projectId, workflowId, 'rw', { hold: true });
    await orRefused(store.updateWorkflow(trx, workflowId, changes));
    if (order != null) await reorder(trx, workflowId, order);
    return readWorkflow(trx, user, projectId, workflowId);
  });

export const deleteWorkflow = (db: Database, by: Acting, projectId: number, workflowId: number): Promise<void> =>
  db.transaction().execute(async (trx) => {
    const { workflow, project } = await openWorkflow(trx, by.user, projectId, workflowId, 'rw', { hold: true });
    await requireNoSubmittedJob(trx, workflowId, 'Delete the workflow');
    await store.deleteWorkflow(trx, workflowId);
    const details = { project: project.name };
    await record(trx, by, { action: 'workflow.delete', object: ['workflow', workflowId, workflow.name], details });
  });

export async function starWorkflow(
  db: Database,
  user: User,
  projectId: number,
  workflowId: number,
  is_starred: boolean,
): Promise<void> {
  await openWorkflow(db, user, projectId, workflowId, 'rw');
  await store.updateWorkflow(db, workflowId, { is_starred });
}

/** A workflow as import takes it; whether the caller may see it is asked before. */
export async function exportWorkflow(db: Executor, workflowId: number): Promise<WorkflowExport> {
  const workflow = await store.findWorkflowById(db, workflowId);
  if (!workflow) throw refuse(404, NO_WORKFLOW);
  const tasks = await taskStore.exportedTasks(db, workflowId);
  return {
    name: workflow.name,
    description: workflow.description,
    task_list: tasks.map(({ pkg_name, version, name, ...item }) => ({ ...item, task: { pkg_name, version, name } })),
  };
}

/** Which types of images reach each task. */
export async function typeFiltersFlow(db: Database, user: User, projectId: number, workflowId: number) {
  await openWorkflow(db, user, projectId, workflowId, 'r');
  const tasks = await taskStore.typesInWorkflow(db, workflowId);
  if (tasks.length === 0) throw refuse(422, 'This workflow has no tasks yet. Add some first.');
  for (const task of tasks) requireMatchingTypes(task.name, task.input_types, task.type_filters);
  return flow.typeFiltersFlow(tasks);
}
