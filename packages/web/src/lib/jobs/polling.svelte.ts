/**
 * Asks again and again while something is under way and somebody looks: never in hidden tabs, more slowly after a failure,
 * and what fails is known to the page.
 *
 *     const polling = createPolling({ ask, isNeeded: () => jobs.some((job) => !isOver(job)) });
 */
import { PUBLIC_UPDATE_JOBS_INTERVAL } from '$app/env/public';

import { ApiProblem } from '../api/problem.ts';
import { pollDelay } from '../workflow/polling.ts';

export interface Lost {
  since: number;
  words: string;
  /** When it is asked again. */
  again: number;
}

export interface Polling {
  readonly lost: Lost | undefined;
  /** Asks at once. */
  now(): void;
}

const LONGEST_WAIT_MS = 60_000;

/** Twice as long after each failure. */
const waitAfter = (failures: number, interval: number): number => Math.min(interval * 2 ** failures, LONGEST_WAIT_MS);

interface Parts {
  /** True when something has changed. */
  ask: () => Promise<boolean>;
  isNeeded: () => boolean;
}

/** To be called while a component is made. */
export function createPolling({ ask, isNeeded }: Parts): Polling {
  let lost = $state<Lost>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let quietRounds = 0;
  let isAsking = false;
  const needed = $derived(isNeeded());

  function plan(wait: number) {
    clearTimeout(timer);
    if (needed && !document.hidden) timer = setTimeout(() => void go(), wait);
  }

  async function go() {
    if (isAsking) return;
    isAsking = true;
    clearTimeout(timer);
    let wait: number;
    try {
      quietRounds = (await ask()) ? 0 : quietRounds + 1;
      failures = 0;
      lost = undefined;
      wait = pollDelay(PUBLIC_UPDATE_JOBS_INTERVAL, true, quietRounds);
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      failures += 1;
      wait = waitAfter(failures, PUBLIC_UPDATE_JOBS_INTERVAL);
      lost = { since: lost?.since ?? Date.now(), words: error.message, again: Date.now() + wait };
    } finally {
      isAsking = false;
    }
    plan(wait);
  }

  $effect(() => {
    if (!needed) return;
    plan(PUBLIC_UPDATE_JOBS_INTERVAL);
    const onvisibility = () => (document.hidden ? clearTimeout(timer) : void go());
    document.addEventListener('visibilitychange', onvisibility);
    return () => {
      document.removeEventListener('visibilitychange', onvisibility);
      clearTimeout(timer);
    };
  });

  return {
    get lost() {
      return lost;
    },
    now: () => void go(),
  };
}
