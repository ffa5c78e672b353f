/** The steps of the job-submission test, and how far it has come. */
import type { Answer } from '#lib/api/client.ts';

export const STEPS = [
  { key: 'project', name: 'Create a project' },
  { key: 'dataset', name: 'Create a dataset' },
  { key: 'workflow', name: 'Create a workflow' },
  { key: 'task', name: 'Find or create the test task' },
  { key: 'add', name: 'Add the task to the workflow' },
  { key: 'submit', name: 'Submit a job' },
  { key: 'run', name: 'Wait for the job' },
] as const;
export type Step = (typeof STEPS)[number]['key'];
export type StepState = 'waiting' | 'running' | 'done' | 'failed' | 'unset';

/** Of each step, while one of them is at work or has failed. */
export function stepStates(at: Step | undefined, outcome: 'running' | 'done' | 'failed' | undefined): StepState[] {
  const index = STEPS.findIndex(({ key }) => key === at);
  return STEPS.map((_, place) => {
    if (outcome === undefined || at === undefined) return 'unset';
    if (outcome === 'done' || place < index) return 'done';
    if (place === index) return outcome;
    return outcome === 'failed' ? 'unset' : 'waiting';
  });
}

/** Existing services have it by this name already. */
export const TEST_TASK = '__TEST_ECHO_TASK__';

type TaskGroups = Answer<'tasks.listTaskGroups'>;

export const testTaskIn = (groups: TaskGroups): number | undefined =>
  groups
    .flat(2)
    .filter((one) => typeof one !== 'string')
    .find(({ pkg_name }) => pkg_name === TEST_TASK)?.task_list[0]?.id;
