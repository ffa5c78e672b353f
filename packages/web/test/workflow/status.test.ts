import type { FullTaskStatus, JobWithTaskStatuses, TaskStatus, TaskType } from '@service/contract';
import { describe, expect, test } from 'vitest';

import { causesNote } from '../../src/lib/workflow/figures.ts';
import { taskViews } from '../../src/lib/workflow/status.ts';
import { full, made, statuses, tasks } from './made.ts';

const nbsp = (text: string) => text.replace(/(\d) (?=\d{3})/g, '$1\u202f');
const line = (figures: { text: string }[]) => figures.map(({ text }) => text).join('');

interface Row {
  name: string;
  type?: TaskType;
  status: TaskStatus | null;
  job?: Partial<JobWithTaskStatuses>;
  look: string;
  word: string;
  figures: string;
}

const progress = (waiting: number, running: number, done: number, failed: number): FullTaskStatus['progress'] => ({
  waiting,
  running,
  done,
  failed,
});
const DONE = { status: 'done' } as const;
const ENDED = { status: 'failed' } as const;

const TABLE: Row[] = [
  {
    name: 'a converter that is done counts the images it made',
    type: 'converter_compound',
    status: full({ num_new_images: 1536, progress: progress(0, 0, 4, 0) }),
    job: DONE,
    look: 'done',
    word: 'Done',
    figures: '1 536 images made',
  },
  {
    name: 'a converter that made nothing says so',
    type: 'converter_compound',
    status: full({ num_new_images: 0, progress: progress(0, 0, 4, 0) }),
    job: DONE,
    look: 'done',
    word: 'Done',
    figures: '0 images made',
  },
  {
    name: 'a converter whose images nobody counted is done',
    type: 'converter_compound',
    status: full({ num_new_images: null, progress: progress(0, 0, 4, 0) }),
    job: DONE,
    look: 'done',
    word: 'Done',
    figures: 'done',
  },
  {
    name: 'a converter at work counts its units',
    type: 'converter_compound',
    status: full({ status: 'submitted', progress: progress(20, 4, 24, 0) }),
    look: 'running',
    word: 'Running',
    figures: '24 of 48 units',
  },
  {
    name: 'a converter that failed says so',
    type: 'converter_non_parallel',
    status: full({ status: 'failed', progress: progress(0, 0, 0, 1), causes: { error: 1 } }),
    job: ENDED,
    look: 'failed',
    word: 'Failed',
    figures: 'failed',
  },
  {
    name: 'a parallel task at work',
    status: full({
      status: 'submitted',
      num_submitted_images: 529,
      num_done_images: 1004,
      num_failed_images: 3,
      num_available_images: 1536,
      progress: progress(481, 48, 1004, 3),
    }),
    look: 'running',
    word: 'Running',
    figures: '1 007 of 1 536',
  },
  {
    name: 'a parallel task of which nothing has started',
    status: full({
      status: 'submitted',
      num_submitted_images: 6,
      num_available_images: 6,
      progress: progress(6, 0, 0, 0),
    }),
    look: 'waiting',
    word: 'Waiting',
    figures: 'waiting',
  },
  {
    name: 'everything done',
    status: full({ num_done_images: 1536, num_available_images: 1536 }),
    job: DONE,
    look: 'done',
    word: 'Done',
    figures: '1 536 done',
  },
  {
    name: 'done with warnings is still done',
    status: full({
      num_done_images: 6,
      num_available_images: 6,
      has_warnings: true,
      num_images_with_warnings: 2,
    }),
    job: DONE,
    look: 'warning',
    word: 'Done, 2 with warnings',
    figures: '6 done',
  },
  {
    name: 'some failed',
    status: full({ status: 'failed', num_done_images: 1530, num_failed_images: 6, num_available_images: 1536 }),
    job: ENDED,
    look: 'failed',
    word: 'Failed',
    figures: '6 failed, 1 530 done',
  },
  {
    name: 'some not looked at',
    status: full({ num_done_images: 4, num_available_images: 10 }),
    job: DONE,
    look: 'done',
    word: 'Done',
    figures: '4 done of 10',
  },
  {
    name: 'how many there are is not known',
    status: full({ num_done_images: 4, num_available_images: null }),
    job: DONE,
    look: 'done',
    word: 'Done',
    figures: '4 done of ?',
  },
  {
    name: 'a compound task at work counts units, not images',
    type: 'compound',
    status: full({
      status: 'submitted',
      num_submitted_images: 96,
      num_available_images: 96,
      progress: progress(30, 6, 12, 0),
    }),
    look: 'running',
    word: 'Running',
    figures: '12 of 48 units',
  },
  {
    name: 'of a compound task one failed unit fails all images',
    type: 'compound',
    status: full({
      status: 'failed',
      num_failed_images: 96,
      num_available_images: 96,
      progress: progress(0, 0, 47, 1),
      causes: { memory: 1 },
    }),
    job: ENDED,
    look: 'failed',
    word: 'Failed',
    figures: '1 of 48 units failed',
  },
  {
    name: 'one run for all images',
    type: 'non_parallel',
    status: full({
      status: 'submitted',
      num_submitted_images: 6,
      num_available_images: 6,
      progress: progress(0, 1, 0, 0),
    }),
    look: 'running',
    word: 'Running',
    figures: 'running',
  },
  {
    name: 'no image matched',
    status: full({ status: 'failed' }),
    job: { ...ENDED, failure: { kind: 'no_images', workflowtask_id: 1, message: '', num_images: 0 } },
    look: 'failed',
    word: 'No image matched',
    figures: 'no image matched',
  },
  {
    name: 'new jobs were switched off',
    status: full({ status: 'failed' }),
    job: { ...ENDED, failure: { kind: 'submissions_off', workflowtask_id: 1, message: '', num_images: 0 } },
    look: 'failed',
    word: 'New jobs are switched off',
    figures: 'new jobs are switched off',
  },
  {
    name: 'stopped is not red',
    status: full({
      status: 'failed',
      num_done_images: 2,
      num_failed_images: 4,
      num_available_images: 6,
      causes: { stopped: 4 },
      progress: progress(0, 0, 2, 4),
    }),
    job: {
      ...ENDED,
      stop_requested_by: 'm.keller@example.org',
      failure: { kind: 'stopped', workflowtask_id: 1, message: '', num_images: 4 },
    },
    look: 'stopped',
    word: 'Stopped by m.keller',
    figures: '4 stopped, 2 done',
  },
  {
    name: 'between Stop and the end',
    status: full({
      status: 'submitted',
      num_submitted_images: 4,
      num_done_images: 2,
      num_available_images: 6,
      progress: progress(2, 2, 2, 0),
    }),
    job: { stop_requested_at: '2026-11-03T14:10:00Z' },
    look: 'stopped',
    word: 'Stopping',
    figures: '2 of 6',
  },
  { name: 'nothing is known', status: null, look: 'unset', word: 'Not run', figures: 'not run' },
  {
    name: 'its turn comes later',
    status: { status: 'submitted' },
    look: 'waiting',
    word: 'Waiting',
    figures: 'waiting',
  },
  {
    name: 'left over from a job that is gone',
    status: { status: 'submitted' },
    job: ENDED,
    look: 'failed',
    word: 'Did not finish',
    figures: 'did not finish',
  },
  {
    name: 'left over, with counts',
    status: full({ status: 'submitted', num_submitted_images: 6, num_available_images: 6 }),
    job: DONE,
    look: 'failed',
    word: 'Did not finish',
    figures: 'did not finish',
  },
];

describe('one task', () => {
  test.each(TABLE)('$name', ({ type = 'parallel', status, job, look, word, figures }) => {
    const [view] = taskViews(tasks(type), made({ ...job, task_statuses: statuses(status) }));
    expect(view).toMatchObject({ look, word });
    expect(line(view!.figures)).toBe(nbsp(figures));
  });

  test('without a job nothing has run', () => {
    expect(taskViews(tasks('parallel'), null)[0]).toMatchObject({ look: 'unset', word: 'Not run', bar: undefined });
  });

  test('the bar of a parallel task shows images, running apart from waiting', () => {
    const status = full({
      status: 'submitted',
      num_submitted_images: 10,
      num_done_images: 80,
      num_failed_images: 10,
      num_available_images: 120,
      progress: progress(6, 4, 8, 2),
    });
    const [view] = taskViews(tasks('parallel'), made({ task_statuses: statuses(status) }));
    expect(view!.bar).toEqual({ done: 80, failed: 10, stopped: 0, running: 4, waiting: 6, total: 120 });
    expect(view!.legend.map(({ count, word, status: of }) => [count, word, of])).toEqual([
      [80, 'done', 'done'],
      [4, 'running', 'submitted'],
      [6, 'waiting', 'submitted'],
      [10, 'failed', 'failed'],
      [20, 'not run', 'unset'],
    ]);
  });

  test('a bar of nothing is not drawn', () => {
    const job = made({ status: 'failed', task_statuses: statuses(full({ status: 'failed' })) });
    expect(taskViews(tasks('parallel'), job)[0]!.bar).toBeUndefined();
  });

  test('a converter has no images to lead to', () => {
    const job = made({ status: 'done', task_statuses: statuses(full({ num_new_images: 6 })) });
    expect(taskViews(tasks('converter_non_parallel'), job)[0]!.legend).toEqual([]);
  });
});

describe('tasks one after the other', () => {
  const failing = full({
    status: 'submitted',
    num_submitted_images: 4,
    num_failed_images: 2,
    num_available_images: 6,
    progress: progress(2, 2, 0, 2),
  });

  test('after a failed image later tasks will not start', () => {
    const job = made({ task_statuses: statuses(failing, { status: 'submitted' }) });
    const [, second] = taskViews(tasks('parallel', 'parallel'), job);
    expect(second).toMatchObject({ look: 'unset', word: 'Will not start' });
  });

  test('nor when somebody pressed Stop', () => {
    const running = { ...failing, num_failed_images: 0, progress: progress(2, 2, 2, 0) };
    const job = made({
      stop_requested_at: '2026-11-03T14:10:00Z',
      task_statuses: statuses(running, { status: 'submitted' }),
    });
    expect(taskViews(tasks('parallel', 'parallel'), job)[1]).toMatchObject({ word: 'Will not start' });
  });

  test('failures of an earlier job do not stop this one', () => {
    const old = full({ job_id: 3, status: 'failed', num_failed_images: 2, progress: progress(0, 0, 0, 2) });
    const job = made({ first_task_index: 1, task_statuses: statuses(old, { status: 'submitted' }) });
    expect(taskViews(tasks('parallel', 'parallel'), job)[1]).toMatchObject({ look: 'waiting', word: 'Waiting' });
  });

  test('what waits for its rerun keeps its counts, greyed', () => {
    const old = full({ job_id: 3, status: 'submitted', num_done_images: 6, num_available_images: 6 });
    const [view] = taskViews(tasks('parallel'), made({ task_statuses: statuses(old) }));
    expect(view).toMatchObject({ look: 'waiting', fromJob: 3, faded: true, bar: { done: 6 } });
  });

  test('what comes after a failed task is from an earlier job, and says so', () => {
    const failed = full({ status: 'failed', num_failed_images: 6, num_available_images: 6 });
    const old = full({ job_id: 3, num_done_images: 6, num_available_images: 6 });
    const job = made({ status: 'failed', task_statuses: statuses(failed, old) });
    expect(taskViews(tasks('parallel', 'parallel'), job)[1]).toMatchObject({ look: 'done', fromJob: 3, faded: true });
  });

  test('what lies before the first task of the job is from an earlier one and not out of date', () => {
    const old = full({ job_id: 3, num_done_images: 6, num_available_images: 6 });
    const job = made({
      status: 'done',
      first_task_index: 1,
      task_statuses: statuses(old, full({ num_done_images: 6 })),
    });
    expect(taskViews(tasks('parallel', 'parallel'), job)[0]).toMatchObject({ fromJob: 3, faded: false });
  });
});

test('causes in words', () => {
  expect(causesNote({ memory: 6 }, 'image')).toBe('6 images out of memory');
  expect(causesNote({ error: 1 }, 'image')).toBe('1 image with an error');
  expect(causesNote({ memory: 4, time_limit: 2 }, 'unit')).toBe('4 units out of memory, 2 out of time');
  expect(causesNote({ stopped: 4 }, 'image')).toBeUndefined();
});
