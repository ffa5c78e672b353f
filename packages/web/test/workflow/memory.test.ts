import { describe, expect, it } from 'vitest';

import { killedForMemory, moreMemory, withMemory } from '../../src/lib/workflow/memory.ts';

const GB = 1024 ** 3;
const task = (task_type: 'parallel' | 'non_parallel' | 'compound' | 'converter_compound', mem?: unknown) => ({
  task_type,
  meta_parallel: mem === undefined ? null : { mem, cpus_per_task: 2 },
  meta_non_parallel: null,
});

describe('more memory for a task', () => {
  it.each([
    ['nothing asked', undefined, 16 * GB, 32_768],
    ['what it had, as a number', 16_384, 16 * GB, 32_768],
    ['what it had, as a text', '16G', 16 * GB, 32_768],
    ['as little as it gets', '200MB', 200 * 1024 ** 2, 400],
    ['whole GB above one', 700, 700 * 1024 ** 2, 2048],
    ['less than it had: the resource gave more', '4000', 16 * GB, 32_768],
    ['a text nobody can read', 'plenty', 16 * GB, 32_768],
  ])('%s', (_, mem, limit, want) => {
    expect(moreMemory(task('parallel', mem), limit)).toEqual({ block: 'meta_parallel', want });
  });

  it.each([32_768, '32G', '0.5T', '33554432K'])('not where somebody gave it %s already', (mem) => {
    expect(moreMemory(task('parallel', mem), 16 * GB)).toBeUndefined();
  });

  it('of a task without parts is that of its one phase', () => {
    expect(moreMemory(task('non_parallel'), 2 * GB)).toEqual({ block: 'meta_non_parallel', want: 4096 });
  });

  it('is not guessed where two phases may have needed it', () => {
    expect(moreMemory(task('compound'), GB)).toBeUndefined();
    expect(moreMemory(task('converter_compound'), GB)).toBeUndefined();
  });

  it('leaves alone what else is asked for', () => {
    expect(withMemory({ mem: '16G', time: '1:00:00' }, 32_768)).toEqual({ mem: 32_768, time: '1:00:00' });
    expect(withMemory(null, 400)).toEqual({ mem: 400 });
  });

  it('is for those that were killed for memory', () => {
    expect(killedForMemory(null)).toBe(0);
    expect(killedForMemory({ status: 'submitted' } as never)).toBe(0);
    expect(killedForMemory({ causes: { error: 3 } } as never)).toBe(0);
    expect(killedForMemory({ causes: { error: 3, memory: 6 } } as never)).toBe(6);
  });
});
