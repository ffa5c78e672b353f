/**
 * What workers write about their units, one line of JSON a record, and what of it is believed.
 *
 *     {"start": 0, "time": 1.5}
 *     {"end": 0, "time": 2.5, "exit_code": 0, …}
 *
 * A worker runs beside the tasks of a person, under the same account: a task can write to the journal, too. So a line is a
 * record only when every part of it is what a worker could have written; all else of it is dropped.
 */
import { z } from 'zod';

import type { EndKind } from '../engine/slurm/states.ts';

const LARGEST_INTEGER = 2 ** 31 - 1;
/** In the year 2242. */
const LATEST_TIME = 2 ** 33;
const LONGEST_PROBLEM = 10_000;
const LONGEST_TAIL = 64 * 1024;
/** What the scheduler's own files held at their end. */
const LONGEST_WORDS = 300 * 1024;
const LONGEST_LOG = 512 * 1024;

const unitNumber = z.int().min(0).max(LARGEST_INTEGER);
const processNumber = z.int().min(1).max(LARGEST_INTEGER);
const time = z.number().min(0).max(LATEST_TIME);
const bytes = z.int().min(0);
const ticks = z.string().regex(/^\d{0,20}$/);
const name = z.string().regex(/^[\w.:-]{1,255}$/);
const text = (longest: number) => z.string().max(longest);
const jobId = z.int().min(1).max(LARGEST_INTEGER);

const Worker = z.object({
  worker: processNumber,
  started: ticks,
  boot: z.string().max(100),
  time,
  host: name.catch('unknown'),
  /** In a job of a scheduler, and how often it has started that job again. */
  scheduler_job_id: jobId.nullish(),
  array_job: jobId.nullish(),
  restart: z.int().min(0).max(LARGEST_INTEGER).optional(),
});

const End = z.object({
  end: unitNumber,
  /** Seconds since 1970. */
  time,
  exit_code: z.int().min(0).max(255).nullable(),
  signal: z.int().min(1).max(128).nullable(),
  cpu_seconds: z.number().min(0).max(1e12),
  peak_memory_bytes: bytes.nullable(),
  out_of_memory: z.boolean(),
  num_warnings: bytes.transform((number) => Math.min(number, LARGEST_INTEGER)),
  log_bytes: bytes,
  output: z.string().nullable(),
  output_bytes: bytes,
  output_too_large: z.boolean().optional(),
  output_not_text: z.boolean().optional(),
  problem: text(LONGEST_PROBLEM).nullable(),
  stopped: z.boolean(),
  lost: z.boolean(),
  tail: text(LONGEST_TAIL),
  memory_limit_bytes: bytes.nullish(),
  /** The whole log, where it is short and comes along; in base64 where it is not text. */
  log: text(LONGEST_LOG).optional(),
  log64: text(LONGEST_LOG)
    .regex(/^[A-Za-z0-9+/]*={0,2}$/)
    .optional(),
});

const KINDS = {
  worker: Worker,
  /** What it obeys, and the number of the order that says so. */
  slots: z.object({ slots: z.int().min(0).max(LARGEST_INTEGER), order: z.int().min(0).optional() }),
  stopping: z.object({ stopping: z.literal(true) }),
  /** Python imports for all units before the first of them starts. */
  importing: z.object({ importing: z.literal(true), time }),
  start: z.object({ start: unitNumber, time }),
  running: z.object({ running: unitNumber, pid: processNumber, started: ticks }),
  end: End,
  finished: z.object({
    finished: z.literal(true),
    stopped: z.boolean(),
    out: text(LONGEST_WORDS).optional(),
    err: text(LONGEST_WORDS).optional(),
  }),
};

/** As a worker writes it. */
export type WorkerRecord = z.output<(typeof KINDS)[keyof typeof KINDS]>;

export type ToldEnd = z.output<typeof End>;

/** How a unit ended, with what the service knows of it. */
export interface UnitEnd extends Omit<ToldEnd, 'log' | 'log64'> {
  /** Where it ran, on a cluster. */
  node?: string | null;
  scheduler_job_id?: number | null;
  /** How the scheduler's job ended, where that ended the unit. */
  scheduler?: { kind: EndKind | 'gone'; words: string };
}

interface UnitStart {
  start: number;
  time: number;
  node?: string | null;
  scheduler_job_id?: number | null;
}

/** What the job hears. */
export type JournalRecord = Exclude<WorkerRecord, ToldEnd | { start: number }> | UnitStart | UnitEnd;

/** Fields that workers which run since before an update of the service, and files from then, know by other names. */
const EARLIER_NAMES: [earlier: string, now: string][] = [
  ['places', 'slots'],
  ['cpu', 'cpu_seconds'],
  ['memory', 'peak_memory_bytes'],
  ['warnings', 'num_warnings'],
  ['memory_limit', 'memory_limit_bytes'],
  ['scheduler_job', 'scheduler_job_id'],
];

export function withNamesOfNow<T extends object>(record: T): T {
  const members = record as Record<string, unknown>;
  for (const [earlier, now] of EARLIER_NAMES) {
    if (Object.hasOwn(record, earlier) && !Object.hasOwn(record, now)) members[now] = members[earlier];
  }
  return record;
}

/** Undefined for a line that is none. */
export function recordIn(line: string): WorkerRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const record = withNamesOfNow(value);
  const kind = (Object.keys(KINDS) as (keyof typeof KINDS)[]).find((key) => Object.hasOwn(record, key));
  return kind && KINDS[kind].safeParse(record).data;
}
