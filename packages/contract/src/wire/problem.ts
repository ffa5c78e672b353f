/**
 * How a schema of ours says what is wrong with a value.
 *
 * Clients know validation entries by their `type` (`int_parsing`, `value_error`, …). zod has issue codes of its own, so
 * checks written here put the wire's type into the issue's `params`, and `entriesOf` (entries.ts) reads it back.
 */
import { z } from 'zod';

import { plain } from './numbers.ts';

export interface Problem {
  type: string;
  message: string;
}

/** What a reader gives back: the value, or what is wrong with it. */
export type Reading<T> = { value: T } | { problem: Problem };

export const found = <T>(value: T): Reading<T> => ({ value });
export const wrong = (type: string, message: string): { problem: Problem } => ({ problem: { type, message } });

/** For rules of our own, which existing clients expect as `value_error` with this prefix. */
export const valueError = (message: string) => wrong('value_error', `Value error, ${message}`);

export function addProblem(ctx: z.core.$RefinementCtx, problem: Problem, path: PropertyKey[] = []): void {
  ctx.addIssue({ code: 'custom', message: problem.message, params: { type: problem.type }, path });
}

/**
 * A schema from a reader function: `reader(readInteger, { type: 'integer' })`.
 * The second argument is what the OpenAPI description shows.
 */
export function reader<T>(read: (input: unknown) => Reading<T>, description: Record<string, unknown>) {
  return z
    .unknown()
    .transform((input, ctx): T => {
      if (input === undefined) {
        addProblem(ctx, { type: 'missing', message: 'This field is required.' });
        return z.NEVER;
      }
      const reading = read(plain(input));
      if ('problem' in reading) {
        addProblem(ctx, reading.problem);
        return z.NEVER;
      }
      return reading.value;
    })
    .meta(description);
}

/** A rule over several fields of an object (or a whole list or map); it runs when the parts are valid by themselves. */
export function rule<T>(check: (value: T) => string | undefined) {
  return (value: T, ctx: z.core.$RefinementCtx<T>): void => {
    const message = check(value);
    if (message !== undefined) {
      addProblem(ctx, { type: 'value_error', message: `Value error, ${message}` });
    }
  };
}
