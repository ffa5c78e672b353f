/**
 * Slows down guessing of passwords, and keeps nobody out who knows the right one.
 *
 * Attempts go through lines: one for the account at the origin of the attempt (a known browser, an address, the network of
 * an IPv6 address), and, from the second attempt on, one for the account from all origins from which nobody has signed in
 * to it yet. A line lets a few attempts pass at once; after that many wrong ones it lets one pass at a time, and pauses after
 * each wrong one. An attempt counts when it is let in, so that many at once get no more guesses than one after the other. A
 * right password empties the line of its origin, and the origin is known from then on.
 *
 * What others do to an account from elsewhere, or from the same address to other accounts, is in other lines. What they do
 * from the same address to the same account cannot be told apart, except from a known browser: there whoever comes last is
 * let in first, so that nobody stands behind a flood that is over.
 */
import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';

import { pauseAfter } from '../retry.ts';
import { comesNow, createRankedQueue, DISPLACED, MOST_WAITING, type TurnRequest } from './turns.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 3000;
const FORGET_AFTER_MS = 10 * 60_000;
const MOST_KEYS = 10_000;

interface Kind {
  free: number;
  longestPause: number;
  /** More than that many who wait, and the oldest is sent away. */
  mostWaiting: number;
}

const OF_ORIGIN: Kind = { free: 3, longestPause: LONGEST_PAUSE_MS, mostWaiting: MOST_WAITING };
// those who wait here are others to each other: nobody is sent away for what others do
const OF_ACCOUNT: Kind = { free: 30, longestPause: FIRST_PAUSE_MS, mostWaiting: Infinity };

interface Line {
  kind: Kind;
  /** Attempts that were let in since the last right one: wrong, or not known yet. */
  count: number;
  inside: number;
  last: number;
  queue: ReturnType<typeof createRankedQueue>;
}

/** What came of an attempt; undefined is a wrong password. */
type Outcome<T> = T | undefined | typeof DISPLACED;

export interface From {
  account: string;
  address: string;
  /** A browser that has signed in to this account before. */
  device?: string | undefined;
  /** Whether nobody waits for the answer any more: the attempt is not checked then, and whoever is behind goes on. */
  isGone?: (() => boolean) | undefined;
}

export interface Throttle {
  /**
   * Checks a password; the check is told how it stands among others that want to be checked. Gives back `'busy'` when a
   * thousand newer attempts for the same account from the same origin came while this one waited, or who asked has gone.
   */
  attempt<T>(from: From, check: (request: TurnRequest) => Promise<Outcome<T>>): Promise<T | undefined | 'busy'>;
}

const pauseOf = ({ kind, count }: Line) =>
  count <= kind.free
    ? 0
    : pauseAfter(count - kind.free, { firstPauseMs: FIRST_PAUSE_MS, longestPauseMs: kind.longestPause });

const isOpen = ({ kind, count, inside }: Line) => count < kind.free || inside === 0;

/** An address of IPv6 is one of countless that a single machine has; its network is 64 bits. */
export function originOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('%')[0]!.toLowerCase().split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(Math.max(8 - first.length - last.length, 0)).fill('0');
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`;
}

/** What is remembered of an account and an origin: names that nobody has may be tens of kilobytes long. */
const keyOf = (account: string, origin: string) => hash('sha256', `${account}\n${origin}`, 'base64');

export function createThrottle(sleep: (ms: number) => Promise<unknown>, now: () => number = Date.now): Throttle {
  const lines = new Map<string, Line>();
  /** Where somebody has signed in to an account since the process began. */
  const known = new Set<string>();

  function lineOf(key: string, kind: Kind): Line {
    const line = lines.get(key);
    if (line && (line.inside > 0 || line.queue.size() > 0 || now() - line.last < FORGET_AFTER_MS)) return line;
    const fresh = { kind, count: 0, inside: 0, last: now(), queue: createRankedQueue(kind.mostWaiting) };
    lines.set(key, fresh);
    if (lines.size > MOST_KEYS) forgetSome();
    return fresh;
  }

  function forgetSome(): void {
    for (const [key, line] of lines) {
      if (lines.size <= MOST_KEYS / 2) return;
      if (line.inside === 0 && line.queue.size() === 0) lines.delete(key);
    }
  }

  function remember(key: string): void {
    known.delete(key);
    known.add(key);
    if (known.size > MOST_KEYS) known.delete(known.values().next().value!);
  }

  function admit(line: Line): void {
    line.count++;
    line.inside++;
    line.last = now();
  }

  /** False when too many newer ones came. Who waited has been admitted by the one who let them in. */
  function enter(line: Line): Promise<boolean> {
    if (!isOpen(line)) return line.queue.wait();
    admit(line);
    return Promise.resolve(true);
  }

  function leave(line: Line): void {
    line.inside--;
    while (line.queue.size() > 0 && isOpen(line)) {
      admit(line);
      line.queue.next();
    }
  }

  /** Does the work when the line lets it pass, and keeps the line for as long as a wrong attempt costs. */
  async function inLine<T>(line: Line, right: () => void, work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    if (!(await enter(line))) return DISPLACED;
    try {
      const outcome = await work();
      if (outcome === undefined) {
        const pause = pauseOf(line);
        if (pause > 0) await sleep(pause);
      } else if (outcome !== DISPLACED) right();
      return outcome;
    } finally {
      leave(line);
    }
  }

  return {
    async attempt({ account, address, device, isGone }, check) {
      const origin = originOf(address);
      const pair = keyOf(account, device ?? origin);
      const isKnown = device !== undefined || known.has(pair);
      const ofOrigin = lineOf(pair, OF_ORIGIN);
      // it may be the person with the right password: others who fail for this account must not stand before it
      const isFirst = ofOrigin.count === 0;
      const empty = () => {
        ofOrigin.count = ofOrigin.inside - 1;
        remember(pair);
      };
      const outcome = await inLine(ofOrigin, empty, () => {
        // who has failed less often goes first
        const request = { group: isKnown ? pair : origin, rank: ofOrigin.count, came: comesNow(), isGone };
        const checkUnlessGone = () => (isGone?.() ? Promise.resolve<typeof DISPLACED>(DISPLACED) : check(request));
        if (isKnown || isFirst) return checkUnlessGone();
        const ofAccount = lineOf(keyOf(account, ''), OF_ACCOUNT);
        return inLine(ofAccount, () => ofAccount.count--, checkUnlessGone);
      });
      return outcome === DISPLACED ? 'busy' : outcome;
    },
  };
}
