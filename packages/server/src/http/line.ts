/**
 * A line before few slots, fair between people: who has least under way is next, and among them who waited longest for a
 * turn. Somebody who asks for a thousand pictures does not keep others from their one. Who leaves is forgotten.
 */
import { guarded } from '../guard.ts';
import { createPeopleInTurn } from '../people-in-turn.ts';
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

export function createLine({ slots, longest, longestOfOne, busy: text }: LineOptions): Line {
  /** How each begins. */
  const waiting = createPeopleInTurn<() => void>();
  const running = new Map<number, number>();
  let busy = 0;

  const underWay = (person: number) => running.get(person) ?? 0;

  function advance(): void {
    while (busy < slots) {
      const next = waiting.next(underWay);
      if (!next) return;
      busy++;
      running.set(next.person, underWay(next.person) + 1);
      next.one();
    }
  }

  function done(person: number): void {
    busy--;
    const left = running.get(person)! - 1;
    if (left === 0) running.delete(person);
    else running.set(person, left);
    advance();
  }

  return {
    take(person, work, signal) {
      if (waiting.size() >= longest || waiting.sizeOf(person) >= longestOfOne) return Promise.reject(tooBusy(text));
      return new Promise((resolve, reject) => {
        const giveUp = () => {
          if (waiting.remove(person, start)) reject(signal.reason as Error);
        };
        const guardedEnd = guarded(giveUp, reject);
        const start = () => {
          signal.removeEventListener('abort', guardedEnd);
          // what it throws before it has begun gives the slot back, too
          (async () => work())()
            .finally(() => done(person))
            .then(resolve, reject);
        };
        if (signal.aborted) return reject(signal.reason as Error);
        signal.addEventListener('abort', guardedEnd, { once: true });
        waiting.add(person, start);
        advance();
      });
    },
  };
}
