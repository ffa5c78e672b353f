/** Texts from outside, made fit to store and to show. */

/** PostgreSQL stores neither NUL characters nor halves of surrogate pairs. */
export const cleanText = (text: string): string => text.replace(/\p{Cs}/gu, '').replaceAll('\0', '');

/** The beginning, with a sign that something is missing. */
export const cutEnd = (text: string, longest: number): string =>
  text.length <= longest ? text : `${cleanText(text.slice(0, longest - 1))}…`;

/** The end, with a sign that something is missing. */
export const cutStart = (text: string, longest: number): string =>
  text.length <= longest ? text : `…${cleanText(text.slice(text.length - longest + 1))}`;
