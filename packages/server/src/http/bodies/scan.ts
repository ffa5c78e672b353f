/**
 * Looks at JSON while it arrives: how many values it has and how deep it is, piece by piece and without making anything of
 * it. A body that is too much is refused before it is parsed, or even complete.
 *
 *     const look = jsonScanner(5_000_000);
 *     const refusal = look(chunk) ?? look(nextChunk);
 */
import { refuse, type Refusal } from '../refusal.ts';

/** Deeper than any body of ours; what comes after the parser walks such values with a call a level. */
const DEEPEST = 500;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What a byte outside of texts means. All others belong to a number or a word. */
const GAP = 1;
const OPENING = 2;
const CLOSING = 3;
const KINDS = new Uint8Array(256);
for (const byte of Buffer.from(' \t\r\n,:')) KINDS[byte] = GAP;
for (const byte of Buffer.from('[{')) KINDS[byte] = OPENING;
for (const byte of Buffer.from(']}')) KINDS[byte] = CLOSING;

const tooDeep = () => refuse(400, `The body has more than ${DEEPEST} levels of lists and objects. Send flatter JSON.`);
const tooMany = (most: number) =>
  refuse(413, `The body has more than the ${most} values allowed here. Send it in parts, or ask an administrator.`);

export type Look = (chunk: Uint8Array) => Refusal | undefined;

/** Where the scanner is between two chunks. */
interface State {
  values: number;
  depth: number;
  inText: boolean;
  /** The next byte belongs to an escape. */
  escaped: boolean;
  inWord: boolean;
}

/** The state behind a chunk. It is in variables meanwhile, which are several times faster than fields. */
function behind(chunk: Uint8Array, state: State): State {
  let { values, depth, inText, inWord } = state;
  let index = state.escaped ? 1 : 0;
  const end = chunk.length;
  while (index < end) {
    const byte = chunk[index++]!;
    if (inText) {
      if (byte === BACKSLASH) index++;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) {
      values++;
      inText = true;
      inWord = false;
    } else {
      const kind = KINDS[byte]!;
      if (kind === 0 && !inWord) values++;
      inWord = kind === 0;
      if (kind === OPENING) {
        values += 2;
        if (++depth > DEEPEST) break;
      } else if (kind === CLOSING) depth--;
    }
  }
  return { values, depth, inText, escaped: index > end, inWord };
}

/** Every number, text, word and key counts as a value. A list or an object, which takes the room of two, counts twice. */
export function jsonScanner(mostValues: number): Look {
  let state: State = { values: 0, depth: 0, inText: false, escaped: false, inWord: false };
  return (chunk) => {
    state = behind(chunk, state);
    if (state.depth > DEEPEST) return tooDeep();
    return state.values > mostValues ? tooMany(mostValues) : undefined;
  };
}
