import { describe, expect, it } from 'vitest';

import type { FullTaskStatus } from '@service/contract';

import { causeWords, jobState, taskState } from '../../src/lib/ui/status.ts';

const JOB = {
  status: 'submitted',
  failure: null,
  stop_requested_at: null,
  stop_requested_by: null,
  timestamp_first_unit: null,
} as const;
const stopped = { kind: 'stopped' as const, workflowtask_id: 1, message: '', num_images: 0 };

describe('a job', () => {
  it.each([
    [JOB, 'waiting', 'Waiting'],
    [{ ...JOB, timestamp_first_unit: '2026-01-01' }, 'running', 'Running'],
    [{ ...JOB, stop_requested_at: '2026-01-01' }, 'stopped', 'Stopping'],
    [{ ...JOB, status: 'done' as const }, 'done', 'Done'],
    [{ ...JOB, status: 'failed' as const }, 'failed', 'Failed'],
    [
      { ...JOB, status: 'failed' as const, failure: stopped, stop_requested_by: 'm@x.y' },
      'stopped',
      'Stopped by m@x.y',
    ],
  ])('%j is %s', (job, look, word) => expect(jobState(job)).toEqual({ look, word }));

  it('whose first task starts Python does not wait any longer', () => {
    expect(jobState(JOB, true)).toEqual({ look: 'running', word: 'Starting Python' });
    expect(jobState({ ...JOB, timestamp_first_unit: '2026-01-01' }, true).word).toBe('Running');
    expect(jobState({ ...JOB, stop_requested_at: '2026-01-01' }, true).word).toBe('Stopping');
  });
});

const task = (more: Partial<FullTaskStatus>): FullTaskStatus => ({
  status: 'done',
  num_submitted_images: 0,
  num_done_images: 0,
  num_failed_images: 0,
  num_available_images: 0,
  has_warnings: false,
  job_id: 1,
  history_run_id: 1,
  timestamp_started: '2026-01-01',
  timestamp_ended: null,
  progress: { waiting: 0, running: 0, done: 0, failed: 0 },
  is_starting: false,
  num_images_with_warnings: 0,
  num_new_images: 0,
  causes: {},
  ...more,
});

describe('a task', () => {
  it.each([
    [null, 'unset', 'Not run'],
    [{ status: 'submitted' as const }, 'waiting', 'Waiting'],
    [task({ status: 'submitted', progress: { waiting: 3, running: 0, done: 0, failed: 0 } }), 'waiting', 'Waiting'],
    [task({ status: 'submitted', progress: { waiting: 1, running: 2, done: 0, failed: 0 } }), 'running', 'Running'],
    [
      task({ status: 'submitted', is_starting: true, progress: { waiting: 3, running: 0, done: 0, failed: 0 } }),
      'running',
      'Starting Python',
    ],
    [task({}), 'done', 'Done'],
    [task({ has_warnings: true, num_images_with_warnings: 2 }), 'warning', 'Done, 2 with warnings'],
    [task({ has_warnings: true }), 'warning', 'Done, with warnings'],
    [task({ status: 'failed', causes: { error: 1 } }), 'failed', 'Failed'],
    [task({ status: 'failed', causes: { stopped: 4 } }), 'stopped', 'Stopped'],
    [task({ status: 'failed', causes: { stopped: 4, memory: 1 } }), 'failed', 'Failed'],
  ])('%j is %s', (status, look, word) => expect(taskState(status)).toEqual({ look, word }));
});

it('names causes in words', () => {
  expect([causeWords('memory'), causeWords('signal', 9), causeWords('signal'), causeWords(null)]).toEqual([
    'Out of memory',
    'Ended by signal 9',
    'Ended by a signal',
    'Failed',
  ]);
});
