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

/** Every number, text, word and key counts as a value. A list or an object, which takes the room of two, counts twice. */
export function jsonScanner(mostValues: number): Look {
  let values = 0;
  let depth = 0;
  let inText = false;
  let escaped = false;
  let inWord = false;

  /** From inside a text to what follows it, or to the end of the chunk. */
  function endOfText(chunk: Uint8Array, from: number): number {
    for (let index = from; index < chunk.length; index++) {
      if (escaped) escaped = false;
      else if (chunk[index] === BACKSLASH) escaped = true;
      else if (chunk[index] === QUOTE) {
        inText = false;
        return index + 1;
      }
    }
    return chunk.length;
  }

  return (chunk) => {
    let index = inText ? endOfText(chunk, 0) : 0;
    while (index < chunk.length) {
      const byte = chunk[index++]!;
      if (byte === QUOTE) {
        values++;
        inWord = false;
        inText = true;
        index = endOfText(chunk, index);
        continue;
      }
      const kind = KINDS[byte]!;
      if (kind === 0) {
        if (!inWord) values++;
        inWord = true;
        continue;
      }
      inWord = false;
      if (kind === OPENING) {
        values += 2;
        if (++depth > DEEPEST) return tooDeep();
      } else if (kind === CLOSING) depth--;
    }
    return values > mostValues ? tooMany(mostValues) : undefined;
  };
}
