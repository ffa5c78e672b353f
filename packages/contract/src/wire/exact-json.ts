/**
 * Reads JSON whose numbers are not to be taken plainly: each one is handed over as it was written.
 *
 *     readExactly('{"size": 1.0}', { number: (source) => source })   // { size: '1.0' }
 *
 * JSON.parse tells the source of a number only to a reviver, which makes it ten times slower. This reads two to three
 * times slower than JSON.parse, and also takes a text in pieces, so that a long one need not be in memory as a whole.
 */
import { ServiceError } from '../errors.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** Below this a number of digits alone is what it seems. */
const EXACT_DIGITS = 15;

/** Words that are looked for as a whole are in sight, unless the text ends. */
const SIGHT = 16;

/** Keys come again and again: those that came last are not made anew. */
const KNOWN_KEYS = 256;

/** The message is what was expected at this place of the text. */
export class NotJson extends ServiceError {
  readonly kind = 'not-json';
  readonly at: number;
  /** How far behind that place the sign is, of a text with a wrong escape. */
  readonly inside: number;

  constructor(at: number, expected: string, inside = 0) {
    super(expected);
    this.at = at;
    this.inside = inside;
  }
}

/** A stretch of a text. A zero that does not belong to it ends the codes. */
export interface Piece {
  /** Bytes of UTF-8, or the codes of the characters. */
  codes: Uint8Array | Uint16Array;
  /** One character for each code. */
  text: string;
  /** What the codes of a text stand for that is not ASCII, where `text` does not tell. */
  decode?(codes: Uint8Array | Uint16Array): string;
}

/** The next piece of a text, which starts with what is left of the one before; nothing when the text is over. */
export type Pieces = (left: Uint8Array | Uint16Array) => Piece | undefined;

export interface Reading {
  number(source: string): unknown;
  /** Sees every text with escapes, as it was written. */
  escaped?(source: string): void;
}

function pieceOf(text: string): Piece {
  const bytes = new Uint8Array(text.length + 1);
  const { read, written } = new TextEncoder().encodeInto(text, bytes);
  if (read === text.length && written === read) return { codes: bytes, text };
  const codes = new Uint16Array(text.length + 1);
  for (let index = 0; index < text.length; index++) codes[index] = text.charCodeAt(index);
  return { codes, text };
}

/** Throws `NotJson`. */
function read(source: string | Pieces, reading: Reading): unknown {
  let { codes, text, decode }: Piece =
    typeof source === 'string' ? pieceOf(source) : { codes: new Uint8Array(1), text: '' };
  let more = typeof source === 'string' ? undefined : source;
  let at = 0;
  /** Where it is time to get the next piece. */
  let soon = more ? -1 : Infinity;
  /** How much of the text came before this piece. */
  let before = 0;
  const knownKeys: string[] = Array.from({ length: KNOWN_KEYS }, () => '');

  /** Gets the next piece, if there is one. It starts at `at`, which becomes 0. */
  function refill(): boolean {
    const piece = more?.(codes.subarray(at, text.length));
    if (!piece) {
      more = undefined;
      soon = Infinity;
      return false;
    }
    before += at;
    at = 0;
    ({ codes, text, decode } = piece);
    soon = text.length - SIGHT;
    return true;
  }

  /** The next code that is not white space. */
  function next(): number {
    for (;;) {
      let code = codes[at]!;
      while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = codes[++at]!;
      if (at <= soon || !refill()) return code;
    }
  }

  const notJson = (expected: string) => new NotJson(before + at, expected);

  /** At a line break or another sign that has to be escaped, or at the end of the text. */
  function notInText(end: number): NotJson {
    const words =
      end < text.length ? 'write a line break inside a text as \\n' : 'close the text with a quotation mark';
    return new NotJson(before + end, words);
  }

  /** What the last text had in it. */
  let widest = 0;
  let hasEscapes = false;

  /** Where the closing quotation mark is of the text that opens at `at`. */
  function endOfText(): number {
    const here = codes;
    let seen = 0;
    let end = at + 1;
    let code = here[end]!;
    while (code !== QUOTE && code !== BACKSLASH && code >= 0x20) {
      seen |= code;
      code = here[++end]!;
    }
    widest = seen;
    hasEscapes = false;
    return code === QUOTE ? end : endOfOddText(end);
  }

  /** The same for a text with escapes, or one that goes on in the next piece. */
  function endOfOddText(from: number): number {
    for (let end = from; ; end++) {
      const code = codes[end]!;
      if (code === QUOTE && end < text.length) return end;
      if (end >= text.length) {
        // the text is looked at once more as a whole
        if (!refill()) throw notInText(text.length);
        return endOfText();
      }
      if (code < 0x20) throw notInText(end);
      widest |= code;
      if (code !== BACKSLASH) continue;
      hasEscapes = true;
      end++;
    }
  }

  const textOf = (start: number, end: number): string =>
    decode && widest >= 0x80 ? decode(codes.subarray(start, end)) : text.slice(start, end);

  function escapedText(end: number): string {
    const written = textOf(at, end + 1);
    reading.escaped?.(written);
    try {
      return JSON.parse(written) as string;
    } catch (error) {
      const inside = Number(/position (\d+)/.exec((error as Error).message)?.[1] ?? 0);
      const words = 'after a backslash only " \\ / b f n r t or u with four digits is possible';
      throw new NotJson(before + at, words, inside);
    }
  }

  /** At an opening quotation mark. */
  function string(): string {
    const end = endOfText();
    const made = hasEscapes ? escapedText(end) : textOf(at + 1, end);
    at = end + 1;
    return made;
  }

  function key(): string {
    const end = endOfText();
    const start = at + 1;
    if (hasEscapes || widest >= 0x80) return string();
    const length = end - start;
    at = end + 1;
    const slot = (codes[start]! * 31 + codes[end - 1]! * 7 + length) % KNOWN_KEYS;
    const known = knownKeys[slot]!;
    if (known.length === length) {
      let same = 0;
      while (same < length && known.charCodeAt(same) === codes[start + same]) same++;
      if (same === length) return known;
    }
    return (knownKeys[slot] = text.slice(start, end));
  }

  function list(): unknown[] {
    const items: unknown[] = [];
    at++;
    if (next() === CLOSE_LIST) return (at++, items);
    for (;;) {
      items.push(value());
      const code = next();
      if (code !== COMMA && code !== CLOSE_LIST) throw notJson('expected a comma or ]');
      at++;
      if (code === CLOSE_LIST) return items;
    }
  }

  function object(): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    at++;
    if (next() === CLOSE_OBJECT) return (at++, fields);
    for (;;) {
      if (next() !== QUOTE) throw notJson('expected a name in quotation marks');
      const name = key();
      if (next() !== COLON) throw notJson('expected a colon');
      at++;
      const item = value();
      if (name === '__proto__')
        Object.defineProperty(fields, name, { value: item, writable: true, enumerable: true, configurable: true });
      else fields[name] = item;
      const code = next();
      if (code !== COMMA && code !== CLOSE_OBJECT) throw notJson('expected a comma or }');
      at++;
      if (code === CLOSE_OBJECT) return fields;
    }
  }

  function word<T>(letters: string, meaning: T): T {
    if (!text.startsWith(letters, at)) throw notJson('expected a value');
    at += letters.length;
    return meaning;
  }

  /** The number of a few digits that is here; it needs no second look, and most numbers are that. */
  function digitsHere(first: number): number | undefined {
    if (first <= 0x30 || first > 0x39) return undefined;
    let digits = first - 0x30;
    for (let end = at + 1; end - at < EXACT_DIGITS; end++) {
      const code = codes[end]!;
      if (code >= 0x30 && code <= 0x39) digits = digits * 10 + (code - 0x30);
      else if (code === 0x2e || code === 0x65 || code === 0x45 || end === text.length) return undefined;
      else return ((at = end), digits);
    }
    return undefined;
  }

  function numberHere(): unknown {
    for (;;) {
      NUMBER.lastIndex = at;
      const end = NUMBER.test(text) ? NUMBER.lastIndex : at;
      // one that may go on in the next piece
      if (end > soon && refill()) continue;
      if (end === at) throw notJson('expected a value');
      const written = text.slice(at, end);
      at = end;
      return reading.number(written);
    }
  }

  function value(): unknown {
    const code = next();
    switch (code) {
      case QUOTE:
        return string();
      case OPEN_OBJECT:
        return object();
      case OPEN_LIST:
        return list();
      case 0x74:
        return word('true', true);
      case 0x66:
        return word('false', false);
      case 0x6e:
        return word('null', null);
      default:
        return digitsHere(code) ?? numberHere();
    }
  }

  const whole = value();
  next();
  if (at < text.length) throw notJson('expected the end of the text');
  return whole;
}

/** Tells by `NotJson` what is wrong with a text, and where. */
export const findNumbers = (text: string, number: Reading['number']): unknown => read(text, { number });

/** What is not JSON is left to JSON.parse where the text is whole, so that errors are told in one way; else by `NotJson`. */
export function readExactly(source: string | Pieces, reading: Reading): unknown {
  try {
    return read(source, reading);
  } catch (error) {
    if (!(error instanceof NotJson) || typeof source !== 'string') throw error;
    JSON.parse(source);
    throw new Error('JSON.parse takes what the exact reader does not', { cause: error });
  }
}
