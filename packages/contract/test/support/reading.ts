/** How these tests look at a schema: what it gives back, and what it says is wrong. */
import { readValue } from '../../src/index.ts';

type Schema<T> = Parameters<typeof readValue<T>>[0];
/** Where a problem is, as `loc` says it. */
export type Loc = (string | number)[];

/** What is wrong with the input, as clients see it; the words for people are free. */
export function problemsOf(schema: Schema<unknown>, input: unknown): { loc: Loc; type: string }[] {
  const outcome = readValue(schema, input, 'body');
  return 'entries' in outcome ? outcome.entries.map(({ loc, type }) => ({ loc, type })) : [];
}

/** What the input reads as; a refusal fails the test and shows its entries. */
export function valueOf<T>(schema: Schema<T>, input: unknown): T {
  const outcome = readValue(schema, input, 'body');
  if ('entries' in outcome) throw new Error(`refused: ${JSON.stringify(outcome.entries)}`);
  return outcome.value;
}

type Json = Record<string, unknown>;

/**
 * A copy of an object with one place changed: `changed(resource, ['host'], null)`. `undefined` removes the key, because
 * JSON has no `undefined`: this is how the tables say "absent".
 */
export function changed(object: Json, [key, ...rest]: readonly string[], value: unknown): Json {
  const inner = rest.length === 0 ? value : changed((object[key!] ?? {}) as Json, rest, value);
  const { [key!]: _, ...others } = object;
  return inner === undefined ? others : { ...others, [key!]: inner };
}
