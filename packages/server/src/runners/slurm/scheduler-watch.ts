/**
 * Learns from the scheduler which packs are over, and how they ended.
 *
 * A job that the queue has shown and shows no more is over; accounting may still know how it ended. One that it never
 * showed is over too, unless it may just not be for the service to see.
 */
import { stateKind } from '../../engine/slurm/states.ts';
import type { QueuedElement, QueuedJobs, QueueReading, SlurmQueue } from '../../slurm/index.ts';
import type { JobArray, JobArrays } from './job-arrays.ts';
import type { Progress } from './progress.ts';
import type { Pack } from './rounds.ts';

interface WatchParts {
  queue: SlurmQueue;
  progress: Progress;
  arrays: JobArrays;
}

export interface SchedulerWatch {
  /** Whether there is something to ask the queue about. */
  hasSubmitted(): boolean;
  /** Asks the queue about the packs that are open, and learns what it says. */
  look(withinMs: number): Promise<void>;
  /**
   * A worker says which job it runs in. Where that is not the one that was submitted last, it may be an earlier one whose
   * `sbatch` lost its answer, or anything that a task made up: only what the queue shows with our token counts.
   */
  confirmClaims(): Promise<void>;
}

interface Submitted {
  pack: Pack;
  array: JobArray;
  /** The scheduler's id: of the job that runs the pack, should it have been submitted twice. */
  id: number;
}

/** The scheduler counts the elements of an array from 0; a job that is none is its own only element. */
function elementIn(jobs: QueuedJobs, { pack, array, id }: Submitted): QueuedElement | undefined {
  const job = jobs.get(id);
  return job?.elements.get(array.count === 1 ? 0 : pack.index - array.base) ?? job?.rest ?? undefined;
}

function takeElement({ pack, id }: Submitted, { jobId, state, node }: QueuedElement): void {
  // elements that wait together are shown with the id of the array
  if (!/^PENDING/i.test(state)) pack.schedulerJob ??= jobId;
  const { finished, kind } = stateKind(state);
  if (node !== '') pack.ran = true;
  if (finished) pack.over = { job: id, kind, since: Date.now() };
}

export function createSchedulerWatch({ queue, progress, arrays }: WatchParts): SchedulerWatch {
  /** Packs whose end is not known, with the scheduler's job that they are part of. */
  const underWay = (): Submitted[] =>
    progress.open().flatMap((pack) => {
      const array = arrays.ofPack(pack);
      const id = arrays.idOf(pack);
      return pack.over || !array || id === undefined ? [] : [{ pack, array, id }];
    });

  /** What the queue has forgotten. */
  async function askHistory(forgotten: Submitted[]): Promise<void> {
    if (forgotten.length === 0) return;
    const known = await queue.history([...new Set(forgotten.map(({ id }) => id))]);
    for (const one of forgotten) {
      const element = elementIn(known, one);
      const told = element && stateKind(element.state);
      if (told && !told.finished) continue;
      one.pack.ran = true;
      one.pack.over = { job: one.id, kind: told?.kind ?? 'gone', since: Date.now() };
    }
  }

  async function takeReading(reading: QueueReading): Promise<void> {
    if ('problem' in reading) return;
    const forgotten: Submitted[] = [];
    for (const one of underWay()) {
      if (reading.jobs.has(one.id)) arrays.seen(one.array);
      const element = elementIn(reading.jobs, one);
      if (element) takeElement(one, element);
      else if (one.array.seen || reading.complete) forgotten.push(one);
    }
    await askHistory(forgotten);
  }

  function settleClaim(pack: Pack, isConfirmed: boolean): void {
    if (isConfirmed) pack.arrayJob = pack.claimed;
    else pack.refusedClaims += 1;
    pack.claimed = null;
    // the job that was said to be over is another one, which found the pack taken
    if (pack.over && pack.arrayJob !== null && pack.over.job !== pack.arrayJob) pack.over = undefined;
  }

  const openIds = () => [...new Set(progress.open().flatMap((pack) => arrays.idOf(pack) ?? []))];

  return {
    hasSubmitted: () => openIds().length > 0,
    look: async (withinMs) => takeReading(await queue.read(openIds(), withinMs)),
    async confirmClaims() {
      const found = new Map<string, Awaited<ReturnType<SlurmQueue['find']>>>();
      for (const pack of progress.open().filter(({ claimed }) => claimed !== null)) {
        const array = arrays.ofPack(pack);
        if (!array) continue;
        const { token } = array;
        const known = pack.claimed === array.id || pack.claimed === pack.arrayJob;
        if (!known && !found.has(token)) found.set(token, await queue.find({ token }));
        const answer = known ? undefined : found.get(token)!;
        // not answered: it is asked again
        if (answer && 'problem' in answer) continue;
        settleClaim(pack, !answer || answer.ids.includes(pack.claimed!));
      }
    },
  };
}
