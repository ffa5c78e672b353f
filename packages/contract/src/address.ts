/**
 * Addresses as the router of the API reads them, so that whoever judges an address judges the one that is answered:
 * repeated slashes and one at the end do not count, and percent signs are decoded once.
 *
 *     segmentsOf('/api//v2/%70roject/7/')   // ['api', 'v2', 'project', '7']
 *     pathOf(['api', 'v2', 'project', '7']) // '/api/v2/project/7/'
 */
import type { Operation } from './operation.ts';

/** What servers, proxies and browsers do not agree about: dots that lead elsewhere, and slashes in disguise. */
const isDoubtful = (segment: string) => segment === '.' || segment === '..' || /[/\\\p{Cc}]/u.test(segment);

/** The segments of a path, without query; undefined where it could be read in more than one way, or in none. */
export function segmentsOf(path: string): string[] | undefined {
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[?#\\]/.test(path)) return undefined;
  try {
    const segments = path.split('/').filter(Boolean).map(decodeURIComponent);
    return segments.some(isDoubtful) ? undefined : segments;
  } catch {
    return undefined;
  }
}

/** The one spelling of an address, with the slash at the end that all operations have. */
export const pathOf = (segments: readonly string[]): string =>
  `/${segments.map((one) => `${encodeURIComponent(one)}/`).join('')}`;

/** Whether an address is one of an operation's. */
export function isAddressOf({ path }: Pick<Operation, 'path'>, segments: readonly string[]): boolean {
  const expected = path.split('/').filter(Boolean);
  return (
    expected.length === segments.length && expected.every((part, at) => part.startsWith('{') || part === segments[at])
  );
}
