/**
 * Whether the service answers. Nobody asks while calls go well; after one that did not, `/alive` is asked until it says
 * yes, and what the page shows is loaded anew.
 */
import { refreshAll } from '$app/navigation';

import { listen } from '../api/listeners.ts';
import { endpoint } from '../route.ts';

const FIRST_WAIT = 8;
const LONGEST_WAIT = 60;

let since = $state<number>();
let seconds = $state(0);
let timer: ReturnType<typeof setInterval> | undefined;
let wait = FIRST_WAIT;
let isAsking = false;

export const connection = {
  /** When the service was found not to answer. */
  get lostSince(): number | undefined {
    return since;
  },
  /** Until it is asked again. */
  get seconds(): number {
    return seconds;
  },
};

async function isAlive(): Promise<boolean> {
  try {
    const response = await fetch(endpoint.alive, { cache: 'no-store' });
    return response.ok && ((await response.json()) as { fractal_server_alive: boolean }).fractal_server_alive;
  } catch {
    return false;
  }
}

/** Asks now. */
export async function askAgain(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  clearInterval(timer);
  const alive = await isAlive();
  isAsking = false;
  if (alive) {
    const wasLost = since !== undefined;
    since = undefined;
    wait = FIRST_WAIT;
    if (wasLost) await refreshAll();
    return;
  }
  since ??= Date.now();
  seconds = wait;
  wait = Math.min(wait * 2, LONGEST_WAIT);
  timer = setInterval(() => {
    seconds -= 1;
    if (seconds <= 0) void askAgain();
  }, 1000);
}

/** `isLost`: the web server found it so when it made the page. */
export function takeCareOfConnection(isLost: boolean): () => void {
  listen({
    noAnswer: () => {
      if (since === undefined) void askAgain();
    },
  });
  if (isLost) void askAgain();
  return () => clearInterval(timer);
}
