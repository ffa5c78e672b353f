/** Maps and lists with rules over all of their entries. */
import { z } from 'zod';

import { NumberAsWritten } from './numbers.ts';
import { addProblem, rule } from './problem.ts';
import { readText, trimmedText } from './scalars.ts';

const isMap = (input: unknown): input is Record<string, unknown> =>
  typeof input === 'object' && input !== null && !Array.isArray(input) && !(input instanceof NumberAsWritten);

/** name → value, whatever the name is: zod's own record leaves out one that is called `__proto__`. */
export function mapOf<T>(value: z.ZodType<T>) {
  const { $schema: _, ...additionalProperties } = z.toJSONSchema(value, { io: 'input', unrepresentable: 'any' });
  return z
    .unknown()
    .transform((input, ctx): Record<string, T> => {
      if (!isMap(input)) {
        ctx.issues.push({ code: 'invalid_type', expected: 'record', input });
        return z.NEVER;
      }
      const entries = Object.entries(input).flatMap(([key, item]): [string, T][] => {
        const read = value.safeParse(item, { reportInput: true });
        if (read.success) return [[key, read.data]];
        for (const issue of read.error.issues) {
          ctx.issues.push({ ...issue, path: [key, ...issue.path] } as z.core.$ZodRawIssue);
        }
        return [];
      });
      return Object.fromEntries(entries);
    })
    .meta({ type: 'object', propertyNames: { type: 'string' }, additionalProperties });
}

/**
 * Trims the keys of a map; empty keys, and keys that become equal, are refused for the map as a whole.
 * A body such as `{" A ": 1}` gives `{"A": 1}`.
 */
export function trimKeys<T>(map: Record<string, T>, ctx: z.core.$RefinementCtx): Record<string, T> {
  const trimmed = Object.entries(map).map(([key, value]) => [key.trim(), value] as const);
  const keys = new Set(trimmed.map(([key]) => key));
  const refused = (message: string) => {
    addProblem(ctx, { type: 'value_error', message: `Value error, ${message}` });
    return z.NEVER;
  };
  if (keys.has('')) return refused('Keys must not be empty.');
  if (keys.size < trimmed.length) return refused('Two keys are equal after trimming.');
  if ([...keys].some((key) => 'problem' in readText(key)))
    return refused('A key has characters that cannot be stored.');
  return Object.fromEntries(trimmed);
}

/** name → text, both trimmed and non-empty. */
export const textMap = () => mapOf(trimmedText()).transform(trimKeys);

/** For lists whose items must differ; the entry names the list, not an item. */
export const distinct = <T>() =>
  rule((items: T[]) => (new Set(items).size < items.length ? 'Remove the repeated items.' : undefined));
