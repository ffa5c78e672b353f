/** What a press on Run does, and what the button says about it. */
import type { FullTaskStatus, TaskStatus, TaskType } from '@service/contract';
import { describe, expect, test } from 'vitest';

import { actionWords, lastTask, nextRun, runFrom } from '#lib/workflow/run/next.ts';

import { status, step } from './things.ts';

const CONVERTED = status({ num_done_images: 0, num_available_images: 0, num_new_images: 9 });
const DONE = status({ num_done_images: 9, num_available_images: 9, timestamp_started: '2026-11-03T15:00:00Z' });
const some = (given: Partial<FullTaskStatus>) =>
  status({ status: 'failed', num_available_images: 9, timestamp_started: '2026-11-03T15:00:00Z', ...given });
const FAILED = some({ num_done_images: 3, num_failed_images: 6, causes: { error: 6 } });
const OLD = status({ num_done_images: 9, num_available_images: 9, timestamp_started: '2026-11-02T15:00:00Z' });

type Known = TaskStatus | null;

/** A converter, then tasks of this type. */
function standing(known: Known[], type: TaskType = 'parallel') {
  const tasks = known.map((_, index) => step(index + 1, {}, { type: index === 0 ? 'converter_non_parallel' : type }));
  return { tasks, statuses: Object.fromEntries(known.map((one, index) => [String(index + 1), one])) };
}

const next = (known: Known[], type?: TaskType) => {
  const { tasks, statuses } = standing(known, type);
  return nextRun(tasks, statuses);
};

describe('what is next', () => {
  test.each<[string, Known[], string, number]>([
    ['nothing ran', [null, null, null], 'Run', 0],
    ['there are no tasks', [], 'Run', 0],
    ['all is done', [CONVERTED, DONE, DONE], 'Run again', 0],
    ['a task never ran', [CONVERTED, DONE, null], 'Continue from task 3', 2],
    ['the converter failed', [some({ num_done_images: 0 }), null, null], 'Rerun task 1 and continue', 0],
    ['images failed', [CONVERTED, FAILED, null], 'Rerun 6 failed and continue', 1],
    ['images of the last task failed', [CONVERTED, DONE, FAILED], 'Rerun 6 failed', 2],
    [
      'images were stopped, and some never began',
      [CONVERTED, some({ num_done_images: 3, num_failed_images: 4, causes: { stopped: 4 } }), null],
      'Rerun 6 stopped and continue',
      1,
    ],
    [
      'a rerun of some of the failed was done, others are left',
      [CONVERTED, status({ num_done_images: 7, num_failed_images: 2, num_available_images: 9 }), DONE],
      'Rerun 2 failed and continue',
      1,
    ],
    [
      'only some images were chosen before',
      [CONVERTED, status({ num_done_images: 1, num_available_images: 9 }), status({ num_done_images: 1 })],
      'Run 8 remaining and continue',
      1,
    ],
    ['nobody knows how many there are', [CONVERTED, { ...DONE, num_available_images: null }], 'Run again', 0],
    [
      'no image matched',
      [CONVERTED, some({ num_done_images: 0, num_available_images: 0 }), null],
      'Rerun task 2 and continue',
      1,
    ],
    ['a job ended before it got there', [CONVERTED, { status: 'submitted' }, null], 'Rerun task 2 and continue', 1],
  ])('%s', (_, known, words, first) => {
    expect(next(known)).toMatchObject({ words, first });
  });

  test('a task whose images share one status runs as a whole', () => {
    expect(next([CONVERTED, FAILED, null], 'compound')).toMatchObject({
      words: 'Rerun task 2 and continue',
      statuses: [],
    });
    expect(next([CONVERTED, { ...DONE, num_done_images: 2 }], 'compound').words).toBe('Run again');
  });

  test('what is done stays: only the others go to the first task', () => {
    expect(next([CONVERTED, FAILED, null]).statuses).toEqual(['failed']);
    const stopped = some({ num_done_images: 3, num_failed_images: 4, causes: { stopped: 4 } });
    expect(next([CONVERTED, stopped, null]).statuses).toEqual(['failed', 'unset']);
    const left = some({ num_done_images: 3, num_submitted_images: 2 });
    expect(next([CONVERTED, left, null])).toMatchObject({
      words: 'Run 6 remaining and continue',
      statuses: ['unset', 'submitted'],
    });
  });

  test('later tasks take all images, unless they have done the others since', () => {
    expect(next([CONVERTED, FAILED, null]).laterTasksGetAll).toBe(true);
    expect(next([CONVERTED, FAILED, OLD]).laterTasksGetAll).toBe(true);
    expect(next([CONVERTED, FAILED, DONE]).laterTasksGetAll).toBe(false);
    expect(next([CONVERTED, FAILED, DONE, null]).laterTasksGetAll).toBe(true);
    expect(next([CONVERTED, DONE, FAILED]).laterTasksGetAll).toBe(true);
  });
});

test('from a task that is done everything runs again', () => {
  const { tasks, statuses } = standing([CONVERTED, DONE, DONE]);
  expect(runFrom(1, tasks, statuses)).toMatchObject({ first: 1, statuses: [], words: 'Rerun task 2 and continue' });
});

test('a last task before the first one is forgotten', () => {
  expect(lastTask(2, 1)).toBeUndefined();
  expect(lastTask(2, 2)).toBe(2);
});

describe('the button of the dialog', () => {
  const chosen = { mode: 'next', kind: 'rest', statuses: [], images: 6, goesOn: true } as const;

  test.each([
    [{}, 'Run'],
    [{ kind: 'again' }, 'Run again'],
    [{ mode: 'reset' }, 'Reset and run'],
    [{ statuses: ['failed'] }, 'Rerun 6 images and continue'],
    [{ statuses: ['failed'], images: 1, goesOn: false }, 'Rerun 1 image'],
    [{ statuses: ['unset'] }, 'Run 6 images and continue'],
    [{ statuses: ['failed'], images: undefined }, 'Run'],
  ] as const)('%j: %s', (given, words) => {
    expect(actionWords({ ...chosen, ...given })).toBe(words);
  });
});
