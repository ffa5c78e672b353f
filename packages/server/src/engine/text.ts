/**
 * Texts and values from outside, made fit to store and to show.
 *
 *     shownValue({ zarr_url: 'a', types: [] }) // {"zarr_url":"a","types":[]}
 */
import { NumberAsWritten } from '@service/contract';

/** PostgreSQL stores neither NUL characters nor halves of surrogate pairs. */
export const cleanText = (text: string): string => text.replace(/\p{Cs}/gu, '').replaceAll('\0', '');

export const firstLine = (text: string): string => text.split('\n', 1)[0]!;

/** The beginning, with a sign that something is missing. */
export const cutEnd = (text: string, longest: number): string =>
  text.length <= longest ? text : `${cleanText(text.slice(0, longest - 1))}…`;

/** The end, with a sign that something is missing. */
export const cutStart = (text: string, longest: number): string =>
  text.length <= longest ? text : `…${cleanText(text.slice(text.length - longest + 1))}`;

/** JSON, piece by piece, so that nobody has to write all of a large value to show its beginning. */
function* piecesOf(value: unknown, longest: number): Generator<string> {
  if (typeof value === 'string') yield JSON.stringify(value.slice(0, longest + 1));
  else if (value instanceof NumberAsWritten) yield value.source;
  else if (Array.isArray(value)) {
    yield '[';
    for (const [index, item] of value.entries()) {
      if (index > 0) yield ',';
      yield* piecesOf(item, longest);
    }
    yield ']';
  } else if (typeof value === 'object' && value !== null) {
    yield '{';
    let separator = '';
    for (const key in value) {
      yield `${separator}${JSON.stringify(key.slice(0, longest + 1))}:`;
      yield* piecesOf((value as Record<string, unknown>)[key], longest);
      separator = ',';
    }
    yield '}';
  } else yield String(value);
}

/** Signs that nobody sees, or that change the direction of the text around them. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** A value as JSON, as far as there is room, with codes for signs that would disturb the text around it. */
export function shownValue(value: unknown, longest = 100): string {
  let text = '';
  for (const piece of piecesOf(value, longest)) {
    text += piece;
    if (text.length > longest) break;
  }
  return cutEnd(text, longest).replace(UNSEEN, (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`);
}
