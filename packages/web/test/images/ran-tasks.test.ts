import { describe, expect, it } from 'vitest';

import {
  chosenTask,
  firstTask,
  ranTasks,
  workflowsOf,
} from '../../src/routes/v2/projects/[project_id]/datasets/[dataset_id]/ran-tasks.ts';

describe('tasks whose work can be shown', () => {
  const step = (id: number, name: string, task_type = 'parallel') => ({ id, alias: null, task: { name }, task_type });
  const done = { status: 'submitted' as const };
  const ran = [
    {
      workflow: {
        id: 5,
        name: 'Measure',
        task_list: [step(1, 'Convert', 'converter_compound'), step(2, 'Correct'), step(3, 'Measure')],
      },
      job: { failure: null, last_task_index: 2, task_statuses: { 1: done, 2: done, 3: done } },
    },
    {
      workflow: { id: 4, name: 'Segment', task_list: [step(8, 'Segment'), step(9, 'Never')] },
      job: { failure: null, last_task_index: 1, task_statuses: { 8: done, 9: null } },
    },
  ] as unknown as Parameters<typeof ranTasks>[0];

  it('have run, and are no converters', () => {
    expect(ranTasks(ran).map(({ id }) => id)).toEqual([2, 3, 8]);
    expect(workflowsOf([{ workflow_id: 5 }, { workflow_id: null }, { workflow_id: 4 }, { workflow_id: 5 }])).toEqual([
      5, 4,
    ]);
  });

  it('begin with the failed one, else with the last of the newest job', () => {
    const tasks = ranTasks(ran);
    expect(firstTask(ran, tasks)).toBe(3);
    const failure = { kind: 'task', workflowtask_id: 2, message: '', num_images: 1 } as const;
    expect(firstTask([{ ...ran[0]!, job: { ...ran[0]!.job, failure } }, ran[1]!], tasks)).toBe(2);
    expect(firstTask([], [])).toBeUndefined();
  });

  it('are chosen in the address', () => {
    const tasks = ranTasks(ran);
    expect(chosenTask('8', tasks, 3)?.id).toBe(8);
    expect(chosenTask(null, tasks, 3)?.id).toBe(3);
    expect(chosenTask('77', tasks, 3)?.id).toBe(3);
    expect(chosenTask('none', tasks, 3)).toBeUndefined();
  });
});
