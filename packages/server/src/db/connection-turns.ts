/**
 * Who gets a connection next. One person's requests, however many and however slow, leave connections for those of others, and
 * the service itself, which also looks up who calls, comes first.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

import { ServiceError } from '@service/contract/errors';

import { guarded } from '../guard.ts';
import { createSlotsInTurn } from '../people-in-turn.ts';

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
  const inTurn = createSlotsInTurn(connections, (person, own) => {
    if (person === THE_SERVICE) return 0;
    return own < mostOfOne ? own + 1 : Infinity;
  });

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
        if (inTurn.remove(person, begin)) reject(new NoConnection());
      };
      inTurn.add(person, begin);
      if (!hasBegun) timer = setTimeout(guarded(giveUp, reject), longestWaitMs);
    });
  }

  return {
    async take() {
      const person = asking.getStore() ?? THE_SERVICE;
      await turnOf(person);
      return () => inTurn.end(person);
    },
  };
}
