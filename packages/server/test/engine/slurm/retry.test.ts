import { describe, expect, it } from 'vitest';

import { type JsonObject, parseJson } from '@service/contract';

import { batchesOf } from '../../../src/engine/slurm/batching.ts';
import { retryOptions } from '../../../src/engine/slurm/retry.ts';
import { ask, optionsFor } from './support.ts';

describe('running again with more', () => {
  it.each<[string, object]>([
    ['{}', { times: 1, mem_factor: 2, max_mem: null, time_factor: 2, max_time: null }],
    [
      '{"times": 5, "mem_factor": 1.5, "max_mem": "16G", "time_factor": 3.0, "max_time": "1-0"}',
      { times: 5, mem_factor: 1.5, max_mem: 16_000, time_factor: 3, max_time: '1-0' },
    ],
    ['{"times": "2", "max_mem": null}', { times: 2, mem_factor: 2, max_mem: null, time_factor: 2, max_time: null }],
  ])('with retry %s', (json, retry) => {
    expect(optionsFor({ meta: { retry: parseJson(json) } }).retry).toEqual(retry);
  });

  it.each<[unknown, RegExp]>([
    ['twice', /^retry must be an object with some of times, mem_factor/],
    [[1], /^retry must be an object/],
    [{ time: 1 }, /^retry\.time is not known\. Possible are times, mem_factor, max_mem, time_factor, max_time\./],
    [{ times: 0 }, /^retry\.times must be a whole number from 1 to 5/],
    [{ times: 6 }, /^retry\.times/],
    [{ times: 1.5 }, /^retry\.times/],
    [{ mem_factor: 1 }, /^retry\.mem_factor must be a number above 1/],
    [{ time_factor: 11 }, /^retry\.time_factor must be a number above 1, at most 10/],
    [{ time_factor: '2' }, /^retry\.time_factor/],
    [{ max_mem: '10K' }, /^retry\.max_mem must be a number of MB/],
    [{ max_time: 60 }, /^retry\.max_time must be a text such as/],
    [{ max_time: 'long' }, /^retry\.max_time/],
  ])('not with retry %j', (retry, problem) => {
    expect(ask({ meta: { retry } })).toEqual({ problem: expect.stringMatching(problem) });
  });

  type Case = [string, JsonObject, number, 'memory' | 'time_limit', object | undefined];
  it.each<Case>([
    ['is off', { mem: '1G' }, 0, 'memory', undefined],
    ['doubles the memory', { retry: {} }, 0, 'memory', { mem: 2000, time: null }],
    ['does it once', { retry: {} }, 1, 'memory', undefined],
    ['does it as often as asked', { retry: { times: 3 } }, 2, 'memory', { mem: 2000 }],
    ['and not more often', { retry: { times: 3 } }, 3, 'memory', undefined],
    ['rounds memory up', { mem: 1001, retry: { mem_factor: 1.5 } }, 0, 'memory', { mem: 1502 }],
    ['keeps to max_mem', { mem: '3G', retry: { max_mem: '4G' } }, 0, 'memory', { mem: 4000 }],
    ['keeps to the most of a job', { mem: '20G', retry: {} }, 0, 'memory', { mem: 32_000 }],
    ['stops where memory cannot grow', { mem: '32G', retry: {} }, 0, 'memory', undefined],
    ['stops where max_mem is less', { mem: '3G', retry: { max_mem: '2G' } }, 0, 'memory', undefined],
    ['doubles the time', { time: '1:30:00', retry: {} }, 0, 'time_limit', { time: '03:00:00', mem: 1000 }],
    [
      'rounds time up to a minute',
      { time: '0:90', retry: { time_factor: 1.5 } },
      0,
      'time_limit',
      { time: '00:03:00' },
    ],
    ['keeps to max_time', { time: '20', retry: { max_time: '30' } }, 0, 'time_limit', { time: '00:30:00' }],
    ['stops where time cannot grow', { time: '30', retry: { max_time: '30' } }, 0, 'time_limit', undefined],
    ['does not know more than no limit', { time: 'UNLIMITED', retry: {} }, 0, 'time_limit', undefined],
    ['does not know the limit of the partition', { retry: {} }, 0, 'time_limit', undefined],
    ['takes max_time instead', { retry: { max_time: '2-0' } }, 0, 'time_limit', { time: '2-0' }],
  ])('%s: %j after %i attempts', (_, meta, attempt, cause, expected) => {
    const options = optionsFor({ meta });
    expect(retryOptions(options, attempt, cause)).toEqual(expected && { ...options, ...expected });
  });

  it('leaves room for what the user chose to run at a time', () => {
    const options = optionsFor({ meta: { mem: '10G', tasks_per_job: 6, parallel_tasks_per_job: 3, retry: {} } });
    const next = retryOptions(options, 0, 'memory')!;
    expect(next).toMatchObject({ mem: 20_000, tasks_per_job: 6, parallel_tasks_per_job: 1 });
    expect(batchesOf(next, 12, false)).toMatchObject({ unitsPerPack: 6, parallel: 1 });
  });
});
