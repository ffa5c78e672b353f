/**
 * Blosc chunks, the usual packing of Zarr arrays: blocks of shuffled bytes, packed by LZ4, Zstandard, zlib or BloscLZ.
 *
 * The WebAssembly that zarrita has for it does not say when a chunk is damaged, and then gives what was in its memory
 * before: pixels of other people's images. Here every byte that is given out was written for this chunk.
 */
import { inflateSync, zstdDecompressSync } from 'node:zlib';

import { repeat, unpackLz4 } from './lz4.ts';

const HEADER = 16;
const MOST_SPLITS = 16;
const LEAST_OF_SPLIT = 128;
const FLAGS = { shuffled: 0x01, copied: 0x02, bitShuffled: 0x04, notSplit: 0x10 };
/** The farthest that BloscLZ reaches with two bytes. */
const NEAR = 8191;

const damaged = (what: string) => new Error(what);

/** Fills `to`, no more and no less. */
function unpackBloscLz(from: Uint8Array, to: Uint8Array): void {
  const fail = () => damaged('is no BloscLZ block');
  let [at, written] = [0, 0];
  const next = () => {
    const byte = from[at++];
    if (byte === undefined) throw fail();
    return byte;
  };
  // the first token is one of literals
  let token = next() & 31;
  for (;;) {
    if (token >= 32) {
      let length = (token >> 5) - 1;
      let distance = (token & 31) << 8;
      if (length === 6) {
        let more: number;
        do length += more = next();
        while (more === 255);
      }
      const low = next();
      if (low === 255 && distance === 31 << 8) distance = (next() << 8) + next() + NEAR;
      else distance += low;
      length += 3;
      distance += 1;
      if (distance > written || written + length > to.length) throw fail();
      repeat(to, written, distance, length);
      written += length;
    } else {
      const literals = token + 1;
      if (at + literals > from.length || written + literals > to.length) throw fail();
      to.set(from.subarray(at, at + literals), written);
      at += literals;
      written += literals;
    }
    if (at >= from.length) break;
    token = next();
  }
  if (written !== to.length) throw fail();
}

/** By a library that says how much came out. */
const byNode = (unpack: (bytes: Uint8Array, options: { maxOutputLength: number }) => Uint8Array) =>
  function unpackInto(from: Uint8Array, to: Uint8Array): void {
    const bytes = unpack(from, { maxOutputLength: to.length });
    if (bytes.length !== to.length) throw damaged('holds another number of bytes than it says');
    to.set(bytes);
  };

const UNPACK: Record<number, (from: Uint8Array, to: Uint8Array) => void> = {
  0: unpackBloscLz,
  1: unpackLz4,
  3: byNode(inflateSync),
  4: byNode(zstdDecompressSync),
};

/** Bytes of one significance lie together: they are put back to their values. */
function unshuffle(from: Uint8Array, to: Uint8Array, size: number): void {
  const count = Math.floor(from.length / size);
  for (let part = 0; part < size; part++) {
    for (let at = 0, index = part, source = part * count; at < count; at++, index += size)
      to[index] = from[source + at]!;
  }
  to.set(from.subarray(count * size), count * size);
}

/** The same for single bits. */
function unshuffleBits(from: Uint8Array, to: Uint8Array, size: number): void {
  const count = Math.floor(from.length / size);
  if (count % 8 !== 0) {
    to.set(from);
    return;
  }
  const line = count / 8;
  for (let part = 0; part < size; part++) {
    for (let bit = 0; bit < 8; bit++) {
      const start = (part * 8 + bit) * line;
      for (let at = 0; at < count; at++) {
        to[at * size + part]! |= ((from[start + (at >> 3)]! >> (at & 7)) & 1) << bit;
      }
    }
  }
  to.set(from.subarray(count * size), count * size);
}

/** How many bytes a chunk says that it holds. */
export function sizeOfBlosc(chunk: Uint8Array): number {
  if (chunk.length < HEADER) throw damaged('is cut off');
  return new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength).getUint32(4, true);
}

interface Facts {
  chunk: Uint8Array;
  view: DataView;
  flags: number;
  typeSize: number;
  blockSize: number;
}

/** The parts of a block, one after the other, each with its length in front. */
function unpackParts({ chunk, view, flags }: Facts, start: number, parts: number, to: Uint8Array): void {
  const unpack = UNPACK[flags >> 5];
  if (!unpack) throw damaged('is packed by Snappy, which is not read');
  const length = to.length / parts;
  for (let part = 0, at = start; part < parts; part++) {
    if (at + 4 > chunk.length) throw damaged('has a damaged header');
    const packed = view.getUint32(at, true);
    at += 4;
    if (at + packed > chunk.length) throw damaged('is cut off');
    const target = to.subarray(part * length, (part + 1) * length);
    if (packed === length) target.set(chunk.subarray(at, at + packed));
    else unpack(chunk.subarray(at, at + packed), target);
    at += packed;
  }
}

function unpackBlock(facts: Facts, start: number, to: Uint8Array): void {
  const { flags, typeSize, blockSize } = facts;
  const canSplit = to.length === blockSize && typeSize <= MOST_SPLITS && blockSize / typeSize >= LEAST_OF_SPLIT;
  const parts = canSplit && !(flags & FLAGS.notSplit) ? typeSize : 1;
  const isShuffled = (flags & FLAGS.shuffled) !== 0 && typeSize > 1;
  if (!isShuffled && !(flags & FLAGS.bitShuffled)) return unpackParts(facts, start, parts, to);
  const bytes = new Uint8Array(to.length);
  unpackParts(facts, start, parts, bytes);
  if (isShuffled) unshuffle(bytes, to, typeSize);
  else unshuffleBits(bytes, to, typeSize);
}

export function unpackBlosc(chunk: Uint8Array): Uint8Array {
  const size = sizeOfBlosc(chunk);
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const [flags, typeSize] = [chunk[2]!, Math.max(1, chunk[3]!)];
  const [blockSize, packedSize] = [view.getUint32(8, true), view.getUint32(12, true)];
  const copied = (flags & FLAGS.copied) !== 0;
  if (packedSize > chunk.length || (copied && chunk.length < HEADER + size)) throw damaged('is cut off');
  if (copied) return Uint8Array.from(chunk.subarray(HEADER, HEADER + size));
  const result = new Uint8Array(size);
  const blocks = size === 0 ? 0 : Math.ceil(size / blockSize);
  if (!(HEADER + 4 * blocks <= chunk.length)) throw damaged('has a damaged header');
  for (let block = 0; block < blocks; block++) {
    const to = result.subarray(block * blockSize, (block + 1) * blockSize);
    unpackBlock({ chunk, view, flags, typeSize, blockSize }, view.getUint32(HEADER + 4 * block, true), to);
  }
  return result;
}
