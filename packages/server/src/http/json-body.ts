/** Reads JSON bodies: what is not UTF-8, too deep or not JSON is refused before anything else looks at it. */
import { parseJson } from '@service/contract';

import { refuse, type Refusal } from './refusal.ts';

/** Deeper than any body of ours; what comes after the parser walks such values with a call a level. */
const DEEPEST = 500;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

const utf8 = new TextDecoder('utf-8', { fatal: true });

function isTooDeep(bytes: Buffer): boolean {
  let depth = 0;
  let inText = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]!;
    if (inText) {
      if (byte === BACKSLASH) index++;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    else if (OPENING.has(byte)) {
      if (++depth > DEEPEST) return true;
    } else if (CLOSING.has(byte)) depth--;
  }
  return false;
}

function invalidJson(error: Error, text: string): Refusal {
  const position = /position (\d+)/.exec(error.message)?.[1];
  const offset = position === undefined ? text.length : Number(position);
  return refuse(422, [{ type: 'json_invalid', loc: ['body', offset], msg: 'The body is not valid JSON.' }]);
}

/** Escapes that may stand for text the database cannot store; most bodies have none, and need no second look. */
const DOUBTFUL = /\\u(0000|d[89a-f])/i;

export type ParsedBody = { value: unknown; doubtful: boolean } | { refusal: Refusal };

export function parseJsonBody(bytes: Buffer): ParsedBody {
  if (bytes.length === 0) return { value: undefined, doubtful: false };
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { refusal: refuse(400, 'The body is not UTF-8 text. Send JSON encoded as UTF-8.') };
  }
  if (isTooDeep(bytes)) {
    return {
      refusal: refuse(400, `The body has more than ${DEEPEST} levels of lists and objects. Send flatter JSON.`),
    };
  }
  try {
    return { value: parseJson(text), doubtful: DOUBTFUL.test(text) };
  } catch (error) {
    return { refusal: invalidJson(error as Error, text) };
  }
}

/**
 * Where a value holds text that the database cannot store: U+0000, or half of a surrogate pair. Schemas look at the texts
 * they know; this looks at everything, keys and free-form objects included.
 */
export function unstorableText(value: unknown, at: (string | number)[] = []): (string | number)[] | undefined {
  const bad = (text: string) => text.includes('\u0000') || !text.isWellFormed();
  if (typeof value === 'string') return bad(value) ? at : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const list = Array.isArray(value);
  for (const [key, item] of Object.entries(value)) {
    if (!list && bad(key)) return at;
    const found = unstorableText(item, [...at, list ? Number(key) : key]);
    if (found) return found;
  }
  return undefined;
}
