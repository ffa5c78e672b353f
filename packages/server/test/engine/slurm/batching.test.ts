import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { batches, batchesOf, packCount } from '../../../src/engine/slurm/batching.ts';
import { BATCHING, optionsFor } from './support.ts';

const SMALL = {
  target_num_jobs: 2,
  max_num_jobs: 4,
  target_cpus_per_job: 1,
  max_cpus_per_job: 1,
  target_mem_per_job: 200,
  max_mem_per_job: 500,
};

const work = (members: Partial<Parameters<typeof batches>[0]>) =>
  batches({
    total: 10,
    cpus: 2,
    memory: 1000,
    batching: BATCHING,
    unitsPerPack: null,
    parallelUnits: null,
    ...members,
  });

describe('how many units a Slurm job takes', () => {
  it.each([
    [1, 1, 1, 1],
    [2, 1, 1, 2],
    [3, 1, 1, 3],
    [4, 1, 1, 4],
    [5, 2, 1, 3],
    [10, 3, 1, 4],
  ])('%i small units: %i in a job, %i at a time, %i jobs', (total, unitsPerPack, parallel, jobs) => {
    expect(work({ total, cpus: 1, memory: 100, batching: SMALL })).toEqual({ unitsPerPack, parallel, warnings: [] });
    expect(packCount(total, unitsPerPack)).toBe(jobs);
  });

  it.each([
    [1, 2, 2, 1],
    [10, 2, 2, 5],
    [200, 2, 2, 100],
    [201, 8, 8, 26],
    [8000, 8, 8, 1000],
    [8001, 9, 8, 889],
    [20_000, 20, 8, 1000],
  ])('%i larger units: %i in a job, %i at a time, %i jobs', (total, unitsPerPack, parallel, jobs) => {
    expect(work({ total })).toEqual({ unitsPerPack, parallel, warnings: [] });
    expect(packCount(total, unitsPerPack)).toBe(jobs);
  });

  it.each<[string, Partial<Parameters<typeof batches>[0]>, [number, number]]>([
    ['above the target and below the limit', { memory: 20_000 }, [1, 1]],
    ['more at a time than in a job', { unitsPerPack: 2, parallelUnits: 5 }, [2, 2]],
    ['zero as no choice', { unitsPerPack: 0, parallelUnits: 0 }, [2, 2]],
    ['a choice', { unitsPerPack: 6, parallelUnits: 2 }, [6, 2]],
  ])('%s', (_, members, [unitsPerPack, parallel]) => {
    expect(work(members)).toEqual({ unitsPerPack, parallel, warnings: [] });
  });

  it.each<[string, Partial<Parameters<typeof batches>[0]>, RegExp]>([
    [
      'only one choice',
      { unitsPerPack: 0, parallelUnits: 2 },
      /^parallel_tasks_per_job is set and tasks_per_job is not/,
    ],
    ['only the other', { unitsPerPack: 2 }, /^tasks_per_job is set and parallel_tasks_per_job is not\. Set both/],
    ['too many CPUs at a time', { cpus: 10, unitsPerPack: 2, parallelUnits: 2 }, /need 20 CPUs, and .* may have 16/],
    [
      'too much memory at a time',
      { memory: 20_000, unitsPerPack: 2, parallelUnits: 2 },
      /need 40000 MB of memory, and .* may have 32000 MB/,
    ],
    [
      'too many jobs',
      { total: 100_000, unitsPerPack: 2, parallelUnits: 2 },
      /need 50000 Slurm jobs, and .* may have 1000/,
    ],
    [
      'too many CPUs',
      { cpus: 100 },
      /^A process needs 100 CPUs \(cpus_per_task\), and a job on this resource may have 16/,
    ],
    ['too much memory', { memory: 32_001 }, /^A process needs 32001 MB of memory \(mem\), and .* may have 32000 MB/],
    ['no memory', { memory: 0 }, /^mem is 0, and a process needs memory\. Set mem in the settings of the task/],
  ])('not with %s', (_, members, problem) => {
    expect(work(members)).toEqual({ problem: expect.stringMatching(problem) });
  });

  it('tells when a choice is over a target', () => {
    const chosen = work({ total: 1000, memory: 4000, unitsPerPack: 3, parallelUnits: 3 });
    expect(chosen).toEqual({
      unitsPerPack: 3,
      parallel: 3,
      warnings: [
        '6 CPUs of a job are more than the target of the resource, 4.',
        '12000 MB of memory of a job are more than the target of the resource, 10000.',
        '334 Slurm jobs are more than the target of the resource, 100.',
      ],
    });
  });
});

describe('a phase of a task', () => {
  it('with one process has it alone, and refuses what is too large', () => {
    expect(batchesOf(optionsFor(), 1, true)).toEqual({ unitsPerPack: 1, parallel: 1, warnings: [] });
    expect(batchesOf(optionsFor({ meta: { cpus_per_task: 17 } }), 1, true)).toHaveProperty('problem');
    expect(batchesOf(optionsFor({ meta: { tasks_per_job: 4 } }), 1, true)).toHaveProperty('problem');
  });

  it.each([
    [{}, 10, 1, 1],
    [{}, 1000, 1, 1],
    [{}, 2500, 3, 1],
    [{ parallel_tasks_per_job: 1 }, 10, 1, 1],
    [{ tasks_per_job: 5 }, 10, 5, 1],
    [{ tasks_per_job: 6, parallel_tasks_per_job: 2 }, 10, 6, 2],
  ])('that needs a GPU, with %j and %i units: %i in a job, %i at a time', (meta, total, unitsPerPack, parallel) => {
    const result = batchesOf(optionsFor({ meta: { needs_gpu: true, ...meta } }), total, false);
    expect(result).toMatchObject({ unitsPerPack, parallel });
  });

  it('that needs a GPU cannot have several at a time without saying how many in all', () => {
    const options = optionsFor({ meta: { needs_gpu: true, parallel_tasks_per_job: 2 } });
    expect(batchesOf(options, 10, false)).toEqual({ problem: expect.stringContaining('Set both') });
  });
});

describe('whatever the numbers are', () => {
  const above = (most: number) => fc.integer({ min: 1, max: most });
  const anyWork = fc.record({
    total: above(20_000),
    cpus: above(64),
    memory: above(100_000),
    batching: fc.record({
      target_num_jobs: above(500),
      max_num_jobs: above(2000),
      target_cpus_per_job: above(64),
      max_cpus_per_job: above(256),
      target_mem_per_job: above(100_000),
      max_mem_per_job: above(500_000),
    }),
    unitsPerPack: fc.option(fc.integer({ min: 0, max: 200 })),
    parallelUnits: fc.option(fc.integer({ min: 0, max: 64 })),
  });

  it('a job keeps to the limits, and there are not too many', () => {
    fc.assert(
      fc.property(anyWork, (given) => {
        const result = batches(given);
        if ('problem' in result) {
          expect(result.problem).not.toMatch(/NaN|undefined|Infinity/);
          return;
        }
        const { batching, total, cpus, memory } = given;
        expect(result.parallel).toBeGreaterThanOrEqual(1);
        expect(result.parallel).toBeLessThanOrEqual(result.unitsPerPack);
        expect(result.parallel * cpus).toBeLessThanOrEqual(batching.max_cpus_per_job);
        expect(result.parallel * memory).toBeLessThanOrEqual(batching.max_mem_per_job);
        expect(packCount(total, result.unitsPerPack)).toBeLessThanOrEqual(batching.max_num_jobs);
      }),
      { numRuns: 500 },
    );
  });

  it('all units have a place, and no job is empty', () => {
    fc.assert(
      fc.property(above(20_000), above(3000), (total, unitsPerPack) => {
        const jobs = packCount(total, unitsPerPack);
        const inLast = total - (jobs - 1) * unitsPerPack;
        expect(inLast).toBeGreaterThan(0);
        expect(inLast).toBeLessThanOrEqual(unitsPerPack);
      }),
    );
  });
});
