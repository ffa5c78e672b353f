/** What a cluster that is away for a while means: to wait, and to ask again. */
import { setTimeout as sleep } from 'node:timers/promises';

import { HostAway, HostTimeout } from '../../hosts/index.ts';
import { RunnerProblem } from '../runner.ts';

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

export const isAway = (error: unknown): error is Error => error instanceof HostAway || error instanceof HostTimeout;

/** The wait was ended: the job is to stop, or somebody else goes on. */
export class Interrupted extends Error {}

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {
    throw new Interrupted();
  });
}

interface Patience {
  signal: AbortSignal;
  say?: ((line: string) => void) | undefined;
  /** Nothing runs there yet: what only a person can repair ends the job, so that it does not wait in silence. */
  beginning?: boolean;
}

/** Does something on a cluster, again and again while it is away. `say` hears of it once. */
export async function patiently<T>(work: () => Promise<T>, { signal, say, beginning = false }: Patience): Promise<T> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    if (signal.aborted) throw new Interrupted();
    try {
      return await work();
    } catch (error) {
      if (!isAway(error)) throw error;
      if (beginning && error instanceof HostAway && error.needsPerson) throw new RunnerProblem(error.message);
      if (wait === FIRST_WAIT_MS) say?.(`The cluster does not answer (${error.message}); this is tried again`);
      await pause(wait, signal);
    }
  }
}
