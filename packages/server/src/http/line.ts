/**
 * A line before few slots, fair between people: who has least under way is next, and among them who waited longest for a
 * turn. Somebody who asks for a thousand pictures does not keep others from their one. Who leaves is forgotten.
 */
import { guarded } from '../guard.ts';
import { createSlotsInTurn } from '../people-in-turn.ts';
import { refuse, type Refusal } from './refusal.ts';

export interface LineOptions {
  slots: number;
  /** How many may wait, in all and of one person. */
  longest: number;
  longestOfOne: number;
  /** For who finds no room in the line. */
  busy: string;
}

export const tooBusy = (text: string): Refusal => refuse(503, text, { 'retry-after': '5' });

export interface Line {
  /**
   * Begins the work when a slot is free. Rejects with the signal's reason when it is aborted before that, and with a
   * refusal where there is no room left in the line.
   */
  take<T>(person: number, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createLine({ slots, longest, longestOfOne, busy }: LineOptions): Line {
  const inTurn = createSlotsInTurn(slots);

  return {
    take(person, work, signal) {
      if (inTurn.size() >= longest || inTurn.sizeOf(person) >= longestOfOne) return Promise.reject(tooBusy(busy));
      return new Promise((resolve, reject) => {
        const giveUp = () => {
          if (inTurn.remove(person, start)) reject(signal.reason as Error);
        };
        const guardedEnd = guarded(giveUp, reject);
        const start = () => {
          signal.removeEventListener('abort', guardedEnd);
          // what it throws before it has begun gives the slot back, too
          (async () => work())()
            .finally(() => inTurn.end(person))
            .then(resolve, reject);
        };
        if (signal.aborted) return reject(signal.reason as Error);
        signal.addEventListener('abort', guardedEnd, { once: true });
        inTurn.add(person, start);
      });
    },
  };
}
