import { describe, expect, test } from 'vitest';

import { failureNotice } from '../../src/lib/workflow/failure.ts';
import {
  begunTasks,
  finishedTasks,
  isStopping,
  runBar,
  segmentOf,
  stopWords,
  tabWords,
} from '../../src/lib/workflow/runbar.ts';
import { taskViews } from '../../src/lib/workflow/status.ts';
import { full, made, statuses, tasks } from './made.ts';

const NOW = Date.parse('2026-11-03T14:42:18Z');
const two = tasks('converter_compound', 'parallel');
const barOf = (job: ReturnType<typeof made>, of = two, now = NOW) => runBar(job, of, taskViews(of, job), now);

const running = full({
  status: 'submitted',
  timestamp_started: '2026-11-03T14:22:18Z',
  timestamp_ended: null,
  num_submitted_images: 500,
  num_done_images: 500,
  num_available_images: 1000,
  progress: { waiting: 460, running: 40, done: 500, failed: 0 },
});

describe('the line about a job', () => {
  test('at work: the task, how far, how long, how long still', () => {
    const bar = barOf(made({ task_statuses: statuses(full({ num_new_images: 1000 }), running) }));
    expect(bar).toMatchObject({
      state: { look: 'running', word: 'Running' },
      at: 1,
      progress: '500 of 1\u202f000 images',
      percent: 50,
      warning: undefined,
      rate: '25 images a minute',
      times: [
        { name: 'Elapsed', value: '42:18' },
        { name: 'Task 2 left', value: '20 min' },
      ],
    });
  });

  test('a failure is told while it still runs, when tasks follow', () => {
    const failing = { ...running, num_failed_images: 3, num_done_images: 497 };
    const three = tasks('converter_compound', 'parallel', 'parallel');
    const job = made({ task_statuses: statuses(full(), failing, { status: 'submitted' }) });
    expect(barOf(job, three).warning).toBe('3 failed, so the job ends after this task');
    expect(barOf(job, two).warning).toBeUndefined();
  });

  test('too few say nothing about the rest', () => {
    const begun = { ...running, num_done_images: 1, progress: { waiting: 500, running: 499, done: 1, failed: 0 } };
    const bar = barOf(made({ task_statuses: statuses(full(), begun) }));
    expect(bar.times.map(({ name }) => name)).toEqual(['Elapsed']);
    expect(bar.rate).toBeUndefined();
  });

  test('nothing has started', () => {
    const job = made({ timestamp_first_unit: null, task_statuses: statuses({ status: 'submitted' }) });
    expect(barOf(job)).toMatchObject({ state: { word: 'Waiting' }, at: 0, progress: undefined });
  });

  test('Python starts for the first task', () => {
    const starting = { ...running, num_done_images: 0, progress: { waiting: 9, running: 0, done: 0, failed: 0 } };
    const job = made({ timestamp_first_unit: null, task_statuses: statuses({ ...starting, is_starting: true }) });
    expect(barOf(job).state).toEqual({ look: 'running', word: 'Starting Python' });
  });

  test('the tab of the browser tells how far it is, what matters first', () => {
    const bar = barOf(made({ task_statuses: statuses(full(), running) }));
    expect(tabWords(bar, 2)).toBe('50 %, task 2 of 2');
    expect(tabWords(bar, 1)).toBe('50 %');
    expect(tabWords(barOf(made({ status: 'done', task_statuses: statuses(full(), full()) })), 2)).toBe('Done');
    const waiting = made({ timestamp_first_unit: null, task_statuses: statuses({ status: 'submitted' }) });
    expect(tabWords(barOf(waiting), 2)).toBe('Waiting');
  });

  test('tasks that a job has begun and ended are counted, those of other jobs are not', () => {
    const job = made({
      task_statuses: statuses(full(), full({ status: 'failed' }), running, full({ job_id: 6 }), null),
    });
    expect([begunTasks(job), finishedTasks(job)]).toEqual([3, 2]);
  });

  test('failed: at which task, after how long, how many', () => {
    const failed = full({ status: 'failed', num_done_images: 1530, num_failed_images: 6, num_available_images: 1536 });
    const job = made({
      status: 'failed',
      end_timestamp: '2026-11-03T14:53:02Z',
      failure: { kind: 'task', workflowtask_id: 2, message: 'x', num_images: 6 },
      task_statuses: statuses(full(), failed),
    });
    expect(barOf(job)).toMatchObject({
      state: { look: 'failed', word: 'Failed' },
      at: 1,
      times: [
        { name: 'Ran for', value: '53:02' },
        { name: 'Failed', value: '6', of: 'of 1\u202f536' },
      ],
    });
  });

  test('stopped: by whom, without the whole address', () => {
    const job = made({
      status: 'failed',
      stop_requested_by: 'm.keller@example.org',
      failure: { kind: 'stopped', workflowtask_id: null, message: '', num_images: 0 },
    });
    expect(barOf(job).state).toEqual({ look: 'stopped', word: 'Stopped by m.keller' });
  });

  test('done has no place', () => {
    const job = made({
      status: 'done',
      end_timestamp: '2026-11-03T14:53:02Z',
      task_statuses: statuses(full(), full()),
    });
    expect(barOf(job).at).toBeUndefined();
  });
});

test('segments: what may be out of date is empty', () => {
  const old = full({ job_id: 3, status: 'submitted', num_done_images: 6, num_available_images: 6 });
  const [view] = taskViews(tasks('parallel'), made({ task_statuses: statuses(old) }));
  expect(segmentOf(view!)).toMatchObject({ done: 0, total: 1 });
});

test('stopping', () => {
  expect(isStopping(made({ stop_requested_at: '2026-11-03T14:10:00Z' }))).toBe(true);
  expect(isStopping(made({ status: 'failed', stop_requested_at: '2026-11-03T14:10:00Z' }))).toBe(false);
  const [, view] = taskViews(two, made({ task_statuses: statuses(full(), running) }));
  expect(stopWords(view)).toBe('40 running images are lost, 460 will not start, 500 finished ones stay.');
  const one = { ...running, num_done_images: 1, progress: { waiting: 499, running: 1, done: 1, failed: 0 } };
  const [, begun] = taskViews(two, made({ task_statuses: statuses(full(), one) }));
  expect(stopWords(begun)).toBe('1 running image is lost, 499 will not start, 1 finished one stays.');
  const [inUnits] = taskViews(tasks('compound'), made({ task_statuses: statuses(running) }));
  expect(stopWords(inUnits)).toContain('count as failed for all its images');
});

describe('why it failed', () => {
  const list = two.map((task) => ({
    ...task,
    alias: task.id === 2 ? 'Segment nuclei' : null,
    task: { name: `Task ${task.id}` },
  }));
  const failed = (
    kind: NonNullable<ReturnType<typeof made>['failure']>['kind'],
    more: Parameters<typeof made>[0] = {},
  ) => made({ status: 'failed', failure: { kind, workflowtask_id: 2, message: 'said', num_images: 6 }, ...more });
  const status = (causes: object) => statuses(full(), full({ status: 'failed', num_failed_images: 6, causes }));

  test('no failure, no notice', () => {
    expect(failureNotice(made({ status: 'done' }), list, 'local')).toBeUndefined();
    expect(failureNotice(made(), list, 'local')).toBeUndefined();
  });

  test('memory, on a cluster and here', () => {
    const job = failed('task', { task_statuses: status({ memory: 6 }) });
    expect(failureNotice(job, list, 'slurm_sudo')).toMatchObject({
      title: '6 images needed more memory than Segment nuclei may use.',
      next: 'Give the task more in Resources, then rerun the 6.',
    });
    expect(failureNotice(job, list, 'local')!.title).toBe('6 images were killed: this machine ran out of memory.');
  });

  test('an error: the lines that matter', () => {
    const log = 'TASK ERROR\nTraceback (most recent call last):\n  File "x.py", line 1\nValueError: chunk is damaged';
    const job = failed('task', { log, task_statuses: status({ error: 1 }) });
    expect(failureNotice(job, list, 'local')).toMatchObject({
      look: 'failed',
      title: '1 image failed in Segment nuclei.',
      said: 'ValueError: chunk is damaged',
    });
  });

  test('what the scheduler says comes first', () => {
    const job = failed('task', { log: 'short', executor_error_log: 'slurmstepd: Out Of Memory' });
    expect(failureNotice(job, list, 'slurm_ssh')!.said).toBe('slurmstepd: Out Of Memory');
  });

  test('stopped is told, not blamed', () => {
    const job = failed('stopped', { stop_requested_by: 'm.keller@example.org' });
    expect(failureNotice(job, list, 'local')).toMatchObject({ look: 'stopped', title: 'Stopped by m.keller.' });
  });

  test.each([
    ['no_images', 'No image matched the types that Segment nuclei takes.'],
    ['submissions_off', 'New jobs are switched off.'],
    ['output', 'Segment nuclei returned invalid output.'],
    ['admin', 'An administrator ended this job.'],
    ['internal', 'A server error ended this job.'],
  ] as const)('%s', (kind, title) => {
    const notice = failureNotice(failed(kind), list, 'local');
    expect(notice!.title).toBe(title);
    expect(notice!.next).not.toBe('');
  });
});
