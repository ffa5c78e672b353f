/**
 * How start-time variables are read. A reader gives the value or throws the sentence that tells what to write instead.
 * A variable that is missing and one that is empty are the same.
 */

type Reader<T> = (value: string | undefined) => T;

export const LEVELS = ['all', 'mark', 'trace', 'debug', 'info', 'warn', 'error', 'fatal', 'off'] as const;
export type Level = (typeof LEVELS)[number];

export const text = (value: string | undefined): string | undefined => value?.trim() || undefined;

/** What a variable says that may also have another name. */
export const orElse =
  <T>(reader: Reader<T>, otherName: string): Reader<T> =>
  (value) =>
    reader(text(value) ?? process.env[otherName]);

export const or =
  <T>(reader: Reader<T | undefined>, fallback: T): Reader<T> =>
  (value) =>
    reader(value) ?? fallback;

/** `fallback` is for development, where nothing has to be set. */
export const required =
  <T>(reader: Reader<T | undefined>, fallback?: T): Reader<T> =>
  (value) => {
    const found = reader(value) ?? fallback;
    if (found === undefined) throw new Error('Set this variable: the web server cannot do without it.');
    return found;
  };

export const choice =
  <const T extends string>(...allowed: T[]): Reader<T | undefined> =>
  (value) => {
    const found = text(value);
    if (found === undefined || allowed.includes(found as T)) return found as T | undefined;
    throw new Error(`"${found}" is not known here. Use ${allowed.map((one) => `"${one}"`).join(' or ')}.`);
  };

export const flag = (value: string | undefined): boolean | undefined => {
  const found = choice('true', 'false')(value);
  return found === undefined ? undefined : found === 'true';
};

function readUrl(found: string): URL {
  const url = URL.parse(found);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new Error(`"${found}" is not an absolute URL such as https://example.org.`);
}

/** An absolute URL, without slash at the end. */
export const url = (value: string | undefined): string | undefined => {
  const found = text(value);
  if (found === undefined) return undefined;
  readUrl(found);
  return found.replace(/\/$/, '');
};

export const urlOrPath = (value: string | undefined): string | undefined =>
  text(value)?.startsWith('/') ? text(value)!.replace(/(.)\/$/, '$1') : url(value);

export const origin = (value: string | undefined): string | undefined => {
  const found = text(value);
  if (found === undefined) return undefined;
  const read = readUrl(found);
  if (read.pathname !== '/' || read.search !== '')
    throw new Error(`"${found}" has a path. Write the origin alone, such as ${read.origin}.`);
  return read.origin;
};

export const integer =
  (least: number, most = Number.MAX_SAFE_INTEGER): Reader<number | undefined> =>
  (value) => {
    const found = text(value);
    if (found === undefined) return undefined;
    const number = Number(found);
    if (/^\d+$/.test(found) && number >= least && number <= most) return number;
    throw new Error(`"${found}" is not a whole number of at least ${least}.`);
  };

const UNITS = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/** Bytes, also as 512K, 5M or 1G. */
export const size = (value: string | undefined): number | undefined => {
  const found = text(value);
  if (found === undefined) return undefined;
  if (found === 'Infinity') return Infinity;
  const [, number, unit] = /^(\d+)([KMG]?)$/.exec(found.toUpperCase()) ?? [];
  if (number === undefined) throw new Error(`"${found}" is not a number of bytes such as 5000000 or 5M.`);
  return Number(number) * UNITS[unit as keyof typeof UNITS];
};

export const hostName = (value: string | undefined): string | undefined => {
  const found = text(value);
  if (found === undefined || /^\.?[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(found)) return found;
  throw new Error(`"${found}" is not a host name such as example.org, without scheme and port.`);
};

export const cookieName = (value: string | undefined): string | undefined => {
  const found = text(value);
  if (found === undefined || /^[\w!#$%&'*+.^`|~-]+$/.test(found)) return found;
  throw new Error(`"${found}" cannot be the name of a cookie. Use letters, digits, "-" and "_".`);
};

export const path = (value: string | undefined): string | undefined => {
  const found = text(value);
  if (found === undefined || /^\/[^;\s]*$/.test(found)) return found;
  throw new Error(`"${found}" is not a path. It begins with "/".`);
};
