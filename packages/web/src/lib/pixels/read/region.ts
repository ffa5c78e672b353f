/** One tile of a level, put together from its chunks. Chunks are kept for a while: several tiles may lie in one. */
import { type ChunkOfArray, chunksWithin, countChunks, type Span, takeChunk } from '@service/contract/ome';

import type { LabelTile, Pixels, Tile, TilePlace } from '../facts.ts';
import { along, type OpenLevel } from './image.ts';
import { problemOf, ReadProblem } from './problem.ts';

const KEPT_BYTES = 192 * 2 ** 20;
const MOST_CHUNKS = 4096;

interface KeptChunk {
  chunk: Promise<ChunkOfArray>;
  bytes: number;
}

const kept = new Map<string, KeptChunk>();
let keptBytes = 0;

function forget(key: string): void {
  keptBytes -= kept.get(key)?.bytes ?? 0;
  kept.delete(key);
}

const names = new WeakMap<object, number>();
let count = 0;

/** Arrays of one path may be of different images, and of one image that was written again. */
function nameOf(array: object): number {
  const name = names.get(array) ?? ++count;
  names.set(array, name);
  return name;
}

const VALUE_BYTES = /(8|16|32|64)$/;

function chunkAt({ array }: OpenLevel, coords: number[]): Promise<ChunkOfArray> {
  const key = `${nameOf(array)}/${coords.join('/')}`;
  const before = kept.get(key);
  if (before) {
    // the oldest are the first
    kept.delete(key);
    kept.set(key, before);
    return before.chunk;
  }
  const values = array.chunks.reduce((product, size) => product * size, 1);
  const bytes = (values * Number(VALUE_BYTES.exec(array.dtype)?.[1] ?? 64)) / 8;
  const chunk = array.getChunk(coords) as Promise<ChunkOfArray>;
  kept.set(key, { chunk, bytes });
  keptBytes += bytes;
  for (const oldest of kept.keys()) {
    if (keptBytes <= KEPT_BYTES || oldest === key) break;
    forget(oldest);
  }
  chunk.catch(() => forget(key));
  return chunk;
}

function spansOf(level: OpenLevel, { channel, z, t, row, column }: TilePlace): Span[] {
  const { width, height, tileWidth, tileHeight } = level.facts;
  const one = (index: number, axis: string): Span => {
    const at = Math.min(index, along(level, axis) - 1);
    return [at, at + 1];
  };
  return level.axes.map((axis) => {
    if (axis === 'x') return [column * tileWidth, Math.min((column + 1) * tileWidth, width)];
    if (axis === 'y') return [row * tileHeight, Math.min((row + 1) * tileHeight, height)];
    if (axis === 'c') return one(channel, 'c');
    if (axis === 't') return one(t, 't');
    return z === 'max' ? [0, along(level, 'z')] : one(z, 'z');
  });
}

const sizeOf = (spans: readonly Span[]) => {
  const [[top, bottom], [left, right]] = spans.slice(-2) as [Span, Span];
  return { width: right - left, height: bottom - top };
};

async function fill(level: OpenLevel, spans: Span[], to: Pixels | Uint32Array, signal: AbortSignal): Promise<void> {
  if (countChunks(spans, level.array.chunks) > MOST_CHUNKS)
    throw new ReadProblem('unreadable', `Level ${level.path} has too many small chunks to be shown.`);
  const length = level.array.chunks.reduce((product, size) => product * size, 1);
  await Promise.all(
    chunksWithin(spans, level.array.chunks).map(async (coords) => {
      try {
        signal.throwIfAborted();
        const chunk = await chunkAt(level, coords);
        if (chunk.data.length !== length)
          throw new Error(`it holds ${chunk.data.length} values and should hold ${length}`);
        takeChunk(chunk, coords, spans, to);
      } catch (error) {
        signal.throwIfAborted();
        throw problemOf(error, `Chunk ${coords.join('/')} of level ${level.path}`);
      }
    }),
  );
}

/** Whole numbers of 8 and 16 bits stay as they are; nothing else fits without loss in less than a floating-point number. */
function roomFor(dtype: string, length: number): Pixels {
  if (dtype === 'uint8' || dtype === 'bool') return new Uint8Array(length);
  return dtype === 'uint16' ? new Uint16Array(length) : new Float32Array(length).fill(NaN);
}

export async function readTile(level: OpenLevel, place: TilePlace, signal: AbortSignal): Promise<Tile> {
  const spans = spansOf(level, place);
  const { width, height } = sizeOf(spans);
  const pixels = roomFor(level.array.dtype, width * height);
  await fill(level, spans, pixels, signal);
  return { width, height, pixels };
}

export async function readLabelTile(level: OpenLevel, place: TilePlace, signal: AbortSignal): Promise<LabelTile> {
  const spans = spansOf(level, place);
  const { width, height } = sizeOf(spans);
  const labels = new Uint32Array(width * height);
  await fill(level, spans, labels, signal);
  return { width, height, labels };
}
