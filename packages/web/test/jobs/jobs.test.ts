import { describe, expect, it } from 'vitest';

import type { FullTaskStatus, Job } from '@service/contract';

import { explain, mostCommon } from '../../src/lib/jobs/explain.ts';
import {
  countFilters,
  durationOf,
  durationWords,
  endWords,
  jobQuery,
  peopleOf,
  progressOf,
  stopWords,
  taskRange,
  unindented,
  waitedFor,
} from '../../src/lib/jobs/jobs.ts';
import { streamedLog, withNews } from '../../src/lib/logs/log.ts';
import { unitName } from '../../src/lib/jobs/units.ts';

const query = (search: string) => jobQuery(new URLSearchParams(search));

describe('filters in the address', () => {
  it('become a query', () => {
    expect(query('status=failed&project=3&workflow=4&dataset=5&user=a@b.c&page=2&page_size=50')).toEqual({
      status: 'failed',
      project_id: 3,
      workflow_id: 4,
      dataset_id: 5,
      user_email: 'a@b.c',
      page: 2,
      page_size: 50,
    });
  });

  it('that mean nothing ask for nothing', () => {
    const { page, page_size, ...filters } = query('status=lost&project=x');
    expect([page, page_size]).toEqual([1, 10]);
    expect(Object.values(filters).every((value) => value === undefined)).toBe(true);
    expect(countFilters(query('page=3'))).toBe(0);
    expect(countFilters(query('status=done&user=a@b.c'))).toBe(2);
  });

  it('name people, oneself first', () => {
    expect(peopleOf('m@x', ['z@x', 'a@x', 'm@x', 'a@x'], 'k@x')).toEqual(['m@x', 'a@x', 'k@x', 'z@x']);
  });
});

const START = '2026-11-09T08:00:00Z';
const times = (end: string | null, first: string | null = null) => ({
  start_timestamp: START,
  end_timestamp: end,
  status: end === null ? ('submitted' as const) : ('done' as const),
  timestamp_first_unit: first,
});
const NOW = Date.parse('2026-11-09T08:10:00Z');

describe('times', () => {
  it('go on while a job does', () => {
    expect(durationOf(times(null), NOW)).toBe(600);
    expect(durationOf(times('2026-11-09T08:05:00Z'), NOW)).toBe(300);
    // clocks differ
    expect(durationOf(times(null), Date.parse(START) - 5000)).toBe(0);
  });

  it('are not made up for a job that is over and has no end', () => {
    const imported = { ...times(null), status: 'done' as const };
    expect([durationOf(imported, NOW), waitedFor(imported, NOW)]).toEqual([undefined, undefined]);
    expect([durationWords(imported, NOW), durationWords(times(null), NOW)]).toEqual(['–', '10:00']);
    const ends = [imported, times(null), times(START)].map((job) => endWords(job, (time) => `at ${time}`));
    expect(ends).toEqual(['end not recorded', 'not over yet', `at ${START}`]);
  });

  it.each([
    [times(null), 600],
    [times(null, '2026-11-09T08:03:00Z'), 180],
    [times('2026-11-09T08:05:00Z', '2026-11-09T08:03:00Z'), 180],
    [times('2026-11-09T08:05:00Z'), undefined],
  ])('in the queue of %j: %s', (job, seconds) => expect(waitedFor(job, NOW)).toBe(seconds));
});

describe('the range of tasks', () => {
  it.each([
    [0, 5, 'tasks 1 to 6'],
    [2, 2, 'task 3'],
    [null, null, 'all tasks'],
  ])('%s to %s is %s', (first_task_index, last_task_index, words) =>
    expect(taskRange({ first_task_index, last_task_index })).toBe(words),
  );
});

it('progress is that of the task at work', () => {
  const tasks = [
    { name: 'Convert', alias: null, num_units: 1, num_done_units: 1, num_failed_units: 0 },
    {
      name: 'Segment',
      alias: 'Nuclei',
      num_units: 1536,
      num_done_units: 1004,
      num_failed_units: 3,
      is_starting: false,
    },
  ];
  expect(progressOf({ first_task_index: 0, last_task_index: 5 }, { tasks } as never)).toEqual({
    words: 'Nuclei, task 2 of 6',
    done: 1004,
    failed: 3,
    total: 1536,
    isStarting: false,
  });
  expect(progressOf({ first_task_index: 0, last_task_index: 5 }, { tasks: [] } as never)).toBeUndefined();
});

const status = (more: Partial<FullTaskStatus>) =>
  ({
    status: 'submitted',
    job_id: 7,
    num_done_images: 0,
    num_failed_images: 0,
    num_available_images: 9,
    progress: { waiting: 0, running: 0, done: 0, failed: 0 },
    ...more,
  }) as FullTaskStatus;

describe('what stopping costs', () => {
  it.each<[string, Record<string, FullTaskStatus | { status: 'submitted' } | null>, string]>([
    [
      'counts images',
      { 1: status({ num_done_images: 1004, progress: { waiting: 481, running: 48, done: 1004, failed: 0 } }) },
      '48 running images are lost, 481 will not start, 1\u202f004 finished ones stay.',
    ],
    [
      'of one image is one',
      { 1: status({ progress: { waiting: 0, running: 1, done: 0, failed: 0 } }) },
      '1 running image is lost, 0 will not start, 0 finished ones stay.',
    ],
    [
      'keeps the one that is finished',
      { 1: status({ num_done_images: 1, progress: { waiting: 2, running: 2, done: 1, failed: 0 } }) },
      '2 running images are lost, 2 will not start, 1 finished one stays.',
    ],
    [
      'counted in units is the whole task',
      { 1: status({ progress: { waiting: 4, running: 1, done: 3, failed: 0 } }) },
      'The running task will count as failed for all its images. Tasks that ended before it stay as they are.',
    ],
    [
      'before anything began is nothing',
      { 1: { status: 'submitted' }, 2: status({ job_id: 6 }), 3: null },
      'Nothing is running right now. Pending tasks will not start.',
    ],
  ])('%s', (_, statuses, words) => expect(stopWords(statuses, 7)).toBe(words));
});

describe('a failed job', () => {
  const job = (kind: string | null, more: object = {}) => ({
    status: 'failed' as const,
    log: 'JOB ERROR\nTRACEBACK:\nno such file',
    executor_error_log: null,
    stop_requested_by: null,
    failure:
      kind === null ? null : ({ kind, workflowtask_id: 1, message: 'Segment: no', num_images: 6 } as Job['failure']),
    ...more,
  });

  it.each([
    ['task', '6 images failed in Segment.', 'no such file'],
    ['no_images', 'No image matched what Segment takes.', 'no such file'],
    ['submissions_off', 'New jobs are switched off.', undefined],
    ['output', 'Segment returned invalid output.', 'no such file'],
    ['admin', 'An administrator set this job to failed.', undefined],
    ['internal', 'A server error ended this job.', 'no such file'],
    [null, 'This job failed.', 'no such file'],
  ])('because of %s says so', (kind, title, said) =>
    expect(explain(job(kind), 'Segment')).toMatchObject({ look: 'failed', title, said }),
  );

  it('names the cause where there is one', () => {
    expect(explain(job('task'), 'Segment', 'memory')).toMatchObject({
      title: '6 images failed in Segment: out of memory.',
      next: expect.stringContaining('more memory') as string,
    });
    expect(mostCommon(['error', 'memory', 'memory', null])).toBe('memory');
    expect(mostCommon([])).toBeNull();
  });

  it('shows what the scheduler said first', () => {
    expect(explain(job('task', { executor_error_log: 'srun: error: node7' }), 'Segment')?.said).toBe(
      'srun: error: node7',
    );
  });

  it('that somebody stopped is not loud', () => {
    expect(explain(job('stopped', { stop_requested_by: 'm.keller@x.y' }), 'Segment')).toMatchObject({
      look: 'stopped',
      title: 'Stopped by m.keller.',
    });
  });

  it('is nothing to explain when it went well', () => {
    expect(explain({ ...job(null), status: 'done' }, undefined)).toBeUndefined();
  });
});

describe('a log that comes in pieces', () => {
  const begun = streamedLog('größe\n');
  it.each([
    ['goes on', { offset: 8, text: 'b\n' }, 'größe\nb\n'],
    ['begins anew', { offset: 0, text: 'x\n' }, 'x\n'],
    ['is not repeated', { offset: 6, text: 'e\n' }, 'größe\n'],
    ['has no holes', { offset: 20, text: 'c\n' }, undefined],
  ])('%s', (_, news, text) => expect(withNews(begun, news)?.text).toBe(text));
});

describe('a unit', () => {
  it.each([
    [{ zarr_urls: ['/data/plate.zarr/B/03/0'], is_init: false }, 'plate.zarr/B/03/0'],
    [{ zarr_urls: ['/data/a', '/data/b'], is_init: false }, '2 images'],
    [{ zarr_urls: [], is_init: false }, 'unit 12'],
    [{ zarr_urls: ['/data/a', '/data/b'], is_init: true }, 'init unit'],
  ])('%j is %s', (unit, name) => expect(unitName({ ...unit, id: 12 }, '/data')).toBe(name));
});

it('tables of commands lose their common indentation', () => {
  expect(unindented('   JOBID USER\n    12   me\n\n')).toBe('JOBID USER\n 12   me');
  expect(unindented('\n')).toBe('');
});
