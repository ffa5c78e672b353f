/**
 * Versions of Python packages, compared as PEP 440 says.
 *
 *     compareVersions('0.10.0alpha3', '0.10.0b4') < 0
 *
 * https://packaging.python.org/en/latest/specifications/version-specifiers/ (grammar in its appendix).
 */

type Part = bigint | string;

/** What decides the order of two versions, most important first. */
interface Version {
  epoch: bigint;
  /** Without trailing zeros: 1.0 equals 1. */
  release: bigint[];
  pre: [rank: bigint, number: bigint];
  post: bigint;
  dev: [rank: bigint, number: bigint];
  local: Part[];
}

const GRAMMAR = new RegExp(
  String.raw`^\s*v?(?:(?<epoch>\d+)!)?(?<release>\d+(?:\.\d+)*)` +
    String.raw`(?:[-_.]?(?<preKind>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?<preNumber>\d+)?)?` +
    String.raw`(?<post>-(?<postBare>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?<postNumber>\d+)?)?` +
    String.raw`(?<dev>[-_.]?dev[-_.]?(?<devNumber>\d+)?)?` +
    String.raw`(?:\+(?<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*$`,
  'i',
);

/** A development release of a final one comes before its pre-releases, the final one after them. */
const PRE_RANKS: Record<string, bigint> = {
  a: 1n,
  alpha: 1n,
  b: 2n,
  beta: 2n,
  c: 3n,
  rc: 3n,
  pre: 3n,
  preview: 3n,
};
const BEFORE_ALL_PRE: [bigint, bigint] = [0n, 0n];
const AFTER_ALL_PRE: [bigint, bigint] = [4n, 0n];
const NO_POST = -1n;
const NO_DEV: [bigint, bigint] = [1n, 0n];

function withoutTrailingZeros(release: bigint[]): bigint[] {
  const last = release.findLastIndex((number) => number !== 0n);
  return release.slice(0, last + 1);
}

const localParts = (label: string): Part[] =>
  label
    .toLowerCase()
    .split(/[-_.]/)
    .map((part) => (/^\d+$/.test(part) ? BigInt(part) : part));

/** No version is that long; reading numbers of a million digits takes its time. */
const LONGEST = 1000;
const read = (text: string) => (text.length <= LONGEST ? GRAMMAR.exec(text)?.groups : undefined);

/** Undefined for a text that is not a version. */
export function parseVersion(text: string): Version | undefined {
  const found = read(text);
  if (!found) return undefined;
  const { epoch, release, preKind, preNumber, post, postBare, postNumber, dev, devNumber, local } = found;
  const noPre = post === undefined && dev !== undefined ? BEFORE_ALL_PRE : AFTER_ALL_PRE;
  return {
    epoch: BigInt(epoch ?? 0),
    release: withoutTrailingZeros(release!.split('.').map(BigInt)),
    pre: preKind === undefined ? noPre : [PRE_RANKS[preKind.toLowerCase()]!, BigInt(preNumber ?? 0)],
    post: post === undefined ? NO_POST : BigInt(postBare ?? postNumber ?? 0),
    dev: dev === undefined ? NO_DEV : [0n, BigInt(devNumber ?? 0)],
    local: local === undefined ? [] : localParts(local),
  };
}

export const isVersion = (text: string): boolean => parseVersion(text) !== undefined;

/** Alpha, beta, release candidate or development release; false for what is no version. */
export function isPrerelease(text: string): boolean {
  const version = parseVersion(text);
  return version !== undefined && (version.pre !== AFTER_ALL_PRE || version.dev !== NO_DEV);
}

/** Of a number and a text, the number is greater. */
function compareParts(one: Part, other: Part): number {
  if (typeof one !== typeof other) return typeof one === 'bigint' ? 1 : -1;
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Like words in a dictionary: the first difference decides, then the length. */
function compareLists(one: Part[], other: Part[]): number {
  for (const [index, part] of one.entries()) {
    if (index >= other.length) return 1;
    const difference = compareParts(part, other[index]!);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

function compareParsed(one: Version, other: Version): number {
  return (
    compareParts(one.epoch, other.epoch) ||
    compareLists(one.release, other.release) ||
    compareLists(one.pre, other.pre) ||
    compareParts(one.post, other.post) ||
    compareLists(one.dev, other.dev) ||
    compareLists(one.local, other.local)
  );
}

/** Negative when `one` is older. What is no version is older than every version, and no text at all is older still. */
export function compareVersions(one: string | null, other: string | null): number {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null);
  const [first, second] = [parseVersion(one), parseVersion(other)];
  if (first && second) return compareParsed(first, second);
  if (first || second) return first ? 1 : -1;
  return compareParts(one, other);
}
