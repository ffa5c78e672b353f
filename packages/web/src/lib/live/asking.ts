/**
 * Asks again and again while something is under way and somebody looks: often while answers bring news, more rarely while
 * they do not, ever more rarely while they fail, never in a hidden tab, and at once when it is seen again.
 */
export interface Rounds {
  /** Answers in a row that brought nothing new. */
  quiet: number;
  /** Questions in a row that got no answer. */
  failures: number;
}

const FRESH: Rounds = { quiet: 0, failures: 0 };

/** While nothing changes one request in five seconds is enough. */
const LEAST_QUIET_MS = 5000;
const LONGEST_MS = 60_000;

/** Milliseconds until the next question; `every` is the time between two while there is news. */
export function pauseAfter({ quiet, failures }: Rounds, every: number): number {
  if (failures > 0) return Math.min(every * 2 ** failures, LONGEST_MS);
  return quiet > 0 ? Math.max(every, LEAST_QUIET_MS) : every;
}

interface Parts {
  /** True when something has changed. */
  ask: () => Promise<boolean>;
  every: () => number;
  onanswer?: () => void;
  /** `again`: the moment of the next question. */
  onfailure?: (error: unknown, again: number) => void;
  /** Stands in for the page in tests. */
  page?: () => Pick<Document, 'hidden' | 'addEventListener' | 'removeEventListener'>;
}

export interface Asking {
  start(): void;
  stop(): void;
  /** Asks at once, also when nothing was started. */
  now(): void;
}

export function createAsking({ ask, every, onanswer, onfailure, page = () => document }: Parts): Asking {
  let rounds = FRESH;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOn = false;
  let isAsking = false;
  let wantsMore = false;

  function plan(pause: number) {
    clearTimeout(timer);
    if (isOn && !page().hidden) timer = setTimeout(() => void once(), pause);
  }

  async function once() {
    if (isAsking) return;
    isAsking = true;
    wantsMore = false;
    clearTimeout(timer);
    let news: boolean | undefined;
    let failure: unknown;
    try {
      news = await ask();
    } catch (error) {
      failure = error;
    }
    isAsking = false;
    rounds =
      news === undefined
        ? { ...rounds, failures: rounds.failures + 1 }
        : { quiet: news ? 0 : rounds.quiet + 1, failures: 0 };
    const pause = wantsMore ? 0 : pauseAfter(rounds, every());
    if (wantsMore) void once();
    else plan(pause);
    if (news === undefined) onfailure?.(failure, Date.now() + pause);
    else onanswer?.();
  }

  function now() {
    // what is on its way may have been answered before that which makes somebody ask
    if (isAsking) wantsMore = true;
    else void once();
  }

  function onvisibility() {
    clearTimeout(timer);
    if (page().hidden) return;
    rounds = FRESH;
    now();
  }

  return {
    start() {
      if (isOn) return;
      isOn = true;
      rounds = FRESH;
      page().addEventListener('visibilitychange', onvisibility);
      plan(every());
    },
    stop() {
      isOn = false;
      clearTimeout(timer);
      page().removeEventListener('visibilitychange', onvisibility);
    },
    now,
  };
}
