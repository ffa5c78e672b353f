/**
 * Requests that start programs on this machine before they are answered: Python, which asks the package index or looks for a
 * package. A few run at a time, and people take turns, so that a thousand requests are not a thousand processes.
 */
import { createLine } from '../http/index.ts';

export interface Lookups {
  /** Waits for a turn of this person. Refuses where too many wait. */
  take<T>(person: number, work: () => Promise<T>): Promise<T>;
}

const AT_ONCE = {
  slots: 4,
  longest: 200,
  longestOfOne: 20,
  busy: 'Too many packages are being looked up. Try again in a few seconds.',
};

export function createLookups(): Lookups {
  const line = createLine(AT_ONCE);
  // what was asked for is done, also when nobody waits for the answer
  return { take: (person, work) => line.take(person, work, new AbortController().signal) };
}
