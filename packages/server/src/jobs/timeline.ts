/** How a job went over time: its tasks, and what ran when, in at most 400 bins. */
import type { Timeline } from '@service/contract';

import type { Executor } from './store/jobs.ts';
import * as store from './store/timeline.ts';

const MOST_BINS = 400;

/** A bin shows the most units that ran at once in it; where nothing began or ended, those that go on. */
function runningIn(count: number, flows: store.Flow[]): number[] {
  const running = new Array<number>(count).fill(0);
  const flowOf = new Map(flows.map((flow) => [flow.bin, flow]));
  let before = 0;
  for (let bin = 0; bin < count; bin++) {
    const flow = flowOf.get(bin);
    running[bin] = Math.max(before, flow?.most ?? 0);
    before += flow?.change ?? 0;
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
    running: runningIn(count, await store.flows(db, jobId, bins)),
    finished: finishedIn(count, stretches),
    peak_memory_bytes: memoryIn(count, stretches),
  };
}

export const timelineOf = async (db: Executor, jobId: number): Promise<Timeline> => ({
  tasks: await store.runsOfJob(db, jobId),
  bins: await binsOf(db, jobId),
});
