/** How a job went over time: its tasks, and what ran when, in at most 400 bins. */
import type { Timeline } from '@service/contract';

import type { Executor } from './store/jobs.ts';
import * as store from './store/timeline.ts';

const MOST_BINS = 400;

/** A bin is looked at so many times; it shows the most units that ran at one of them. */
const LOOKS = 10;

function runningIn(count: number, stretches: store.Stretch[], flows: { part: number; change: number }[]): number[] {
  const running = new Array<number>(count).fill(0);
  // a unit between two looks was there all the same
  for (const { first, last } of stretches) for (const bin of [first, last]) running[bin] = 1;
  const changes = new Map(flows.map(({ part, change }) => [part, change]));
  let now = 0;
  for (let part = 0; part < count * LOOKS; part++) {
    const bin = Math.floor(part / LOOKS);
    const before = part % LOOKS === 0 ? now : 0;
    now += changes.get(part) ?? 0;
    running[bin] = Math.max(running[bin]!, before, now);
  }
  return running;
}

function memoryIn(count: number, stretches: store.Stretch[]): number[] {
  const memory = new Array<number>(count).fill(0);
  for (const { first, last, peak_memory_bytes: peak } of stretches) {
    for (let bin = first; peak !== null && bin <= last; bin++) memory[bin] = Math.max(memory[bin]!, peak);
  }
  return memory;
}

function finishedIn(count: number, stretches: store.Stretch[]): number[] {
  const finished = new Array<number>(count).fill(0);
  for (const stretch of stretches) finished[stretch.last]! += stretch.finished;
  return finished;
}

async function binsOf(db: Executor, jobId: number): Promise<Timeline['bins']> {
  const { start, seconds: span } = await store.spanOfJob(db, jobId);
  if (start === null) return { start, seconds: 1, running: [], finished: [], peak_memory_bytes: [] };
  const seconds = Math.max(1, Math.ceil(span / MOST_BINS));
  const count = Math.max(1, Math.ceil(span / seconds));
  const bins = { start, seconds, count };
  const stretches = await store.stretches(db, jobId, bins);
  return {
    start,
    seconds,
    running: runningIn(count, stretches, await store.flows(db, jobId, bins, LOOKS)),
    finished: finishedIn(count, stretches),
    peak_memory_bytes: memoryIn(count, stretches),
  };
}

export const timelineOf = async (db: Executor, jobId: number): Promise<Timeline> => ({
  tasks: await store.runsOfJob(db, jobId),
  bins: await binsOf(db, jobId),
});
