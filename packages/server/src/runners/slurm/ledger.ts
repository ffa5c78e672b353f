/**
 * The ledger of a batch on a cluster: what the service must not forget, as lines in a file that only grows. What was planned,
 * what was submitted and under which id, how packs ended. Each line is on disk before the next step is taken.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import type { SlurmOptions } from '../../engine/slurm/options.ts';
import { type UnitEnd, withNamesOfNow } from '../records.ts';
import type { WhyAgain } from './pack-outcome.ts';

/** Units that are submitted together, with the same demands. */
export interface RoundPlan {
  number: number;
  /** How often these units have been tried before with less memory or time. */
  attempt: number;
  options: SlurmOptions;
  unitsPerPack: number;
  /** How many units of a pack run at a time. */
  parallel: number;
  /** In the order of packs; null for all of the batch. */
  units: number[] | null;
}

/** A unit that is to run again. */
export interface AgainEntry {
  number: number;
  why: WhyAgain;
  /** The round that it was part of. */
  round: number;
}

export type LedgerEntry =
  | { round: RoundPlan }
  /** About to be submitted: the packs from `base` on, under this token. */
  | { intent: { round: number; base: number; count: number; token: string } }
  | { submitted: { token: string; id: number } }
  /** The queue shows the service the job with this token: when it is not there any more, it is over. */
  | { seen: string }
  /** A pack is over, and not all of its units ended by themselves; with what its scheduler job complained about. */
  | { settled: string; ends: UnitEnd[]; complaint?: string }
  | { again: AgainEntry[] }
  /** The scheduler did not take all of a round: what it took is cancelled, and nothing of it is submitted any more. */
  | { refused: { round: number; words: string } }
  | { done: true };

const FILE = 'ledger.jsonl';
/** Of batches that began before an update. */
const EARLIER_FILE = 'memory.jsonl';
const fileIn = (folder: string) => {
  const earlier = join(folder, EARLIER_FILE);
  return existsSync(earlier) ? earlier : join(folder, FILE);
};

export interface Ledger {
  entries: LedgerEntry[];
  /** On disk when it returns, with one write. A crash may leave the first ones alone: each holds by itself. */
  add(...entries: LedgerEntry[]): void;
}

/** Batches that began before an update have other names for some things. */
function entryIn(line: string): LedgerEntry {
  const entry = JSON.parse(line) as LedgerEntry;
  if ('settled' in entry) return { ...entry, ends: entry.ends.map(withNamesOfNow) };
  if (!('round' in entry)) return entry;
  const { tasksPerJob, ...plan } = entry.round as RoundPlan & { tasksPerJob?: number };
  return { round: { ...plan, unitsPerPack: plan.unitsPerPack ?? tasksPerJob! } };
}

function entriesIn(path: string): { entries: LedgerEntry[]; torn: boolean } {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { entries: [], torn: false };
    throw error;
  }
  // a line without its end was being written when the power went: it did not count yet
  const lines = text.split('\n');
  const torn = lines.pop() !== '';
  const entries = lines.flatMap((line) => {
    try {
      return [entryIn(line)];
    } catch {
      return [];
    }
  });
  return { entries, torn };
}

export function openLedger(folder: string): Ledger {
  const path = fileIn(folder);
  const { entries, torn } = entriesIn(path);
  let separator = torn ? '\n' : '';
  return {
    entries,
    add(...added) {
      if (added.length === 0) return;
      const descriptor = openSync(path, 'a', 0o600);
      try {
        writeSync(descriptor, separator + added.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
        fsyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      separator = '';
      entries.push(...added);
    },
  };
}
