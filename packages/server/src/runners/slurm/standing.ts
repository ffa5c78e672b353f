/**
 * Learns from the scheduler which packs are over, and how they ended.
 *
 * A job that the queue has shown and shows no more is over; accounting may still know how it ended. One that it never
 * showed is over too, unless it may just not be for the service to see.
 */
import { type QueuedElement, type QueuedJobs, stateKind } from '../../engine/slurm/states.ts';
import type { Cluster } from './cluster.ts';
import type { Memory } from './memory.ts';
import type { QueueReading } from './queue.ts';
import type { Pack } from './rounds.ts';
import type { JobArray } from './submission.ts';
import type { Work } from './work.ts';

interface Parts {
  cluster: Pick<Cluster, 'queue'>;
  memory: Memory;
  work: Work;
  arrays: JobArray[];
}

interface Submitted {
  pack: Pack;
  array: JobArray;
  /** The scheduler's id: of the job that runs the pack, should it have been submitted twice. */
  id: number;
}

const arrayOf = (arrays: JobArray[], { round, index }: Pack): JobArray | undefined =>
  arrays.find((array) => array.round === round.plan.number && index >= array.base && index < array.base + array.count);

/** The scheduler's id of what runs a pack; undefined before it is submitted. */
export const idOf = (arrays: JobArray[], pack: Pack): number | undefined => pack.arrayJob ?? arrayOf(arrays, pack)?.id;

/** The scheduler counts the elements of an array from 0; a job that is none is its own only element. */
function elementIn(jobs: QueuedJobs, { pack, array, id }: Submitted): QueuedElement | undefined {
  const job = jobs.get(id);
  return job?.elements.get(array.count === 1 ? 0 : pack.index - array.base) ?? job?.rest ?? undefined;
}

/** Packs whose end is not known, with the scheduler's job that they are part of. */
const underWay = ({ work, arrays }: Parts): Submitted[] =>
  work.open().flatMap((pack) => {
    const array = arrayOf(arrays, pack);
    const id = idOf(arrays, pack);
    return pack.over || !array || id === undefined ? [] : [{ pack, array, id }];
  });

function takeElement({ pack, id }: Submitted, { jobId, state, node }: QueuedElement): void {
  // elements that wait together are shown with the id of the array
  if (!/^PENDING/i.test(state)) pack.schedulerJob ??= jobId;
  const { finished, kind } = stateKind(state);
  if (node !== '') pack.ran = true;
  if (finished) pack.over = { job: id, kind, since: Date.now() };
}

/**
 * A worker says which job it runs in. Where that is not the one that was submitted last, it may be an earlier one whose
 * `sbatch` lost its answer, or anything that a task made up: only what the queue shows with our token counts.
 */
export async function confirmClaims({ cluster, work, arrays }: Parts): Promise<void> {
  const found = new Map<string, number[] | undefined>();
  for (const pack of work.open().filter(({ claimed }) => claimed !== null)) {
    const array = arrayOf(arrays, pack);
    if (!array) continue;
    const known = pack.claimed === array.id || pack.claimed === pack.arrayJob;
    if (!known && !found.has(array.token)) found.set(array.token, await cluster.queue.find(array.token));
    const ids = found.get(array.token);
    // not answered: it is asked again
    if (!known && ids === undefined) continue;
    if (known || ids!.includes(pack.claimed!)) pack.arrayJob = pack.claimed;
    else pack.refusedClaims += 1;
    pack.claimed = null;
    // the job that was said to be over is another one, which found the pack taken
    if (pack.over && pack.arrayJob !== null && pack.over.job !== pack.arrayJob) pack.over = undefined;
  }
}

/** What the queue has forgotten. */
async function askHistory({ cluster }: Parts, forgotten: Submitted[]): Promise<void> {
  if (forgotten.length === 0) return;
  const known = await cluster.queue.history([...new Set(forgotten.map(({ id }) => id))]);
  for (const one of forgotten) {
    const element = elementIn(known, one);
    const told = element && stateKind(element.state);
    if (told && !told.finished) continue;
    one.pack.ran = true;
    one.pack.over = { job: one.id, kind: told?.kind ?? 'gone', since: Date.now() };
  }
}

export async function takeReading(parts: Parts, reading: QueueReading): Promise<void> {
  if ('problem' in reading) return;
  const forgotten: Submitted[] = [];
  for (const one of underWay(parts)) {
    const { array, id } = one;
    if (reading.jobs.has(id) && !array.seen) {
      parts.memory.add({ seen: array.token });
      array.seen = true;
    }
    const element = elementIn(reading.jobs, one);
    if (element) takeElement(one, element);
    else if (array.seen || reading.complete) forgotten.push(one);
  }
  await askHistory(parts, forgotten);
}
