/** Reads JSON bodies: what is not UTF-8, too deep or not JSON is refused before anything else looks at it. */
import { isUtf8 } from 'node:buffer';

import {
  NotJson,
  type Operation,
  type Outcome,
  parseJson,
  parseLongJson,
  type Pieces,
  readBody,
} from '@service/contract';

import { invalid, refuse, Refusal } from '../refusal.ts';
import type { Pack, Packed } from './pack.ts';
import { jsonScanner } from './scan.ts';

const invalidJson = (offset: number): Refusal =>
  refuse(422, [{ type: 'json_invalid', loc: ['body', offset], msg: 'The body is not valid JSON.' }]);

/** JSON.parse tells it in its words only; what it does not tell is wrong at the end. */
function offsetIn({ message }: Error, length: number): number {
  const position = /position (\d+)/.exec(message)?.[1];
  return position === undefined ? length : Number(position);
}

/** Escapes that may stand for text the database cannot store; most bodies have none, and need no second look. */
const DOUBTFUL = /\\u(0000|d[89a-f])/i;

export type ParsedBody = { value: unknown; doubtful: boolean } | { refusal: Refusal };

const utf8 = new TextDecoder('utf-8', { fatal: true });

export const notUtf8 = () => refuse(400, 'The body is not UTF-8 text. Send JSON encoded as UTF-8.');

/** `parse` is JSON.parse where only the syntax counts. The decoder leaves out the mark that some programs put in front. */
export function parseBytes(bytes: Uint8Array, parse: (text: string) => unknown = parseJson): ParsedBody {
  if (!isUtf8(bytes)) return { refusal: notUtf8() };
  const text = utf8.decode(bytes);
  if (text === '') return { value: undefined, doubtful: false };
  try {
    return { value: parse(text), doubtful: DOUBTFUL.test(text) };
  } catch (error) {
    return { refusal: invalidJson(offsetIn(error as Error, text.length)) };
  }
}

/** Of a body that comes in pieces. */
export function parsePieces(pieces: Pieces): ParsedBody {
  let doubtful = false;
  try {
    const value = parseLongJson(pieces, (source) => (doubtful ||= DOUBTFUL.test(source)));
    return { value, doubtful };
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error };
    if (error instanceof NotJson) return { refusal: invalidJson(error.at + error.inside) };
    throw error;
  }
}

/** JSON from anywhere. */
export function parseJsonBody(bytes: Uint8Array, parse?: (text: string) => unknown): ParsedBody {
  const refusal = jsonScanner(Infinity)(bytes);
  return refusal ? { refusal } : parseBytes(bytes, parse);
}

/** What is wrong with the syntax of a body that is not going to be read. */
export function syntaxProblem(bytes: Uint8Array): Refusal | undefined {
  const parsed = parseJsonBody(bytes, JSON.parse);
  return 'refusal' in parsed ? parsed.refusal : undefined;
}

const isBad = (text: string) => text.includes('\u0000') || !text.isWellFormed();

/**
 * Where a value holds text that the database cannot store: U+0000, or half of a surrogate pair. Schemas look at the texts
 * they know; this looks at everything, keys and free-form objects included.
 */
export function unstorableText(value: unknown): (string | number)[] | undefined {
  if (typeof value === 'string') return isBad(value) ? [] : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = unstorableText(value[index]);
      if (found) return [index, ...found];
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if (isBad(key)) return [];
    const found = unstorableText((value as Record<string, unknown>)[key]);
    if (found) return [key, ...found];
  }
  return undefined;
}

const UNSTORABLE = 'Value error, Remove the characters that cannot be stored: U+0000, or half of a surrogate pair.';

export type BodyReading = { refusal: Refusal } | Outcome<Packed<unknown, Iterable<Uint8Array>>>;

/** Reads a body that was looked at while it arrived, with the schema of its operation. */
export function readJson(operation: Operation, parsed: ParsedBody, pack: Pack | undefined): BodyReading {
  if ('refusal' in parsed) return parsed;
  const bad = parsed.doubtful ? unstorableText(parsed.value) : undefined;
  if (bad) return { refusal: invalid([{ type: 'value_error', loc: ['body', ...bad], msg: UNSTORABLE }]) };
  return packed(readBody(operation, parsed.value), pack);
}

export const packed = (
  outcome: Outcome<unknown>,
  pack: Pack | undefined,
): Outcome<Packed<unknown, Iterable<Uint8Array>>> =>
  'entries' in outcome
    ? outcome
    : { value: pack ? pack(outcome.value as never) : { rest: outcome.value, texts: [], more: [] } };
