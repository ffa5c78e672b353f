/** Maps and lists with rules over all of their entries. */
import { z } from 'zod';

import { addProblem, rule } from './problem.ts';
import { trimmedText } from './scalars.ts';

/**
 * Trims the keys of a map; empty keys, and keys that become equal, are refused for the map as a whole.
 * A body such as `{" A ": 1}` gives `{"A": 1}`.
 */
function trimKeys<T>(map: Record<string, T>, ctx: z.core.$RefinementCtx): Record<string, T> {
  const trimmed = Object.entries(map).map(([key, value]) => [key.trim(), value] as const);
  const keys = new Set(trimmed.map(([key]) => key));
  if (keys.has('') || keys.size < trimmed.length) {
    addProblem(ctx, {
      type: 'value_error',
      message: keys.has('')
        ? 'Value error, Keys must not be empty.'
        : 'Value error, Two keys are equal after trimming.',
    });
    return z.NEVER;
  }
  return Object.fromEntries(trimmed);
}

/** name → text, both trimmed and non-empty. */
export const textMap = () => z.record(z.string(), trimmedText()).transform(trimKeys);

/** For lists whose items must differ; the entry names the list, not an item. */
export const distinct = <T>() =>
  rule((items: T[]) => (new Set(items).size < items.length ? 'Remove the repeated items.' : undefined));
