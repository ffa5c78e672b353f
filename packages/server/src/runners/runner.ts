/** What runs batches of units, wherever: on this machine or on a cluster. */
import { ServiceError } from '@service/contract/errors';

import type { Batch } from './batch.ts';
import type { JournalRecord } from './records.ts';
import type { Surroundings } from './warm-parents.ts';

/** The units could not be run; the message is for the person who ran the job. */
export class RunnerProblem extends ServiceError {
  readonly kind: 'runner-problem' | 'journal-problem' = 'runner-problem';
}

export interface Following {
  /** Called with what happened, in order; while it works, more is collected. */
  onRecords(records: JournalRecord[]): Promise<void> | void;
  /** Ends the units that run and starts no more. */
  stop: AbortSignal;
  /** Leaves the units alone: somebody else will follow them. */
  leave: AbortSignal;
  /** The ids of all scheduler jobs that the batch has so far; before anything is known of them. */
  onSubmitted?(ids: number[]): Promise<void>;
  /** What the scheduler's jobs wrote to their own error stream, where somebody should know of it. */
  onExecutorError?(text: string): void;
  /** A line for the log of the job; also about what its tasks wrote and nobody believed. */
  say?(line: string): void;
}

export interface Runner {
  /** Follows a batch to its end; writes and starts it where that has not happened. */
  run(batch: Batch, following: Following): Promise<'finished' | 'left'>;
  /** Ends what is left of the batches in this folder. */
  end(folder: string): Promise<void>;
  /** Begins to import what these commands will import, where that is of use. */
  importAhead?(commands: string[][], surroundings: Surroundings): void;
}
