/**
 * How a job went over time, as places on a line from 0 to 1: one lane for each task, ticks with the time of day, and what
 * was at work at any moment.
 */
import type { Job, Timeline, WorkflowExport } from '@service/contract';

import { counted, formatCount, formatMemory } from '../format.ts';
import { isOver } from './jobs.ts';

export type TimelineTask = Timeline['tasks'][number];

export interface Span {
  /** Milliseconds. */
  start: number;
  end: number;
}

const LEAST_MS = 1000;

type JobTimes = Pick<Job, 'status' | 'start_timestamp' | 'end_timestamp'>;

/** From the submission to the end, or to now; where nobody recorded the end, to the last time that somebody did. */
export function spanOf(job: JobTimes, tasks: readonly TimelineTask[], now: number): Span {
  const start = Date.parse(job.start_timestamp);
  const known = tasks.map(({ timestamp_started, timestamp_ended }) => Date.parse(timestamp_ended ?? timestamp_started));
  const last = isOver(job) ? Math.max(start, ...known) : now;
  const end = job.end_timestamp === null ? last : Date.parse(job.end_timestamp);
  return { start, end: Math.max(end, start + LEAST_MS) };
}

const placeIn = ({ start, end }: Span, time: number): number =>
  Math.min(1, Math.max(0, (time - start) / (end - start)));

const MINUTE = 60;
const HOUR = 3600;
const STEPS = [1, 2, 5, 10, 15, 30, MINUTE, 120, 300, 600, 900, 1800, HOUR, 7200, 10_800, 21_600, 43_200, 86_400];

export interface Tick {
  at: number;
  label: string;
}

const clock = (time: number, withSeconds: boolean) =>
  new Date(time).toLocaleTimeString([], { timeStyle: withSeconds ? 'medium' : 'short', hourCycle: 'h23' });

/** Times of day at round moments, at most `most` of them. */
export function ticksOf({ start, end }: Span, most = 7): Tick[] {
  const seconds = (end - start) / 1000;
  const step = 1000 * (STEPS.find((one) => seconds / one <= most) ?? Math.ceil(seconds / most / 86_400) * 86_400);
  const first = Math.ceil(start / step) * step;
  const count = Math.max(0, Math.floor((end - first) / step) + 1);
  return Array.from({ length: count }, (_, index) => {
    const time = first + index * step;
    return { at: placeIn({ start, end }, time), label: clock(time, step < MINUTE * 1000) };
  });
}

interface Bar {
  x: number;
  width: number;
  /** Running units, or bytes. */
  value: number;
}

export interface Lane {
  from: number;
  to: number;
  bars: Bar[];
  /** Before its first unit was at work. */
  waiting: { x: number; width: number } | undefined;
  /** Most units at once. */
  most: number;
}

interface Stretch {
  start: number;
  end: number;
}

const stretchOf = (task: TimelineTask, span: Span): Stretch => ({
  start: Date.parse(task.timestamp_started),
  end: task.timestamp_ended === null ? span.end : Date.parse(task.timestamp_ended),
});

const overlap = (one: Stretch, other: Stretch) => Math.min(one.end, other.end) - Math.max(one.start, other.start);

/** Which bins belong to which task: tasks follow each other, so a bin is of the task that had most of it. */
function binsByTask({ bins }: Timeline, stretches: Stretch[]): number[][] {
  const begin = bins.start === null ? 0 : Date.parse(bins.start);
  const step = bins.seconds * 1000;
  const found: number[][] = stretches.map(() => []);
  bins.running.forEach((_, index) => {
    const bin = { start: begin + index * step, end: begin + (index + 1) * step };
    const shares = stretches.map((stretch) => overlap(bin, stretch));
    const most = Math.max(...shares);
    if (most > 0) found[shares.indexOf(most)]!.push(index);
  });
  // a task shorter than a bin is still seen, in the bin that it shared
  stretches.forEach((stretch, task) => {
    const index = Math.floor((stretch.start - begin) / step);
    if (found[task]!.length === 0 && index >= 0 && index < bins.running.length) found[task]!.push(index);
  });
  return found;
}

/**
 * The picture as it is now: what was at work in the last bin is still, since anything that ends is told. So nothing has
 * to be asked for while nothing changes.
 */
export function upTo(timeline: Timeline, now: number): Timeline {
  const { bins, tasks } = timeline;
  const last = bins.running.length - 1;
  if (bins.start === null || last < 0 || tasks.at(-1)?.status !== 'submitted') return timeline;
  const going = Math.max(0, bins.running[last]! - bins.finished[last]!);
  const missing = Math.floor((now - Date.parse(bins.start)) / (bins.seconds * 1000)) - last;
  if (going === 0 || missing <= 0) return timeline;
  const filled = (value: number) => new Array<number>(missing).fill(value);
  return {
    tasks,
    bins: {
      ...bins,
      running: [...bins.running, ...filled(going)],
      finished: [...bins.finished, ...filled(0)],
      peak_memory_bytes: [...bins.peak_memory_bytes, ...filled(bins.peak_memory_bytes[last]!)],
    },
  };
}

export type Measure = 'units' | 'memory';

/** `recorded` says whether anybody wrote down when units were at work. */
export function lanesOf(timeline: Timeline, span: Span, measure: Measure, recorded = true): Lane[] {
  const { bins, tasks } = timeline;
  const stretches = tasks.map((task) => stretchOf(task, span));
  const begin = bins.start === null ? span.start : Date.parse(bins.start);
  const values = measure === 'units' ? bins.running : bins.peak_memory_bytes;
  return binsByTask(timeline, stretches).map((indices, task) => {
    const stretch = stretches[task]!;
    const [from, to] = [placeIn(span, stretch.start), placeIn(span, stretch.end)];
    const bars = indices
      .map((index) => {
        const start = begin + index * bins.seconds * 1000;
        const x = Math.max(from, placeIn(span, start));
        return { x, width: Math.min(to, placeIn(span, start + bins.seconds * 1000)) - x, value: values[index] ?? 0 };
      })
      .filter(({ width, value }) => width > 0 && value > 0);
    const first = bars[0]?.x ?? to;
    return {
      from,
      to,
      bars,
      waiting: recorded && first > from ? { x: from, width: first - from } : undefined,
      most: Math.max(0, ...indices.map((index) => bins.running[index] ?? 0)),
    };
  });
}

/** The bin at a place of the line, or none before the first unit and after the last. */
export function binAt({ bins }: Timeline, span: Span, place: number): number | undefined {
  if (bins.start === null) return undefined;
  const time = span.start + place * (span.end - span.start);
  const index = Math.floor((time - Date.parse(bins.start)) / (bins.seconds * 1000));
  return index >= 0 && index < bins.running.length ? index : undefined;
}

/** Where a bin is on the line: its middle. */
export const placeOfBin = ({ bins }: Timeline, span: Span, index: number): number =>
  placeIn(span, Date.parse(bins.start!) + (index + 0.5) * bins.seconds * 1000);

/** What was at work then, in words: when, what, how much. */
export function tipOf({ bins }: Timeline, index: number): { time: string; words: string } {
  const start = Date.parse(bins.start!) + index * bins.seconds * 1000;
  const fine = bins.seconds < MINUTE;
  const memory = bins.peak_memory_bytes[index] ?? 0;
  const parts = [
    `${formatCount(bins.running[index] ?? 0)} running`,
    `${formatCount(bins.finished[index] ?? 0)} finished`,
    ...(memory > 0 ? [`${formatMemory(memory)} at most`] : []),
  ];
  return { time: `${clock(start, fine)} to ${clock(start + bins.seconds * 1000, fine)}`, words: parts.join(', ') };
}

export interface TaskRow {
  /** As people count, from 1. */
  number: number;
  name: string;
  task: TimelineTask | undefined;
}

/** The tasks of a job in their order, with those that have not begun. */
export function taskRows(
  job: Pick<Job, 'first_task_index'>,
  { tasks }: Pick<Timeline, 'tasks'>,
  ran: Pick<WorkflowExport, 'task_list'>,
): TaskRow[] {
  const first = job.first_task_index ?? 0;
  const planned = ran.task_list.map(({ alias, task }, index) => ({
    number: first + index + 1,
    name: alias ?? task.name,
    task: tasks.find(({ task_index }) => task_index === first + index),
  }));
  const others = tasks
    .filter((task) => !planned.some((row) => row.task === task))
    .map((task, index) => ({ number: (task.task_index ?? index) + 1, name: task.alias ?? task.name, task }));
  return [...others, ...planned].sort((a, b) => a.number - b.number);
}

const sum = (values: readonly (number | null)[]) => values.reduce<number>((all, value) => all + (value ?? 0), 0);

export interface Figures {
  /** Undefined where nobody counted. */
  newImages: number | undefined;
  done: number;
  failed: number;
  warned: number;
  waiting: number;
  cpu_seconds: number | undefined;
  /** The task that used most. */
  memory: { bytes: number; limit: number | null; task: string } | undefined;
  schedulerJobs: number[];
}

export function figuresOf(tasks: readonly TimelineTask[]): Figures {
  const known = tasks.filter(({ cpu_seconds }) => cpu_seconds !== null);
  const [highest] = [...tasks].sort((a, b) => (b.peak_memory_bytes ?? 0) - (a.peak_memory_bytes ?? 0));
  return {
    newImages: tasks.some(({ num_new_images }) => num_new_images === null)
      ? undefined
      : sum(tasks.map(({ num_new_images }) => num_new_images)),
    done: sum(tasks.map(({ num_done_units }) => num_done_units)),
    failed: sum(tasks.map(({ num_failed_units }) => num_failed_units)),
    warned: sum(tasks.map(({ num_units_with_warnings }) => num_units_with_warnings)),
    waiting: sum(tasks.map(({ num_submitted_units }) => num_submitted_units)),
    cpu_seconds: known.length > 0 ? sum(known.map(({ cpu_seconds }) => cpu_seconds)) : undefined,
    memory: highest?.peak_memory_bytes
      ? {
          bytes: highest.peak_memory_bytes,
          limit: highest.memory_limit_bytes,
          task: highest.alias ?? highest.name,
        }
      : undefined,
    schedulerJobs: tasks.flatMap(({ scheduler_job_ids }) => scheduler_job_ids),
  };
}

/**
 * Whether anybody wrote down when the units of a job were at work, and what they made. Of imported jobs nobody did: they have
 * units that ended, and none that began.
 */
export function isRecorded(
  job: Pick<Job, 'status' | 'timestamp_first_unit' | 'failure'>,
  { done, failed }: Pick<Figures, 'done' | 'failed'>,
): boolean {
  const ended = job.failure === null ? done + failed : done;
  return !isOver(job) || job.timestamp_first_unit !== null || ended === 0;
}

/** `6 149 done, 1 failed` */
export const unitWords = ({ done, failed, waiting }: Figures): string =>
  [
    `${formatCount(done)} done`,
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    ...(waiting > 0 ? [`${formatCount(waiting)} to do`] : []),
  ].join(', ');

export const warnedWords = (count: number): string => counted(count, 'unit has warnings', 'units have warnings');
