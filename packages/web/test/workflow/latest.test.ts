import { describe, expect, it } from 'vitest';

import { followedRun, lastLine, shortImageName } from '../../src/lib/workflow/latest.ts';

const unit = {
  id: 7,
  zarr_urls: ['/data/screen/P3.zarr/K/17/0'],
  is_init: false,
  status: 'done' as const,
  cause: null,
  signal: null,
  has_warnings: false,
  num_warnings: 0,
  timestamp_started: '2026-11-03T14:00:00Z',
  timestamp_ended: '2026-11-03T14:00:58Z',
  peak_memory_bytes: 6.1 * 1024 ** 3,
};
const line = (more: object = {}) => lastLine({ ...unit, ...more }, '/data/screen');

describe('what ended last', () => {
  it('is told by plate and well, with time and memory', () => {
    expect(line()).toEqual({
      id: 7,
      url: '/data/screen/P3.zarr/K/17/0',
      name: 'P3 K17',
      state: { look: 'done', word: 'Done' },
      words: '58 s, 6.1 GB',
    });
  });

  it.each([
    [{ status: 'failed', cause: 'memory' }, 'failed', 'out of memory'],
    [{ status: 'failed', cause: 'signal', signal: 9 }, 'failed', 'ended by signal 9'],
    [{ status: 'failed', cause: 'stopped' }, 'stopped', 'stopped'],
    [{ has_warnings: true, num_warnings: 1 }, 'warning', '58 s, 1 warning'],
    [{ has_warnings: true }, 'warning', '58 s, with warnings'],
    [{ peak_memory_bytes: null }, 'done', '58 s'],
    [{ timestamp_ended: '2026-11-03T14:04:10Z', peak_memory_bytes: null }, 'done', '4 min'],
    [{ timestamp_started: null, peak_memory_bytes: null }, 'done', ''],
    // units of a compound task keep their status until all have ended
    [{ status: 'submitted' }, 'done', '58 s, 6.1 GB'],
    [{ status: 'submitted', cause: 'error' }, 'failed', 'task error'],
  ])('with %j is %s: %s', (more, look, words) => {
    expect([line(more).state.look, line(more).words]).toEqual([look, words]);
  });

  it('is told by its path where it is on no plate, and by its number where it has no image', () => {
    expect(shortImageName('/data/screen/one/two.zarr', '/data/screen')).toBe('one/two.zarr');
    expect(shortImageName('/data/screen/a/b.zarr/AA/3/0', '/data/screen')).toBe('b AA3');
    expect(line({ zarr_urls: [] })).toMatchObject({ name: 'unit 7', url: undefined });
  });
});

describe('the run that is followed', () => {
  const task = { id: 3, task_type: 'parallel' as const };
  const job = (more: object = {}) =>
    ({
      id: 5,
      status: 'submitted',
      task_statuses: { 3: { status: 'submitted', job_id: 5, history_run_id: 9 } },
      ...more,
    }) as unknown as NonNullable<Parameters<typeof followedRun>[1]>;

  it('is that of the job which is under way', () => {
    expect(followedRun(task, job())).toBe(9);
    expect(followedRun({ ...task, task_type: 'converter_compound' }, job())).toBe(9);
  });

  it.each([
    ['there is no job', task, null],
    ['the job has ended', task, job({ status: 'done' })],
    ['the task is of an earlier job', task, job({ id: 6 })],
    ['the task has not begun', task, job({ task_statuses: { 3: { status: 'submitted' } } })],
    ['the task never ran', task, job({ task_statuses: {} })],
    ['the task does all in one go', { ...task, task_type: 'non_parallel' as const }, job()],
  ])('is none where %s', (_, one, of) => expect(followedRun(one, of)).toBeUndefined());
});
