/**
 * When two JSON values are equal to a Python program: `1`, `1.0` and `true` are, `1` and `"1"` are not, and the order of
 * keys does not count. Equal values have the same key, so that a Map finds them.
 *
 *     valueKey(parseJson('{"a": 1.0, "b": []}')) === valueKey(parseJson('{"b": [], "a": true}'))
 */
import { type JsonObject, NumberAsWritten, type Scalar } from '@service/contract';

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberAsWritten);

const isWhole = (source: string) => !/[^\d-]/.test(source);

function numberKey(value: number): string {
  if (!Number.isInteger(value)) return String(value);
  // all digits, as in the key of an integer as it was written
  return Number.isSafeInteger(value) ? String(value) : BigInt(value).toString();
}

function writtenKey({ source, value }: NumberAsWritten): string {
  if (isWhole(source)) return source === '-0' ? '0' : source;
  return numberKey(value);
}

export function scalarKey(value: Scalar): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof NumberAsWritten) return writtenKey(value);
  return numberKey(Number(value));
}

/** For values of bounded depth, as `parsePythonJson` gives them. */
export function valueKey(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return `[${value.map(valueKey).join(',')}]`;
  if (!isJsonObject(value)) return scalarKey(value as Scalar);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${valueKey(value[key])}`).join(',')}}`;
}
