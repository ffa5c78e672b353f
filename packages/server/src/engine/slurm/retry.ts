/**
 * Units that ran out of memory or time run again with more of it, when `retry` in the settings of the task says so:
 *
 *     "retry": { "times": 2, "mem_factor": 2, "max_mem": "64G", "time_factor": 1.5, "max_time": "1-0" }
 */
import { plain, readInteger, readMemory } from '@service/contract';

import { isJsonObject } from '../values.ts';
import type { Retry, SlurmOptions } from './options.ts';
import { readTime, TIME_FORMS, writeTime } from './time.ts';

const MOST_TIMES = 5;
const LARGEST_FACTOR = 10;
const KEYS = ['times', 'mem_factor', 'max_mem', 'time_factor', 'max_time'];

export const MEMORY_FORMS = 'a number of MB, or digits followed by M, G or T, for example "4G"';

export function readRetry(value: unknown): { retry: Retry | null } | { problem: string } {
  if (value === null || value === undefined || value === false) return { retry: null };
  if (!isJsonObject(value)) return { problem: `retry must be an object with some of ${KEYS.join(', ')}.` };
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) return { problem: `retry.${unknown} is not known. Possible are ${KEYS.join(', ')}.` };
  const times = timesOf(value['times']);
  const mem_factor = factorOf(value['mem_factor']);
  const time_factor = factorOf(value['time_factor']);
  const max_mem = memoryOf(value['max_mem']);
  const max_time = timeOf(value['max_time']);
  if (times === undefined) return { problem: `retry.times must be a whole number from 1 to ${MOST_TIMES}.` };
  if (mem_factor === undefined || time_factor === undefined) {
    const key = mem_factor === undefined ? 'mem_factor' : 'time_factor';
    return { problem: `retry.${key} must be a number above 1, at most ${LARGEST_FACTOR}.` };
  }
  if (max_mem === undefined) return { problem: `retry.max_mem must be ${MEMORY_FORMS}.` };
  if (max_time === undefined) return { problem: `retry.max_time must be a text such as ${TIME_FORMS}.` };
  return { retry: { times, mem_factor, max_mem, time_factor, max_time } };
}

const isMissing = (value: unknown): value is null | undefined => value === null || value === undefined;

function timesOf(value: unknown): number | undefined {
  if (isMissing(value)) return 1;
  const reading = readInteger(plain(value));
  return 'problem' in reading || reading.value < 1 || reading.value > MOST_TIMES ? undefined : reading.value;
}

function factorOf(value: unknown): number | undefined {
  if (isMissing(value)) return 2;
  const factor = plain(value);
  return typeof factor === 'number' && factor > 1 && factor <= LARGEST_FACTOR ? factor : undefined;
}

function memoryOf(value: unknown): number | null | undefined {
  if (isMissing(value)) return null;
  const reading = readMemory(plain(value));
  return 'problem' in reading ? undefined : reading.value;
}

function timeOf(value: unknown): string | null | undefined {
  if (isMissing(value)) return null;
  return typeof value === 'string' && readTime(value.trim()) !== undefined ? value.trim() : undefined;
}

/**
 * What the next attempt asks for; undefined when none is left, or when it would get no more than the last one had.
 * `options` are those of the attempt that failed; `attempt` says how many with less came before it, 0 for the first.
 */
export function retryOptions(
  options: SlurmOptions,
  attempt: number,
  cause: 'memory' | 'time_limit',
): SlurmOptions | undefined {
  const { retry } = options;
  if (retry === null || attempt >= retry.times) return undefined;
  return cause === 'memory' ? withMoreMemory(options, retry) : withMoreTime(options, retry);
}

function withMoreMemory(options: SlurmOptions, retry: Retry): SlurmOptions | undefined {
  const largest = options.batching_config.max_mem_per_job;
  const mem = Math.min(Math.ceil(options.mem * retry.mem_factor), retry.max_mem ?? Infinity, largest);
  if (mem <= options.mem) return undefined;
  // as many at a time as the user chose may not fit any more
  const parallel =
    options.parallel_tasks_per_job && Math.min(options.parallel_tasks_per_job, Math.floor(largest / mem));
  return { ...options, mem, parallel_tasks_per_job: parallel };
}

/** Slurm counts minutes. A task without a time of its own had the one of its partition, which nobody here knows. */
function withMoreTime(options: SlurmOptions, retry: Retry): SlurmOptions | undefined {
  const largest = retry.max_time === null ? Infinity : readTime(retry.max_time)!;
  if (options.time === null) return retry.max_time === null ? undefined : { ...options, time: retry.max_time };
  const before = readTime(options.time);
  if (before === undefined || before === Infinity) return undefined;
  const after = Math.min(Math.ceil((before * retry.time_factor) / 60) * 60, largest);
  return after <= before ? undefined : { ...options, time: writeTime(after) };
}
