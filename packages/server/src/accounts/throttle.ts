/**
 * Slows down guessing of passwords.
 *
 * Failures are counted per account and address together, and per address. After a few, wrong answers come later and
 * later, and attempts from there are checked one after the other. A right password is always accepted, and forgets the
 * failures before it: nobody is locked out, and programs that log in many times a second never wait.
 */
const FREE_FAILURES = 3;
const FREE_FAILURES_OF_ADDRESS = 20;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 4000;
const FORGET_AFTER_MS = 10 * 60_000;
const LONGEST_QUEUE = 20;
const MOST_KEYS = 10_000;

interface Failures {
  count: number;
  last: number;
  /** Attempts that wait or are being checked. */
  queue: number;
  tail: Promise<unknown>;
}

export interface Throttle {
  /** Checks a password; gives back `'busy'` when too many attempts wait already. */
  attempt<T>(account: string, address: string, check: () => Promise<T | undefined>): Promise<T | undefined | 'busy'>;
}

const delayAfter = (count: number, free: number) =>
  count <= free ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (count - free - 1), LONGEST_DELAY_MS);

export function createThrottle(sleep: (ms: number) => Promise<unknown>, now: () => number = Date.now): Throttle {
  const failures = new Map<string, Failures>();

  function of(key: string): Failures {
    const known = failures.get(key);
    if (known && (known.queue > 0 || now() - known.last < FORGET_AFTER_MS)) return known;
    const fresh = { count: 0, last: now(), queue: 0, tail: Promise.resolve() };
    failures.set(key, fresh);
    if (failures.size > MOST_KEYS) forgetSome();
    return fresh;
  }

  function forgetSome(): void {
    for (const [key, entry] of failures) {
      if (failures.size <= MOST_KEYS / 2) return;
      if (entry.queue === 0) failures.delete(key);
    }
  }

  /** One at a time for those that failed before; at once for all others. */
  async function inTurn<T>(entry: Failures, free: number, work: () => Promise<T>): Promise<T | 'busy'> {
    if (entry.count <= free) return work();
    if (entry.queue >= LONGEST_QUEUE) return 'busy';
    entry.queue++;
    const turn = entry.tail.then(work, work).finally(() => entry.queue--);
    entry.tail = turn.catch(() => undefined);
    return turn;
  }

  return {
    attempt(account, address, check) {
      const pair = of(`${account}\n${address}`);
      const place = of(address);
      return inTurn(place, FREE_FAILURES_OF_ADDRESS, () =>
        inTurn(pair, FREE_FAILURES, async () => {
          const result = await check();
          if (result !== undefined) {
            pair.count = 0;
            return result;
          }
          for (const entry of [pair, place]) {
            entry.count++;
            entry.last = now();
          }
          await sleep(
            Math.max(delayAfter(pair.count, FREE_FAILURES), delayAfter(place.count, FREE_FAILURES_OF_ADDRESS)),
          );
          return undefined;
        }),
      );
    },
  };
}
