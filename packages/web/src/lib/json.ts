/**
 * JSON as it was written: `1.0` stays `1.0`, integers above 2^53 keep their digits, and a syntax error has a line and a
 * column in every browser.
 *
 *   writeJson(parseJson('{"size": 1.0}')) // {"size":1.0}
 *
 * Only numbers that a plain parse would change become a `NumberAsWritten`; all others stay plain numbers.
 */
import { findNumbers, NotJson } from '@service/contract/exact-json';
import { exactNumber, NumberAsWritten } from '@service/contract/numbers';

export { NumberAsWritten };

export type JsonObject = Record<string, unknown>;

/** What an object has under a name, where names are people's own: every object knows a `constructor`. */
export const ownOf = <T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberAsWritten);

const isNumber = (value: unknown): value is number | NumberAsWritten =>
  typeof value === 'number' || value instanceof NumberAsWritten;

const WHOLE_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The number a person typed, or undefined when the whole text is not one JSON number. */
export function typedNumber(text: string): number | NumberAsWritten | undefined {
  const trimmed = text.trim();
  return WHOLE_NUMBER.test(trimmed) && Number.isFinite(Number(trimmed)) ? exactNumber(trimmed) : undefined;
}

export class JsonSyntaxError extends Error {
  readonly line: number;
  readonly column: number;

  constructor(text: string, position: number, expected: string) {
    const before = text.slice(0, position).split('\n');
    const line = before.length;
    const column = before.at(-1)!.length + 1;
    super(`Line ${line}, column ${column}: ${expected}.`);
    this.line = line;
    this.column = column;
  }
}

/** Like JSON.parse, but numbers come back the way they were written. Throws a JsonSyntaxError. */
export function parseJson(text: string): unknown {
  try {
    return findNumbers(text, exactNumber);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    const { at, message } = error;
    throw new JsonSyntaxError(text, at, at < text.length ? message : `the text ends here; ${message}`);
  }
}

/** A value as people read it: texts without their quotes. */
export const inWords = (value: unknown): string => (typeof value === 'string' ? value : writeJson(value));

/** Like JSON.stringify, with numbers as they were written. */
export function writeJson(value: unknown, indent = 0, margin = ''): string {
  if (value instanceof NumberAsWritten) return value.source;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const inner = margin + ' '.repeat(indent);
  const parts = Array.isArray(value)
    ? value.map((item) => writeJson(item, indent, inner))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${JSON.stringify(key)}:${indent > 0 ? ' ' : ''}${writeJson(item, indent, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (parts.length === 0) return `${open}${close}`;
  return indent === 0
    ? `${open}${parts.join(',')}${close}`
    : `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}`;
}

/** The same value with plain numbers, for who calculates with them. */
export function plainJson(value: unknown): unknown {
  if (value instanceof NumberAsWritten) return value.value;
  if (Array.isArray(value)) return value.map(plainJson);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainJson(item)]));
  return value;
}

/** Equal as written; the order of keys does not count. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (isNumber(a) || isNumber(b)) return isNumber(a) && isNumber(b) && writeJson(a) === writeJson(b);
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  );
}

/** The path of a child: JSON pointers, the root is the empty text. */
export const under = (path: string, key: string | number): string =>
  `${path}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

export const keysOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
