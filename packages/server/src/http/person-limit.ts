/**
 * How much of one kind a person has open at a time. Each takes a file, a connection or a piece of memory for as long as its
 * reader or sender likes, so that somebody who opens thousands and lets them wait would leave nothing to others.
 *
 *     const streams = createPersonLimit(256, 'event streams');
 *     const leave = streams.take(user.id); // refuses with 429 where all are taken
 */
import { refuse } from './refusal.ts';

export interface PersonLimit {
  /** Gives back what lets go; letting go twice counts once. */
  take(person: number): () => void;
}

export function createPersonLimit(most: number, what: string): PersonLimit {
  const taken = new Map<number, number>();
  return {
    take(person) {
      const before = taken.get(person) ?? 0;
      if (before >= most) {
        const text = `You have ${most} ${what} open, which is the limit. Wait until one ends, or close one.`;
        throw refuse(429, text, { 'retry-after': '5' });
      }
      taken.set(person, before + 1);
      let isLeft = false;
      return () => {
        if (isLeft) return;
        isLeft = true;
        const left = taken.get(person)! - 1;
        if (left === 0) taken.delete(person);
        else taken.set(person, left);
      };
    },
  };
}
