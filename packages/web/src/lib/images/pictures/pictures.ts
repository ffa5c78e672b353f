/** Pictures that were read, kept for a while: a few are read at a time, and none twice. */
import { createAsker } from '../../ask-worker.ts';
import type { Labels, PictureData } from './read.ts';
import type { Question } from './worker.ts';

const AT_ONCE = 4;
const KEPT = 120;
/** A task may have changed the image since. */
const KEPT_MS = 120_000;

interface Kept {
  result: Promise<unknown>;
  since: number;
}

const kept = new Map<string, Kept>();
const waiting: (() => void)[] = [];
let busy = 0;

const ask = createAsker<Question>(() => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }), {
  problemOf: ({ problem }) => new Error(problem),
  broken: () => new Error('The picture can’t be loaded.'),
});

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (busy >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  busy++;
  try {
    return await work();
  } finally {
    busy--;
    // who asked last is looked at now
    waiting.pop()?.();
  }
}

/** What failed is tried again by the next who asks. */
function once(question: Question): Promise<unknown> {
  const key = JSON.stringify(question);
  const before = kept.get(key);
  if (before && Date.now() - before.since < KEPT_MS) return before.result;
  const mine: Kept = { result: inTurn(() => ask(question)), since: Date.now() };
  kept.delete(key);
  kept.set(key, mine);
  mine.result.catch(() => {
    if (kept.get(key) === mine) kept.delete(key);
  });
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT) break;
    kept.delete(oldest);
  }
  return mine.result;
}

/** `wide`: how many pixels across it should have at least. */
export const pictureOf = (address: string, wide: number): Promise<PictureData> =>
  once({ what: 'picture', address, wide }) as Promise<PictureData>;

/** Undefined where the image has no labels. */
export const labelsOf = (address: string, wide: number): Promise<Labels | undefined> =>
  once({ what: 'labels', address, wide }) as Promise<Labels | undefined>;
