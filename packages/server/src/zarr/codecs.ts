/**
 * How chunks are unpacked: with bounds, because a few bytes can unpack to gigabytes, by Node's own libraries, which run
 * beside the program, or by our own code (blosc.ts says why). Loading this file sets it up for the process.
 */
import { promisify } from 'node:util';
import { gunzip, inflate, zstdDecompress } from 'node:zlib';

import { registry } from 'zarrita';

import { sizeOfBlosc, unpackBlosc } from './blosc.ts';
import { unpackLz4 } from './lz4.ts';

/** What a codec is made with. */
interface ChunkFacts {
  dataType: string;
  shape: number[];
}

interface Codec {
  kind: 'bytes_to_bytes';
  encode(bytes: Uint8Array): never;
  decode(bytes: Uint8Array): Promise<Uint8Array>;
}

const MOST_TEXT_BYTES = 16 * 2 ** 20;
/** What other codecs may add around a chunk. */
const MORE_BYTES = 65_536;

/** Of one value; undefined for texts and whatever else has no fixed size. */
export function bytesPerValue(dataType: string): number | undefined {
  if (dataType === 'bool') return 1;
  const [, bits] = /^(?:u?int|float)(8|16|32|64)$/.exec(dataType) ?? [];
  return bits === undefined ? undefined : Number(bits) / 8;
}

function mostBytes({ dataType, shape }: ChunkFacts): number {
  const each = bytesPerValue(dataType);
  return each === undefined ? MOST_TEXT_BYTES : shape.reduce((product, size) => product * size, each) + MORE_BYTES;
}

const refuseToEncode = (): never => {
  throw new Error('Arrays are read, never written');
};

const codec = (decode: (bytes: Uint8Array, most: number) => Promise<Uint8Array>) => () =>
  Promise.resolve({
    kind: 'bytes_to_bytes' as const,
    fromConfig: (_: unknown, facts: ChunkFacts): Codec => ({
      kind: 'bytes_to_bytes',
      encode: refuseToEncode,
      decode: (bytes) => decode(bytes, mostBytes(facts)),
    }),
  });

type Unpack = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;

/** Some codecs of zarrita read a buffer from its beginning, wherever the bytes lie in it. */
const fromBeginning = (bytes: Uint8Array) => (bytes.byteOffset === 0 ? bytes : new Uint8Array(bytes));

const ofNode = (unpack: Parameters<typeof promisify>[0]) =>
  codec(async (bytes, most) => fromBeginning(await (promisify(unpack) as Unpack)(bytes, { maxOutputLength: most })));

const TOO_LARGE = 'it unpacks to more than its chunk holds';

/** Packings that say in front how much they unpack to. */
const ofOurs = (sizeOf: (bytes: Uint8Array) => number, unpack: (bytes: Uint8Array) => Uint8Array) =>
  codec((bytes, most) => {
    if (sizeOf(bytes) > most) throw new Error(TOO_LARGE);
    return Promise.resolve(unpack(bytes));
  });

function sizeOfLz4(bytes: Uint8Array): number {
  if (bytes.length < 4) throw new Error('is cut off');
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(0, true);
}

function unpackSized(bytes: Uint8Array): Uint8Array {
  const result = new Uint8Array(sizeOfLz4(bytes));
  unpackLz4(bytes.subarray(4), result);
  return result;
}

/** Texts, each with its length in front. zarrita's own copies every text, and trusts the lengths. */
function decodeTexts(bytes: Uint8Array, count: number): string[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < 4) throw new Error('is cut off');
  if (buffer.readUInt32LE(0) !== count) throw new Error('holds another number of texts than its chunk');
  const texts = new Array<string>(count);
  for (let index = 0, at = 4; index < count; index++) {
    if (at + 4 > buffer.length) throw new Error('is cut off');
    const end = at + 4 + buffer.readUInt32LE(at);
    if (end > buffer.length) throw new Error('is cut off');
    texts[index] = buffer.toString('utf8', at + 4, end);
    at = end;
  }
  return texts;
}

const stridesOf = (shape: number[]) =>
  shape.map((_, axis) => shape.slice(axis + 1).reduce((product, size) => product * size, 1));

const texts = () =>
  Promise.resolve({
    kind: 'array_to_bytes' as const,
    fromConfig: (_: unknown, { shape }: ChunkFacts) => ({
      kind: 'array_to_bytes' as const,
      encode: refuseToEncode,
      decode: (bytes: Uint8Array) => {
        const data = decodeTexts(
          bytes,
          shape.reduce((product, size) => product * size, 1),
        );
        // as the library's own codec of texts does; where its types are read strictly, they know arrays of numbers only
        return { data, shape, stride: stridesOf(shape) } as never;
      },
    }),
  });

const CODECS = {
  gzip: ofNode(gunzip),
  zlib: ofNode(inflate),
  zstd: ofNode(zstdDecompress),
  blosc: ofOurs(sizeOfBlosc, unpackBlosc),
  lz4: ofOurs(sizeOfLz4, unpackSized),
};

for (const key of ['vlen-utf8', 'numcodecs.vlen-utf8']) registry.set(key, texts);
for (const [name, load] of Object.entries(CODECS)) {
  for (const key of [name, `numcodecs.${name}`]) registry.set(key, load);
}
