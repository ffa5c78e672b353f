/** Looks for something in a log, line by line, and walks through what was found. */
import { findLines } from './log.ts';

export interface Search {
  text: string;
  readonly found: readonly number[];
  /** Which of those found, from 0. */
  readonly at: number;
  /** The line it is at. */
  readonly current: number | undefined;
  /** One further, or with -1 one back; round at the ends. */
  step(by: 1 | -1): number | undefined;
}

export function createSearch(lines: () => readonly string[]): Search {
  let text = $state('');
  let at = $state(0);
  const found = $derived(findLines(lines(), text));

  return {
    get text() {
      return text;
    },
    set text(value) {
      text = value;
      at = 0;
    },
    get found() {
      return found;
    },
    get at() {
      return at;
    },
    get current() {
      return found[at];
    },
    step(by) {
      at = found.length === 0 ? 0 : (at + by + found.length) % found.length;
      return found[at];
    },
  };
}
