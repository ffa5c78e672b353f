import { describe, expect, it } from 'vitest';

import type { Timeline } from '@service/contract';

import {
  binAt,
  figuresOf,
  isRecorded,
  lanesOf,
  placeOfBin,
  spanOf,
  taskRows,
  ticksOf,
  tipOf,
  unitWords,
  upTo,
} from '../../src/lib/jobs/timeline.ts';

const GB = 1024 ** 3;

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 9, 8, 0, seconds)).toISOString();

const task = (index: number, from: number, to: number | null, more: object = {}): Timeline['tasks'][number] => ({
  workflowtask_id: 10 + index,
  task_index: index,
  name: `Task ${index}`,
  alias: null,
  history_run_id: index,
  status: 'done',
  timestamp_started: at(from),
  timestamp_ended: to === null ? null : at(to),
  num_available_images: 0,
  num_units: 4,
  num_submitted_units: 0,
  num_done_units: 4,
  num_failed_units: 0,
  num_units_with_warnings: 0,
  num_new_images: 0,
  cpu_seconds: null,
  peak_memory_bytes: null,
  memory_limit_bytes: null,
  scheduler_job_ids: [],
  is_starting: false,
  ...more,
});

const timeline = (tasks: Timeline['tasks'], running: number[], from = 0, seconds = 10): Timeline => ({
  tasks,
  bins: { start: at(from), seconds, running, finished: running, peak_memory_bytes: running.map((n) => n * GB) },
});

const JOB = { status: 'done' as const, start_timestamp: at(0), end_timestamp: at(100) };
const SPAN = spanOf(JOB, [], 0);

describe('the span', () => {
  it('of a job that is not over goes to now, and is never nothing', () => {
    const going = { ...JOB, status: 'submitted' as const, end_timestamp: null };
    expect(spanOf(going, [], Date.parse(at(50)))).toMatchObject({ end: Date.parse(at(50)) });
    const { start, end } = spanOf({ ...JOB, end_timestamp: at(0) }, [], 0);
    expect(end - start).toBe(1000);
  });

  it('of a job that is over without a known end goes to the last time of its tasks', () => {
    const over = { ...JOB, end_timestamp: null };
    const now = Date.parse(at(5000));
    expect(spanOf(over, [task(0, 0, 20), task(1, 20, 70)], now).end).toBe(Date.parse(at(70)));
    expect(spanOf(over, [task(0, 0, 20), task(1, 30, null)], now).end).toBe(Date.parse(at(30)));
    expect(spanOf(over, [], now).end).toBe(Date.parse(at(1)));
  });
});

describe('ticks', () => {
  it.each([
    [100, 15],
    [7, 1],
    [3600, 600],
    [86_400 * 30, 86_400 * 5],
  ])('over %i seconds are %i seconds apart and few', (length, step) => {
    const span = spanOf({ ...JOB, end_timestamp: at(length) }, [], 0);
    const ticks = ticksOf(span);
    expect(ticks.length).toBeLessThanOrEqual(8);
    expect(ticks.length).toBeGreaterThan(2);
    expect((ticks[1]!.at - ticks[0]!.at) * length).toBeCloseTo(step);
    expect(ticks.every(({ at: place }) => place >= 0 && place <= 1)).toBe(true);
  });
});

describe('lanes', () => {
  it('hold the bins of their own task, within its time', () => {
    const [one, two] = lanesOf(
      timeline([task(0, 0, 43), task(1, 43, 100)], [1, 2, 2, 2, 3, 4, 4, 4, 4, 1]),
      SPAN,
      'units',
    );
    expect(one).toMatchObject({ from: 0, to: 0.43, most: 2 });
    expect(one!.bars.map(({ value }) => value)).toEqual([1, 2, 2, 2]);
    expect(one!.bars.at(-1)!.x + one!.bars.at(-1)!.width).toBeLessThanOrEqual(0.43);
    expect(two!.bars[0]!.x).toBeCloseTo(0.43);
    expect(one!.bars.length + two!.bars.length).toBe(10);
  });

  it('of a task that is shorter than a bin still shows it', () => {
    const [, short] = lanesOf(
      timeline([task(0, 0, 12), task(1, 12, 14), task(2, 14, 100)], [5, 5, 5, 5]),
      SPAN,
      'units',
    );
    expect(short!.bars).toHaveLength(1);
    expect(short!.bars[0]!.width).toBeCloseTo(0.02);
  });

  it('tell how long nothing was at work', () => {
    const [lane] = lanesOf(timeline([task(0, 0, 100)], [1], 50), SPAN, 'units');
    expect(lane!.waiting).toEqual({ x: 0, width: 0.5 });
    const [nothing] = lanesOf(
      {
        tasks: [task(0, 20, null)],
        bins: { start: null, seconds: 1, running: [], finished: [], peak_memory_bytes: [] },
      },
      SPAN,
      'units',
    );
    expect(nothing).toEqual({ from: 0.2, to: 1, bars: [], waiting: { x: 0.2, width: 0.8 }, most: 0 });
  });

  it('can show memory instead', () => {
    const [lane] = lanesOf(timeline([task(0, 0, 100)], [1, 2]), SPAN, 'memory');
    expect(lane!.bars.map(({ value }) => value)).toEqual([GB, 2 * GB]);
    expect(lane!.most).toBe(2);
  });
});

describe('a job at work', () => {
  const going = timeline([task(0, 0, null, { status: 'submitted' })], [2, 3]);
  going.bins.finished = [0, 1];

  it('is drawn up to now with what has not ended', () => {
    expect(upTo(going, Date.parse(at(45))).bins).toMatchObject({ running: [2, 3, 2, 2, 2], finished: [0, 1, 0, 0, 0] });
  });

  it.each([
    ['it has ended', timeline([task(0, 0, 20)], [2, 3]), 45],
    ['everything of it has ended', { ...going, bins: { ...going.bins, finished: [0, 3] } }, 45],
    ['nothing began', { ...going, bins: { ...going.bins, start: null, running: [] } }, 45],
    ['it is up to date', going, 15],
  ])('stays as it is when %s', (_, some, now) => expect(upTo(some, Date.parse(at(now)))).toBe(some));
});

describe('a moment', () => {
  const some = timeline([task(0, 0, 100)], [1, 61, 3], 20);
  it.each([
    [0.1, undefined],
    [0.2, 0],
    [0.35, 1],
    [0.6, undefined],
  ])('at %f is in bin %s', (place, bin) => expect(binAt(some, SPAN, place)).toBe(bin));

  it('is told in words', () => {
    expect(tipOf(some, 1).words).toBe('61 running, 61 finished, 61 GB at most');
    expect(placeOfBin(some, SPAN, 1)).toBeCloseTo(0.35);
  });
});

describe('the tasks of a job', () => {
  const ran = (...names: string[]) => ({
    task_list: names.map((name) => ({ alias: null, task: { name } })),
  });

  it('stand in their order, with those that have not begun', () => {
    const rows = taskRows({ first_task_index: 2 }, { tasks: [task(2, 0, 1)] }, ran('Convert', 'Segment') as never);
    expect(rows).toMatchObject([
      { number: 3, name: 'Convert', task: { task_index: 2 } },
      { number: 4, name: 'Segment', task: undefined },
    ]);
  });

  it('that are not known from the workflow are there all the same', () => {
    const rows = taskRows({ first_task_index: 0 }, { tasks: [task(0, 0, 1)] }, ran() as never);
    expect(rows).toMatchObject([{ number: 1, name: 'Task 0' }]);
  });

  it('make figures', () => {
    const figures = figuresOf([
      task(0, 0, 1, { num_new_images: 6, cpu_seconds: 2.5, peak_memory_bytes: 5, alias: 'Mine' }),
      task(1, 1, 2, {
        num_failed_units: 1,
        num_submitted_units: 2,
        num_units_with_warnings: 1,
        scheduler_job_ids: [7, 8],
      }),
    ]);
    expect(figures).toEqual({
      newImages: 6,
      done: 8,
      failed: 1,
      warned: 1,
      waiting: 2,
      cpu_seconds: 2.5,
      memory: { bytes: 5, limit: null, task: 'Mine' },
      schedulerJobs: [7, 8],
    });
    expect(unitWords(figures)).toBe('8 done, 1 failed, 2 to do');
    expect(figuresOf([])).toMatchObject({ cpu_seconds: undefined, memory: undefined });
  });
});

describe('an imported job', () => {
  const over = { status: 'done' as const, timestamp_first_unit: null, failure: null };
  const nothing = { start: null, seconds: 1, running: [], finished: [], peak_memory_bytes: [] };

  it('has no lane of waiting: nobody recorded when its units began', () => {
    const imported = { tasks: [task(0, 0, 100)], bins: nothing };
    expect(isRecorded(over, figuresOf(imported.tasks))).toBe(false);
    expect(lanesOf(imported, SPAN, 'units', false)).toMatchObject([{ bars: [], waiting: undefined, most: 0 }]);
  });

  it('has no number of new images: nobody counted them', () => {
    expect(figuresOf([task(0, 0, 1, { num_new_images: null }), task(1, 1, 2)]).newImages).toBeUndefined();
  });

  it('is told from one whose units were stopped before they began, and from one that goes on', () => {
    const failed = figuresOf([task(0, 0, 100, { num_done_units: 0, num_failed_units: 4 })]);
    const stopped = { kind: 'stopped' as const, workflowtask_id: null, message: '', num_images: 4 };
    expect(isRecorded({ ...over, status: 'failed', failure: stopped }, failed)).toBe(true);
    expect(isRecorded({ ...over, status: 'failed' }, failed)).toBe(false);
    expect(isRecorded({ ...over, status: 'submitted' }, failed)).toBe(true);
    expect(isRecorded({ ...over, timestamp_first_unit: at(1) }, failed)).toBe(true);
    expect(isRecorded(over, figuresOf([]))).toBe(true);
  });
});
