import type { Activity, ActivityStep } from '@service/contract';
import { describe, expect, test } from 'vitest';

import { formatSeconds } from '../../src/lib/format.ts';
import {
  activityState,
  causeOf,
  changed,
  isUnfinished,
  progressWords,
  readableLog,
  stepViews,
  tookOf,
} from '../../src/lib/tasks/activity.ts';

const step = (fields: Partial<ActivityStep>): ActivityStep => ({
  name: 'install',
  status: 'pending',
  timestamp_started: null,
  timestamp_ended: null,
  done: null,
  total: null,
  detail: null,
  ...fields,
});
const START = '2026-11-15T14:43:00Z';
const now = Date.parse('2026-11-15T14:43:24Z');
const wordsOf = (steps: ActivityStep[], status: Activity['status'] = 'ongoing') =>
  stepViews({ steps, status }, now).map(({ name, state, words }) => [name, state.look, words]);

describe('the time of an activity', () => {
  test.each([
    ['ongoing', null, 24],
    ['OK', '2026-11-15T14:43:10Z', 10],
    // of imported ones nobody may have recorded the end
    ['OK', null, undefined],
    ['failed', null, undefined],
  ] as const)('%s, ended %s', (status, timestamp_ended, seconds) => {
    expect(tookOf({ status, timestamp_started: START, timestamp_ended }, now)).toBe(seconds);
  });
});

describe('activities in words', () => {
  test.each([
    ['pending', 'collect', 'waiting', 'Waiting'],
    ['ongoing', 'collect', 'running', 'Collecting'],
    ['ongoing', 'delete', 'running', 'Removing'],
    ['OK', 'reset', 'done', 'Done'],
    ['failed', 'reactivate', 'failed', 'Failed'],
  ] as const)('%s, %s', (status, action, look, word) => {
    expect(activityState({ status, action })).toEqual({ look, word });
  });

  test('waiting and working ones are unfinished', () => {
    expect((['pending', 'ongoing', 'OK', 'failed'] as const).filter((status) => isUnfinished({ status }))).toEqual([
      'pending',
      'ongoing',
    ]);
  });

  test('a step tells how far it is, what it does, and how long', () => {
    expect(
      wordsOf([
        step({
          name: 'environment',
          status: 'OK',
          timestamp_started: START,
          timestamp_ended: '2026-11-15T14:43:04.3Z',
        }),
        step({ name: 'install', status: 'ongoing', timestamp_started: START, done: 71, total: 84, detail: 'numba' }),
        step({ name: 'pins after', status: 'skipped' }),
        step({ name: 'tasks' }),
      ]),
    ).toEqual([
      ['Environment', 'done', '4.3 s'],
      ['Install', 'running', '71 of 84, numba, 24 s'],
      ['Pins after', 'unset', 'not needed'],
      ['Tasks', 'unset', 'pending'],
    ]);
  });

  test('after a failure nothing is at work and nothing is pending', () => {
    expect(wordsOf([step({ status: 'ongoing', timestamp_started: START }), step({ name: 'tasks' })], 'failed')).toEqual(
      [
        ['Install', 'failed', 'ended here'],
        ['Tasks', 'unset', 'not started'],
      ],
    );
  });

  test('why it failed is said once, and not cut off', () => {
    const steps = [step({ status: 'failed', detail: 'The package has no manifest.', timestamp_started: START })];
    expect(causeOf({ steps, status: 'failed' })).toBe('The package has no manifest.');
    expect(causeOf({ steps: [step({ detail: '84 packages' })], status: 'OK' })).toBeUndefined();
    expect(wordsOf(steps, 'failed')).toEqual([['Install', 'failed', '24 s']]);
  });

  test('steps that are not needed do not count', () => {
    const steps = [step({ status: 'OK' }), step({ status: 'skipped' }), step({})];
    expect(progressWords({ steps, status: 'ongoing' })).toBe('1 of 2 steps');
  });

  test.each([
    [0.04, '0.0 s'],
    [9.94, '9.9 s'],
    [24.4, '24 s'],
    [102, '1:42'],
    [-1, '0.0 s'],
  ])('%f seconds', (seconds, words) => {
    expect(formatSeconds(seconds)).toBe(words);
  });

  test('news is a state, a step or a line of the log', () => {
    const one = { status: 'ongoing', log: 'a', steps: [step({})] } as unknown as Activity;
    expect(changed(undefined, one)).toBe(true);
    expect(changed(one, { ...one, steps: [step({})] })).toBe(false);
    expect(changed(one, { ...one, log: 'ab' })).toBe(true);
    expect(changed(one, { ...one, steps: [step({ status: 'OK' })] })).toBe(true);
  });
});

describe('the log of an activity', () => {
  const at = '2026-11-15 14:43:00,123 - collect';

  test('is read without what only programs need', () => {
    const log = [
      `${at} - INFO - Step package`,
      `${at} - DEBUG - Traceback (most recent call last):`,
      `${at} - DEBUG -   File "x.py", line 1`,
      `${at} - DEBUG - ValueError: 1 - 2`,
      `${at} - WARNING - uv cannot be had`,
      `${at} - ERROR - Failed: pip ended with 1`,
      '',
    ].join('\n');
    expect(readableLog(log)).toBe(
      [
        '2026-11-15 14:43:00 - Step package',
        'Traceback (most recent call last):',
        '  File "x.py", line 1',
        'ValueError: 1 - 2',
        '2026-11-15 14:43:00 - WARNING - uv cannot be had',
        '2026-11-15 14:43:00 - ERROR - Failed: pip ended with 1',
        '',
      ].join('\n'),
    );
  });

  test('of an earlier version stays as it is', () => {
    const log = '2026-11-15 14:43:00,123 - Step package\nCollecting a - INFO - b\n';
    expect(readableLog(log)).toBe(log);
  });
});
