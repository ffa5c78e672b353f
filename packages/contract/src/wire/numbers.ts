/**
 * JSON with numbers as they were written. `1.0`, `1e3` and integers above 2^53 pass through the service unchanged; a plain
 * parse would make `1` of the first and round the last.
 *
 * Only numbers that would change become a `NumberAsWritten`; all others stay plain numbers.
 */
import { type Pieces, readExactly } from './exact-json.ts';

/** Some browsers do not have it yet. */
interface RawJson {
  rawJSON?: (text: string) => object;
}
const json = JSON as unknown as RawJson;

export class NumberAsWritten {
  readonly value: number;
  readonly source: string;

  constructor(source: string) {
    this.source = source;
    this.value = Number(source);
  }

  toJSON(): object | number {
    return json.rawJSON?.(this.source) ?? this.value;
  }
}

/** What may be a number that changes: a fraction that ends in 0, an exponent, many digits, minus zero, very small ones. */
const CHANGES = /\d\.\d*0(?!\d)|\d[eE][+\-\d]|\d{16}|[\d.]{17}|-0(?![.\d])|0\.0{6}/;

/** The number that a text stands for, as written where a plain number would be written otherwise. */
export function exactNumber(source: string): number | NumberAsWritten {
  const value = Number(source);
  return String(value) === source ? value : new NumberAsWritten(source);
}

/** Like JSON.parse, but numbers come back the way they were written. */
export function parseJson(text: string): unknown {
  return CHANGES.test(text) ? readExactly(text, { number: exactNumber }) : (JSON.parse(text) as unknown);
}

/**
 * The same, for texts of any length in a thread of its own: JSON.parse cannot be interrupted, and ends the whole process
 * when the memory of its thread does not suffice. This is a few times slower, and fails alone. Texts with escapes are shown
 * to `escaped`.
 */
export const parseLongJson = (pieces: Pieces, escaped: (source: string) => void): unknown =>
  readExactly(pieces, { number: exactNumber, escaped });

/** The plain value of something that may be a number as written. */
export const plain = (value: unknown): unknown => (value instanceof NumberAsWritten ? value.value : value);

export type Scalar = string | number | boolean | NumberAsWritten;

export type ScalarKind = 'string' | 'boolean' | 'integer' | 'float';

/** `1` is an integer and `1.0` is not, as in the programs that made them. */
export function kindOf(value: Scalar): ScalarKind {
  if (value instanceof NumberAsWritten) return /[.eE]/.test(value.source) ? 'float' : 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'float';
  return typeof value as 'string' | 'boolean';
}
