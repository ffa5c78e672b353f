/**
 * Versions of Python packages, compared as PEP 440 says.
 *
 *     compareVersions('0.10.0alpha3', '0.10.0b4') < 0
 */
import { compare, explain } from '@renovatebot/pep440';

/** No version is that long; reading numbers of a million digits takes its time. */
const LONGEST = 1000;

const explained = (text: string) => (text.length <= LONGEST ? explain(text.trim()) : null);

export const isVersion = (text: string): boolean => explained(text) !== null;

/** Alpha, beta, release candidate or development release; false for what is no version. */
export const isPrerelease = (text: string): boolean => explained(text)?.is_prerelease ?? false;

/** Negative when `one` is older. What is no version is older than every version, and no text at all is older still. */
export function compareVersions(one: string | null, other: string | null): number {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null);
  const [first, second] = [isVersion(one), isVersion(other)];
  if (first && second) return compare(one.trim(), other.trim());
  if (first || second) return first ? 1 : -1;
  return one < other ? -1 : Number(one > other);
}
