/**
 * Absolute paths, S3 addresses, and which folder covers which.
 *
 * `normalisePath('/a//b/./c/')` is `/a/b/c`; `covers('/d', '/dir1')` is false, because paths are compared by component.
 */
import { z } from 'zod';

import { distinct } from './maps.ts';
import { found, reader, type Reading, rule, valueError, wrong } from './problem.ts';
import { readTrimmedText } from './scalars.ts';

const SHELL_CHARACTERS = /[`#$&*()\\|[\]{};<>?!]/;
const S3_PREFIX = 's3://';

/** An expression that looks for slashes before the end would begin at each of a thousand slashes in the middle. */
export function withoutSlashesAtEnd(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}

export function normalisePath(path: string): string {
  const slashes = path.length - path.replace(/^\/+/, '').length;
  const components = path.split('/').filter((component) => component !== '' && component !== '.');
  return (slashes === 2 ? '//' : '/') + components.join('/');
}

export function readAbsolutePath(input: unknown): Reading<string> {
  const reading = readTrimmedText(input);
  if ('problem' in reading) return reading;
  const path = reading.value;
  if (!path.startsWith('/')) return valueError('Enter an absolute path: it starts with /.');
  if (path.split('/').includes('..')) return valueError('Write the path without "..".');
  return found(normalisePath(path));
}

export const absolutePath = () => reader(readAbsolutePath, { type: 'string', minLength: 1 });

const BUCKET = /^[a-z0-9][a-z0-9.-]*[a-z0-9]$/;
const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
const RESERVED_STARTS = ['xn--', 'sthree-', 'amzn-s3-demo-'];
const RESERVED_ENDS = ['-s3alias', '--ol-s3', '.mrap', '--x-s3', '--table-s3'];

function bucketProblem(bucket: string): string | undefined {
  if (bucket.length < 3 || bucket.length > 63) return 'An S3 bucket name has 3 to 63 characters.';
  if (!BUCKET.test(bucket)) return 'An S3 bucket name has lower-case letters, digits, dots and hyphens only.';
  if (bucket.includes('..')) return 'An S3 bucket name has no two dots in a row.';
  if (IPV4.test(bucket)) return 'An S3 bucket name must not look like an IP address.';
  const reserved =
    RESERVED_STARTS.find((start) => bucket.startsWith(start)) ?? RESERVED_ENDS.find((end) => bucket.endsWith(end));
  return reserved === undefined ? undefined : `S3 reserves bucket names with "${reserved}".`;
}

function readS3Url(input: unknown): Reading<string> {
  const reading = readTrimmedText(input);
  if ('problem' in reading) return reading;
  const url = reading.value;
  const slash = url.indexOf('/', S3_PREFIX.length);
  if (!url.startsWith(S3_PREFIX) || slash < 0 || slash === url.length - 1) {
    return valueError('Enter an address of the form s3://bucket/key.');
  }
  const problem = bucketProblem(url.slice(S3_PREFIX.length, slash));
  if (problem !== undefined) return valueError(problem);
  const key = new TextEncoder().encode(url.slice(slash + 1));
  return key.length > 1024 ? valueError('An S3 key has at most 1024 bytes.') : found(url);
}

/** A folder on a file system, or an S3 address. */
export function readProjectDir(input: unknown): Reading<string> {
  return typeof input === 'string' && input.trim().startsWith(S3_PREFIX) ? readS3Url(input) : readAbsolutePath(input);
}

export const projectDir = () => reader(readProjectDir, { type: 'string', minLength: 1 });

const LONGEST_ADDRESS_BYTES = 2000;

/** A path in the form that it is stored in, of plain signs: nearly all are, and there may be a hundred thousand of them. */
const PLAIN_PATH = /^(?:\/(?!\.\.?(?:\/|$))[!-.0-~]+)+$/;

/** Where an image or a dataset lies: an absolute path, or an S3 address whose trailing slashes do not count. */
export function readZarrUrl(input: unknown): Reading<string> {
  if (typeof input === 'string' && input.length <= LONGEST_ADDRESS_BYTES && PLAIN_PATH.test(input)) return found(input);
  const reading = readTrimmedText(input);
  if ('problem' in reading) return reading;
  const url = reading.value;
  if (url.split('/').includes('..')) return valueError('Write the address without "..".');
  // a character has at most three bytes a unit, so most need no count
  if (url.length * 3 > LONGEST_ADDRESS_BYTES && new TextEncoder().encode(url).length > LONGEST_ADDRESS_BYTES) {
    return valueError(`An address has at most ${LONGEST_ADDRESS_BYTES} bytes.`);
  }
  if (url.startsWith('/')) return found(normalisePath(url));
  if (url.startsWith(S3_PREFIX)) return found(withoutSlashesAtEnd(url));
  return valueError('Enter an absolute path or an s3:// address.');
}

export const zarrUrl = () => reader(readZarrUrl, { type: 'string', minLength: 1 });

const SAFE_RELATIVE = /^[a-zA-Z0-9_. /-]+$/;

function readSubfolder(input: unknown): Reading<string> {
  const reading = readTrimmedText(input);
  if ('problem' in reading) return reading;
  if (reading.value.split('/').includes('..')) return valueError('Write the folder without "..".');
  if (reading.value.startsWith('/')) return valueError('Enter a folder below the project folder, without / in front.');
  const components = reading.value.split('/').filter((component) => component !== '' && component !== '.');
  const path = components.join('/') || '.';
  return SAFE_RELATIVE.test(path)
    ? found(path)
    : wrong('string_pattern_mismatch', 'Use letters, digits, "_", ".", "-", spaces and "/" only.');
}

/** A folder below another one. `a//b/./c/` reads as `a/b/c`. */
export const subfolder = () => reader(readSubfolder, { type: 'string', minLength: 1 });

/** A user's folders, the default one first. */
export const projectDirs = () =>
  z
    .array(projectDir())
    .min(1)
    .superRefine(distinct())
    .superRefine(
      rule((dirs: string[]) => {
        const odd = dirs.find((dir) => SHELL_CHARACTERS.test(dir));
        return odd === undefined ? undefined : `Remove the characters with a meaning for shells from ${odd}.`;
      }),
    );

const isS3 = (path: string) => path.startsWith(S3_PREFIX);
const comparable = (path: string) => (isS3(path) ? withoutSlashesAtEnd(path) : normalisePath(path));

/** True when `path` is `base` or lies below it. */
export function covers(base: string, path: string): boolean {
  if (isS3(base) !== isS3(path)) return false;
  const [from, to] = [comparable(base), comparable(path)];
  return to === from || to.startsWith(from.endsWith('/') ? from : `${from}/`);
}
