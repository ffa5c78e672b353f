/**
 * A log that is asked for again while it is written, and once more when it is complete.
 *
 *     const log = createFollowedLog({ ask: (quiet) => call('jobs.unitLog', …, { quiet }), look, isWritten });
 *     log.text; log.problem;
 */
import { untrack } from 'svelte';

import { ApiProblem } from '#lib/api/problem.ts';
import { createPolling } from '#lib/live/polling.svelte.ts';

interface Options {
  ask: (quiet: boolean) => Promise<string>;
  /** How the work looks: when it looks otherwise, the log is another. */
  look: () => unknown;
  isWritten: () => boolean;
}

/** Call it while a component is made. */
export function createFollowedLog({ ask, look, isWritten }: Options) {
  let text = $state<string>();
  let problem = $state<string>();

  async function renew(quiet = true): Promise<boolean> {
    const before = text;
    text = await ask(quiet);
    problem = undefined;
    return text !== before;
  }

  async function load() {
    try {
      await renew(false);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      problem = error.message;
    }
  }

  const now = $derived(look());
  $effect(() => {
    void now;
    untrack(() => void load());
  });
  const polling = createPolling({ ask: renew, isNeeded: isWritten });

  return {
    get text() {
      return text;
    },
    get problem() {
      return problem ?? polling.lost?.words;
    },
  };
}
