/** The workflow as a job ran it, in the form of an export: it can be imported again. */
import type { Job, WorkflowExport } from '@service/contract';

import type { Executor } from './store/jobs.ts';
import { type RanTask, snapshotOf, tasksOfRuns } from './store/ran-workflow.ts';

type ExportedTask = WorkflowExport['task_list'][number];

const asObject = (value: unknown) => (value ?? null) as ExportedTask['args_parallel'];
const asText = (value: unknown) => (typeof value === 'string' ? value : null);

const exported = ({ workflowtask, task, task_group }: RanTask): ExportedTask => ({
  meta_non_parallel: asObject(workflowtask['meta_non_parallel']),
  meta_parallel: asObject(workflowtask['meta_parallel']),
  args_non_parallel: asObject(workflowtask['args_non_parallel']),
  args_parallel: asObject(workflowtask['args_parallel']),
  type_filters: (workflowtask['type_filters'] ?? {}) as ExportedTask['type_filters'],
  description: asText(workflowtask['description']),
  alias: asText(workflowtask['alias']),
  task: {
    pkg_name: asText(task_group['pkg_name']) ?? '',
    version: asText(task_group['version']) ?? '',
    name: asText(task['name']) ?? '',
  },
});

export async function ranWorkflow(db: Executor, { id, workflow_dump }: Job): Promise<WorkflowExport> {
  const tasks = (await snapshotOf(db, id)) ?? (await tasksOfRuns(db, id));
  return { name: workflow_dump.name, description: null, task_list: tasks.map(exported) };
}
