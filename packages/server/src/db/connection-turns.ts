/**
 * Who gets a connection next. One person's requests, however many and however slow, leave connections for those of others, and
 * the service itself, which also looks up who calls, comes first.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

import { ServiceError } from '@service/contract/errors';

import { guarded } from '../guard.ts';
import { createPeopleInTurn } from '../people-in-turn.ts';

/** Of all connections, one person has at most this part. */
const PART_OF_ONE = 0.6;
/** The ids of people begin with 1. */
const THE_SERVICE = 0;

const asking = new AsyncLocalStorage<number>();

/** What is asked of the database in this work, also later on, is asked for a person. */
export const forPerson = <T>(person: number, work: () => T): T => asking.run(person, work);

/** All connections were busy for too long. */
class NoConnection extends ServiceError {
  readonly kind = 'no-connection';

  constructor() {
    super('All connections to the database were busy for too long.');
  }
}

export interface ConnectionTurns {
  /** Waits for a turn; call what it gives back, once, to end it. */
  take(): Promise<() => void>;
}

export function createConnectionTurns(connections: number, longestWaitMs: number): ConnectionTurns {
  const mostOfOne = Math.max(1, Math.floor(connections * PART_OF_ONE));
  const waiting = createPeopleInTurn<() => void>();
  const held = new Map<number, number>();
  let taken = 0;

  function load(person: number): number {
    if (person === THE_SERVICE) return -1;
    const own = held.get(person) ?? 0;
    return own < mostOfOne ? own : Infinity;
  }

  function advance(): void {
    while (taken < connections) {
      const next = waiting.next(load);
      if (!next) return;
      taken++;
      held.set(next.person, (held.get(next.person) ?? 0) + 1);
      next.one();
    }
  }

  function end(person: number): void {
    taken--;
    const left = held.get(person)! - 1;
    if (left === 0) held.delete(person);
    else held.set(person, left);
    advance();
  }

  /** Waits until it is the person's turn. */
  function turnOf(person: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      let hasBegun = false;
      const begin = () => {
        hasBegun = true;
        clearTimeout(timer);
        resolve();
      };
      const giveUp = () => {
        if (waiting.remove(person, begin)) reject(new NoConnection());
      };
      waiting.add(person, begin);
      advance();
      if (!hasBegun) timer = setTimeout(guarded(giveUp, reject), longestWaitMs);
    });
  }

  return {
    async take() {
      const person = asking.getStore() ?? THE_SERVICE;
      await turnOf(person);
      return () => end(person);
    },
  };
}
