/**
 * A line before few slots, fair between people: who has least under way is next, and among them who waited longest for a
 * turn. Somebody who asks for a thousand pictures does not keep others from their one. Who leaves is forgotten.
 */
import { guarded } from '../guard.ts';
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

interface Waiting {
  start(): void;
}

export interface Line {
  /**
   * Begins the work when a slot is free. Rejects with the signal's reason when it is aborted before that, and with a
   * refusal where there is no room left in the line.
   */
  take<T>(person: number, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createLine({ slots, longest, longestOfOne, busy: text }: LineOptions): Line {
  /** By person; who had a turn last is last. */
  const waiting = new Map<number, Waiting[]>();
  const running = new Map<number, number>();
  let busy = 0;
  let count = 0;

  function nextPerson(): number | undefined {
    let best: number | undefined;
    for (const person of waiting.keys()) {
      if (best === undefined || (running.get(person) ?? 0) < (running.get(best) ?? 0)) best = person;
    }
    return best;
  }

  function leave(person: number, entry: Waiting): boolean {
    const own = waiting.get(person) ?? [];
    const at = own.indexOf(entry);
    if (at < 0) return false;
    own.splice(at, 1);
    count--;
    if (own.length === 0) waiting.delete(person);
    return true;
  }

  function advance(): void {
    while (busy < slots) {
      const person = nextPerson();
      if (person === undefined) return;
      const own = waiting.get(person)!;
      const [entry] = own;
      leave(person, entry!);
      if (own.length > 0) {
        waiting.delete(person);
        waiting.set(person, own);
      }
      busy++;
      running.set(person, (running.get(person) ?? 0) + 1);
      entry!.start();
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
      const own = waiting.get(person) ?? [];
      if (count >= longest || own.length >= longestOfOne) return Promise.reject(tooBusy(text));
      return new Promise((resolve, reject) => {
        const giveUp = () => {
          if (leave(person, entry)) reject(signal.reason as Error);
        };
        const guardedEnd = guarded(giveUp, reject);
        const entry: Waiting = {
          start() {
            signal.removeEventListener('abort', guardedEnd);
            // what it throws before it has begun gives the slot back, too
            (async () => work())()
              .finally(() => done(person))
              .then(resolve, reject);
          },
        };
        if (signal.aborted) return reject(signal.reason as Error);
        signal.addEventListener('abort', guardedEnd, { once: true });
        waiting.set(person, [...own, entry]);
        count++;
        advance();
      });
    },
  };
}
