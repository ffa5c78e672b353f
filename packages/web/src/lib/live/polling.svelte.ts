/**
 * Keeps what a component shows up to date by asking (asking.ts), where no stream tells; what fails is known to the page.
 *
 *     const polling = createPolling({ ask, isNeeded: () => jobs.some((job) => !isOver(job)) });
 */
import { PUBLIC_UPDATE_JOBS_INTERVAL } from '$app/env/public';

import { ApiProblem } from '../api/problem.ts';
import { createAsking } from './asking.ts';

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

interface Parts {
  /** True when something has changed. */
  ask: () => Promise<boolean>;
  isNeeded: () => boolean;
  /** Milliseconds between two questions while there is news. */
  every?: () => number;
}

/** To be called while a component is made. */
export function createPolling({ ask, isNeeded, every = () => PUBLIC_UPDATE_JOBS_INTERVAL }: Parts): Polling {
  let lost = $state<Lost>();
  /** What is not asked for any more is not missed either. */
  let isOn = false;
  const needed = $derived(isNeeded());

  const asking = createAsking({
    ask,
    every,
    onanswer: () => (lost = undefined),
    onfailure(error, again) {
      if (!(error instanceof ApiProblem)) throw error;
      if (isOn) lost = { since: lost?.since ?? Date.now(), words: error.message, again };
    },
  });

  $effect(() => {
    if (!needed) return undefined;
    isOn = true;
    asking.start();
    return () => {
      isOn = false;
      asking.stop();
      lost = undefined;
    };
  });

  return {
    get lost() {
      return lost;
    },
    now: asking.now,
  };
}

/** The time, for durations that go on; it stands still when nothing needs it. */
export function createClock(isNeeded: () => boolean, everyMs = 1000): { readonly now: number } {
  let now = $state(Date.now());
  $effect(() => {
    if (!isNeeded()) return;
    now = Date.now();
    const timer = setInterval(() => (now = Date.now()), everyMs);
    return () => clearInterval(timer);
  });
  return {
    get now() {
      return now;
    },
  };
}
