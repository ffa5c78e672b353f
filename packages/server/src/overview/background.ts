/**
 * What may not answer: a cluster, a disk of another machine. It is asked in the background, and whoever looks gets what is
 * known at once.
 *
 *     const seen = asked.look('cluster 7', () => clusters.problem(address));
 *     seen.state, seen.since
 */
const EVERY_MS = 30_000;
/** Commands are few at a time, also where every mount hangs. */
const AT_A_TIME = 4;

export interface Seen<T> {
  state: 'reachable' | 'unreachable' | 'unknown';
  /** Since when this state is known. */
  since: Date | null;
  problem: string | null;
  /** The last answer there was. */
  answer: T | null;
}

interface Known<T> extends Seen<T> {
  isAsked: boolean;
  askedAt: number;
}

export interface Background<T> {
  /** What is known; asks for it when that is old. What `ask` throws is why it is not reachable. */
  look(name: string, ask: () => Promise<T>): Seen<T>;
  /** Only these names are looked at from now on. */
  keep(names: Iterable<string>): void;
}

export function createBackground<T>({ everyMs = EVERY_MS, atATime = AT_A_TIME } = {}): Background<T> {
  const all = new Map<string, Known<T>>();
  const waiting: (() => Promise<void>)[] = [];
  let busy = 0;

  function next(): void {
    while (busy < atATime && waiting.length > 0) {
      busy++;
      void waiting.shift()!().finally(() => {
        busy--;
        next();
      });
    }
  }

  function settle(
    known: Known<T>,
    state: 'reachable' | 'unreachable',
    told: { problem: string | null; answer: T | null },
  ) {
    if (known.state !== state) known.since = new Date();
    Object.assign(known, told, { state, isAsked: false, askedAt: Date.now() });
  }

  function askSoon(known: Known<T>, ask: () => Promise<T>): void {
    known.isAsked = true;
    waiting.push(() =>
      ask().then(
        (answer) => settle(known, 'reachable', { problem: null, answer }),
        (error: Error) => settle(known, 'unreachable', { problem: error.message, answer: known.answer }),
      ),
    );
    next();
  }

  return {
    look(name, ask) {
      let known = all.get(name);
      if (known === undefined) {
        known = { state: 'unknown', since: null, problem: null, answer: null, isAsked: false, askedAt: -Infinity };
        all.set(name, known);
      }
      if (!known.isAsked && Date.now() - known.askedAt >= everyMs) askSoon(known, ask);
      const { state, since, problem, answer } = known;
      return { state, since, problem, answer };
    },
    keep(names) {
      const kept = new Set(names);
      for (const name of all.keys()) if (!kept.has(name)) all.delete(name);
    },
  };
}
