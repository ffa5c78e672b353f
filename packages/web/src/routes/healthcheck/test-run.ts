/**
 * The job-submission test: makes a project with a dataset and a workflow of one task, and submits a job. Each step says
 * when it begins, so that the one that fails can be named.
 */
import type { Job, Project, Task, Workflow } from '@service/contract';

import { call } from '#lib/api/client.ts';

import { type Step, TEST_TASK, testTaskIn } from './steps.ts';

/** A task as it comes, without arguments. */
const PLAIN = {
  meta_non_parallel: null,
  meta_parallel: null,
  args_non_parallel: null,
  args_parallel: null,
  type_filters: {},
  description: null,
  alias: null,
};

async function testTask(): Promise<number> {
  const known = testTaskIn(await call('tasks.listTaskGroups', { query: { only_active: true } }));
  if (known !== undefined) return known;
  const body = {
    name: TEST_TASK,
    type: 'converter_non_parallel' as const,
    command_non_parallel: 'echo',
    version: '9.9.9',
    input_types: {},
    output_types: {},
  };
  const task: Task = await call('tasks.createTask', { query: { private: true }, body });
  return task.id;
}

export interface Made {
  project?: Project;
  workflow?: Workflow;
  job?: Job;
}

/** `made` is filled as things come into being, also when a later step fails. */
export async function prepare(projectDir: string | undefined, made: Made, begin: (step: Step) => void): Promise<Job> {
  begin('project');
  made.project = await call('projects.createProject', { body: { name: `test_${Date.now()}` } });
  const params = { project_id: made.project.id };

  begin('dataset');
  const place = projectDir === undefined ? {} : { project_dir: projectDir, zarr_subfolder: 'submission_test/' };
  const dataset = await call('projects.createDataset', { params, body: { name: 'test', ...place } });

  begin('workflow');
  made.workflow = await call('projects.createWorkflow', { params, body: { name: 'test' } });
  const ofWorkflow = { ...params, workflow_id: made.workflow.id };

  begin('task');
  const task_id = await testTask();

  begin('add');
  await call('projects.createWorkflowTasks', { params: ofWorkflow, body: [{ ...PLAIN, task_id }] });

  begin('submit');
  const query = { workflow_id: made.workflow.id, dataset_id: dataset.id };
  made.job = await call('jobs.submitJob', { params, query, body: { first_task_index: 0, attribute_filters: {} } });
  return made.job;
}
