/**
 * Names that people give to projects, datasets, workflows and all else: any text in one line that can be seen.
 *
 *     nameProblem('Platte (Färbung 1, 2)') // undefined
 *     folderPart('Platte (Färbung 1, 2)') // platte__färbung_1__2_
 */

/** Signs that nobody sees, that end a line, or that turn the text around them. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/u;

/** What is wrong with a name, to be said while it is typed. */
export const nameProblem = (name: string): string | undefined =>
  UNSEEN.test(name.trim()) ? 'This name has a tab, a line break or another invisible character. Remove it.' : undefined;

const UNSAFE_IN_FOLDERS = /[!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~ \t\n\r\v\f]/g;
/** File systems have room for 255, and a number stands before it. */
const MOST_BYTES = 200;

/** A name as a part of the name of a folder. */
export function folderPart(given: string): string {
  const safe = given.trim().toLowerCase().replace(UNSAFE_IN_FOLDERS, '_');
  let bytes = 0;
  let part = '';
  for (const sign of safe) {
    bytes += new TextEncoder().encode(sign).length;
    if (bytes > MOST_BYTES) break;
    part += sign;
  }
  return part;
}
