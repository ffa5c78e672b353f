/**
 * What a record says beyond who and what: fields with their values before and after, in short. Names and lists that people
 * write have no longest length, so that whole ones would let the log grow as somebody likes.
 */
export type Details = Record<string, unknown>;

const LONGEST_TEXT = 200;
const LONGEST_LIST = 20;

export function brief(value: unknown): unknown {
  if (typeof value === 'string') return briefText(value);
  if (!Array.isArray(value)) return value;
  const kept = value.slice(0, LONGEST_LIST).map(brief);
  return value.length > kept.length ? [...kept, `… ${value.length - kept.length} more`] : kept;
}

/** A cut may go through a character that has two parts. */
export const briefText = (text: string) =>
  text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT).toWellFormed()}…` : text;

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/**
 * The fields that differ, as `{ from, to }`. Objects are configuration, which may hold passwords of package indexes or
 * tokens in shell lines: of these it is told that they changed, not how.
 */
export function changes<T extends object>(before: T, after: T, fields: readonly (keyof T & string)[]): Details {
  const isConfiguration = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const differing = fields.filter((field) => !isSame(before[field], after[field]));
  const entries = differing.map((field): [string, unknown] => {
    const [from, to]: unknown[] = [before[field], after[field]];
    if (isConfiguration(from) || isConfiguration(to)) return [field, { changed: true }];
    return [field, { from: brief(from), to: brief(to) }];
  });
  return Object.fromEntries(entries);
}
