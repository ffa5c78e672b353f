/** What is done to single tasks of a workflow without a dialog of its own. Refusals are thrown as an ApiProblem. */
import type { Task, WorkflowTask } from '@service/contract';

import { call } from '#lib/api/client.ts';
import { copyOf, newTask } from '#lib/workflow/edit/arguments.ts';

interface WorkflowLike {
  id: number;
  task_list: readonly { id: number }[];
}

/** A full copy right behind the original: arguments, resources, filters, alias and description. Gives its id. */
export async function duplicateTask(project_id: number, workflow: WorkflowLike, task: WorkflowTask): Promise<number> {
  const at = workflow.task_list.findIndex(({ id }) => id === task.id);
  const params = { project_id, workflow_id: workflow.id };
  // what is saved now, with numbers as they were written
  const saved = await call(
    'projects.getWorkflowTask',
    { params: { ...params, workflow_task_id: task.id } },
    { exact: true },
  );
  const [copy] = await call(
    'projects.createWorkflowTasks',
    { params, query: { order: at + 1 }, body: [copyOf(saved)] },
    { exact: true },
  );
  return copy!.id;
}

export async function deleteTask(project_id: number, workflow: { id: number }, task: { id: number }): Promise<void> {
  const params = { project_id, workflow_id: workflow.id, workflow_task_id: task.id };
  await call('projects.deleteWorkflowTask', { params });
}

/** Adds tasks with the defaults of their schemas, all in one request; `order` undefined puts them at the end. */
export async function addTasks(
  project_id: number,
  workflow_id: number,
  ids: readonly number[],
  order: number | undefined,
): Promise<number[]> {
  const tasks: Task[] = await Promise.all(
    ids.map((task_id) => call('tasks.getTask', { params: { task_id } }, { exact: true })),
  );
  const added = await call(
    'projects.createWorkflowTasks',
    {
      params: { project_id, workflow_id },
      query: order === undefined ? {} : { order },
      body: tasks.map(newTask),
    },
    { exact: true },
  );
  return added.map(({ id }) => id);
}
