/**
 * What becomes of the units of a scheduler job that is over: which have ended, and how, and which run again.
 *
 * A unit that began and has no outcome is not started again by itself: it may have changed its image. What never began is
 * submitted once more, as long as each round gets further. A unit that was killed for memory or time runs again only
 * where its task asks for it (`retries`).
 */
import type { UnitEnd } from '../records.ts';
import { type EndKind, endWords } from '../../engine/slurm/states.ts';

/** What is known of a pack whose scheduler job is over. */
export interface EndedPack {
  /** How the scheduler says that its job ended; `gone` where nobody knows any more. */
  kind: EndKind | 'gone';
  /** The units of the pack, in order. */
  units: readonly number[];
  /** Those with a start record, with the node it came from. */
  started: ReadonlyMap<number, string | null>;
  /** Those whose end is told already. */
  ended: ReadonlySet<number>;
  /** Ends whose cause only the scheduler knows: the worker was told to stop, or lost them. */
  held: readonly UnitEnd[];
  /** The service itself cancelled the job. */
  stopped: boolean;
  /** The last lines of what the scheduler's job wrote to its error stream. */
  errors: string;
  /** Seconds since 1970. */
  now: number;
  /** Whether a unit may have another attempt with more of what it lacked. */
  retries(cause: 'memory' | 'time_limit'): boolean;
}

export type WhyAgain = 'unstarted' | 'memory' | 'time_limit';

export interface PackOutcome {
  ends: UnitEnd[];
  again: { number: number; why: WhyAgain }[];
}

const NOTHING: Omit<UnitEnd, 'end' | 'time'> = {
  exit_code: null,
  signal: null,
  cpu_seconds: 0,
  peak_memory_bytes: null,
  out_of_memory: false,
  num_warnings: 0,
  log_bytes: 0,
  output: null,
  output_bytes: 0,
  problem: null,
  stopped: false,
  lost: false,
  tail: '',
};

/** What a scheduler job that ended so means for a unit that was running. */
function endOf({ kind, stopped }: EndedPack, told: UnitEnd): UnitEnd {
  if (stopped) return { ...told, stopped: true };
  // what a program says when it is told to end is not how it would have ended
  const end = told.stopped ? { ...told, exit_code: null } : told;
  const scheduler = { kind, words: endWords(kind) };
  if (kind === 'memory') return { ...end, stopped: false, out_of_memory: true, scheduler };
  if (kind === 'completed' || kind === 'failed' || kind === 'unknown') return { ...end, stopped: false, lost: true };
  return { ...end, stopped: false, lost: true, scheduler };
}

/** A unit that could not be started at all. */
export const unbegun = (number: number, now: number, words: string): UnitEnd => ({
  ...NOTHING,
  end: number,
  time: now,
  problem: words,
});

function neverBegan({ kind, errors, now }: EndedPack, number: number): UnitEnd {
  const end = { ...NOTHING, end: number, time: now };
  const scheduler = { kind, words: endWords(kind) };
  if (kind === 'cancelled' || kind === 'time_limit' || kind === 'memory') return { ...end, lost: true, scheduler };
  const said = errors.trim() === '' ? '' : ` It wrote: ${errors.trim()}`;
  return { ...end, problem: `${endWords(kind)} No task had begun.${said}` };
}

/** Submitted again, these have a better chance than before. */
const worthAnotherTry = ({ kind, started }: EndedPack): boolean =>
  kind === 'node' || kind === 'preempted' || kind === 'boot' || (kind !== 'cancelled' && started.size > 0);

export function outcomeOf(pack: EndedPack): PackOutcome {
  const { units, started, ended, held, stopped, now, kind } = pack;
  const outcome: PackOutcome = { ends: [], again: [] };
  const heldBy = new Map(held.map((end) => [end.end, end]));
  for (const number of units) {
    if (ended.has(number)) continue;
    const begun =
      heldBy.get(number) ?? (started.has(number) ? { ...NOTHING, end: number, time: now, lost: true } : undefined);
    if (begun) {
      const lacked = kind === 'memory' || kind === 'time_limit' ? kind : undefined;
      if (!stopped && lacked && pack.retries(lacked)) outcome.again.push({ number, why: lacked });
      else outcome.ends.push(endOf(pack, begun));
    } else if (stopped) continue;
    else if (worthAnotherTry(pack)) outcome.again.push({ number, why: 'unstarted' });
    else outcome.ends.push(neverBegan(pack, number));
  }
  return outcome;
}
