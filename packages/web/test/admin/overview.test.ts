/** The overview of administrators, in words. */
import { expect, test } from 'vitest';

import type { Overview } from '@service/contract';

import { figuresOf, fullness, reachedState } from '../../src/lib/admin/overview.ts';

const NOW = Date.parse('2026-11-17T12:00:00Z');

test.each([
  [{ state: 'reachable', since: null }, 'done', 'Reachable'],
  [{ state: 'unknown', since: null }, 'unset', 'Not checked yet'],
  [{ state: 'unreachable', since: '2026-11-17T11:00:00Z' }, 'failed', /^Unreachable since today /],
] as const)('%j is shown as %s, %s', (reached, look, word) => {
  const state = reachedState(reached, NOW);
  expect(state.look).toBe(look);
  expect(state.word).toMatch(word);
});

test.each([
  [100e9, 50e9, 'done', '50 GB free of 100 GB'],
  [100e9, 9e9, 'warning', '9 GB free of 100 GB'],
  [100e9, 1e9, 'failed', '1 GB free of 100 GB'],
])('of %d bytes %d free is %s', (total_bytes, free_bytes, look, words) => {
  expect(fullness({ total_bytes, free_bytes })).toMatchObject({ look, words });
});

test('a disk that says nothing of its size has no bar', () => {
  expect(fullness({ total_bytes: null, free_bytes: null })).toBeUndefined();
  expect(fullness({ total_bytes: 0, free_bytes: 0 })).toBeUndefined();
});

test('figures lead to the lists behind them, and only what needs a look has a colour', () => {
  const overview = {
    jobs: { running: 0, waiting: 2, done_last_day: 1234, failed_last_day: 3 },
    accounts: { active: 5, pending: 1 },
    activities: { ongoing: 0, failed_last_day: 0 },
  } as Overview;
  expect(figuresOf(overview).map(({ label, count, look, href }) => [label, count, look, href])).toEqual([
    ['Running jobs', '0', undefined, '/v2/admin/jobs?status=submitted'],
    ['Failed jobs, last 24 h', '3', 'failed', '/v2/admin/jobs?status=failed'],
    ['Pending accounts', '1', 'warning', '/v2/admin/users?kind=pending'],
    ['Ongoing installations', '0', undefined, '/v2/admin/task-groups/activities'],
  ]);
});
