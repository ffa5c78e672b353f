import { describe, expect, it } from 'vitest';

import { causeWords, jobState, taskState, unitState } from '../../src/lib/ui/status.ts';

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

describe('a task that has not ended', () => {
  it.each([
    [{ is_starting: false, progress: { waiting: 3, running: 0, done: 0, failed: 0 } }, 'waiting', 'Waiting'],
    [{ is_starting: false, progress: { waiting: 1, running: 2, done: 0, failed: 0 } }, 'running', 'Running'],
    [{ is_starting: true, progress: { waiting: 3, running: 0, done: 0, failed: 0 } }, 'running', 'Starting Python'],
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

describe('a unit', () => {
  const UNIT = {
    status: 'submitted',
    cause: null,
    signal: null,
    has_warnings: false,
    num_warnings: 0,
    timestamp_started: null,
    timestamp_ended: null,
  } as const;
  const begun = { ...UNIT, timestamp_started: '2026-01-01T10:00:00Z' };
  const ended = { ...begun, timestamp_ended: '2026-01-01T10:01:00Z' };

  it.each([
    [UNIT, 'waiting', 'Waiting'],
    [begun, 'running', 'Running'],
    [{ ...ended, status: 'done' as const }, 'done', 'Done'],
    // units of a compound task keep their status until all have ended
    [ended, 'done', 'Done'],
    [{ ...ended, cause: 'error' as const }, 'failed', 'Task error'],
    [{ ...ended, status: 'failed' as const }, 'failed', 'Failed'],
    [{ ...ended, status: 'failed' as const, cause: 'signal' as const, signal: 9 }, 'failed', 'Ended by signal 9'],
    [{ ...UNIT, status: 'failed' as const, cause: 'stopped' as const }, 'stopped', 'Stopped'],
    [{ ...ended, status: 'done' as const, has_warnings: true, num_warnings: 2 }, 'warning', 'Done, 2 warnings'],
    [{ ...ended, status: 'done' as const, has_warnings: true }, 'warning', 'Done, with warnings'],
  ])('%j is %s', (unit, look, word) => expect(unitState(unit)).toEqual({ look, word }));
});
