/**
 * A long body in pieces, from the file it lies in: as objects it needs room enough, and as a text it would need as much
 * again.
 */
import { isUtf8 } from 'node:buffer';
import { readSync } from 'node:fs';

import type { Piece, Pieces } from '@service/contract';

import { refuse } from '../refusal.ts';
import { notUtf8 } from './json.ts';

/** The text of a piece lies in the memory of its thread, which is bounded: above a megabyte it would lie outside of it. */
const PIECE = 512 * 1024;
/** What has to be in one piece: nothing of ours is a tenth as long. */
const LONGEST_TEXT = 16 * 2 ** 20;

const MARK = Buffer.from('\uFEFF');
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const tooLong = () => refuse(413, 'The body has a text of more than 16 MB. Send shorter ones.');

/** Where the last character begins that is not complete, or the end. */
function endOfCharacters(bytes: Uint8Array, length: number): number {
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back]!;
    if (byte < 0x80) return length;
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? length - back : length;
  }
  return length;
}

/** `fd` is an open file of this process, and `length` how much of it is the body. */
export function piecesOf({ fd, length }: { fd: number; length: number }): Pieces {
  let buffer = Buffer.alloc(PIECE + 1);
  let position = 0;

  /** Puts what is left of the piece before in front, and makes room for more behind it. */
  function keep(left: Uint8Array): void {
    if (left.length > LONGEST_TEXT) throw tooLong();
    const roomier = left.length > PIECE / 2 ? Buffer.alloc(left.length + PIECE + 1) : buffer;
    roomier.set(left);
    buffer = roomier;
  }

  function fill(from: number): number {
    let end = from;
    while (end < buffer.length - 1 && position < length) {
      const read = readSync(fd, buffer, end, Math.min(buffer.length - 1 - end, length - position), position);
      if (read === 0) throw new Error('The file of a body is shorter than the body');
      position += read;
      end += read;
    }
    return end;
  }

  return (left): Piece | undefined => {
    if (position === length) return undefined;
    const isFirst = position === 0;
    keep(left as Uint8Array);
    const filled = fill(left.length);
    const end = position === length ? filled : endOfCharacters(buffer, filled);
    // a character that is cut is read again with the next piece
    position -= filled - end;
    if (!isUtf8(buffer.subarray(left.length, end))) throw notUtf8();
    const start = isFirst && buffer.subarray(0, MARK.length).equals(MARK) ? MARK.length : 0;
    buffer[end] = 0;
    return {
      codes: buffer.subarray(start, end + 1),
      text: buffer.toString('latin1', start, end),
      decode: (codes) => utf8.decode(codes),
    };
  };
}
