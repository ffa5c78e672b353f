/** Notices that a running job is to be stopped, or was ended by hand, wherever the request came in. */
import type { Database } from '../../db/index.ts';
import { guarded } from '../../guard.ts';
import type { Logger } from '../../logging/index.ts';
import { jobsToStop } from '../store/execution.ts';

const LOOK_MS = 1000;

export interface StopRequests {
  /** Calls back once, when the job is to end. Gives back how to forget it. */
  watch(jobId: number, onStop: () => void): () => void;
  /** Looks now instead of in a moment. */
  look(): void;
  close(): void;
}

/** One question a second for all jobs of this process, and none while nothing runs. */
export function createStopRequests(db: Database, log: Logger): StopRequests {
  const watched = new Map<number, () => void>();
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  const failed = (error: Error) => log.error('Looking for jobs to stop failed', error);

  async function look(): Promise<void> {
    if (looking || watched.size === 0) return;
    looking = true;
    try {
      for (const id of await jobsToStop(db, [...watched.keys()])) watched.get(id)?.();
    } catch (error) {
      log.debug(`Looking for jobs to stop failed: ${(error as Error).message}`);
    } finally {
      looking = false;
    }
  }

  function keepLooking(): void {
    if (watched.size === 0) {
      clearInterval(timer);
      timer = undefined;
    } else if (timer === undefined) {
      timer = setInterval(guarded(look, failed), LOOK_MS);
      timer.unref();
    }
  }

  return {
    watch(jobId, onStop) {
      watched.set(jobId, onStop);
      keepLooking();
      return () => {
        watched.delete(jobId);
        keepLooking();
      };
    },
    look: () => void look(),
    close: () => clearInterval(timer),
  };
}
