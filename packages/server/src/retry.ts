/** Does something again while it fails in a way that passes, with pauses that grow. Below all rooms. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Pauses {
  firstPauseMs: number;
  longestPauseMs: number;
}

/** The pause after so many failures in a row: twice as long each time, up to the longest. */
export const pauseAfter = (failures: number, { firstPauseMs, longestPauseMs }: Pauses): number =>
  Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);

export interface RetryRules extends Pauses {
  /** True when the same work may go well a little later. */
  passes(error: unknown): boolean;
  /** Ends the waiting: what failed last is thrown. */
  signal: AbortSignal;
  /** Hears of each failure after which there is another attempt. */
  onFailure?(error: unknown): void;
}

/** The work must be safe to do twice. */
export async function retry<T>(work: () => Promise<T>, rules: RetryRules): Promise<T> {
  const { passes, signal, onFailure } = rules;
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !passes(error)) throw error;
      onFailure?.(error);
      await sleep(pauseAfter(failures, rules), undefined, { signal }).catch(() => undefined);
    }
  }
}
