/** One plane of an image, or the brightest of all planes, or a part of it: chunk by chunk, as numbers. */
import { chunksWithin, type ChunkOfArray, countChunks, type Span, takeChunk } from '@service/contract/ome';

import type { Rectangle } from '../drawing/resample.ts';
import { eachAtOnce } from '../../zarr/each-at-once.ts';
import { problemWith } from '../../zarr/arrays.ts';
import type { OpenLevel } from './image.ts';
import { unreadable } from '../../zarr/unreadable.ts';

const MOST_PIXELS = 36_000_000;
const MOST_CHUNKS = 20_000;
const CHUNKS_AT_ONCE = 8;

export interface Choice {
  channel: number;
  /** Of the planes: one, or the brightest of all. Undefined: the middle. */
  z: number | 'max' | undefined;
  t: number;
}

function onlyOne(level: OpenLevel, name: string, count: number, index: number): Span {
  if (index < count) return [index, index + 1];
  throw unreadable(`${level.path} has ${count} ${name}, counted from 0. There is no number ${index}.`);
}

function spanAlong(axis: string, level: OpenLevel, choice: Choice, window: Rectangle): Span {
  switch (axis) {
    case 'y':
      return [window.top, window.top + window.height];
    case 'x':
      return [window.left, window.left + window.width];
    case 'c':
      return onlyOne(level, 'channels', level.channels, choice.channel);
    case 't':
      return onlyOne(level, 'times', level.times, choice.t);
    default:
      if (choice.z === 'max') return [0, level.planes];
      return onlyOne(level, 'planes', level.planes, choice.z ?? Math.floor(level.planes / 2));
  }
}

export const wholeOf = ({ width, height }: OpenLevel): Rectangle => ({ left: 0, top: 0, width, height });

async function readInto<T extends Float32Array | Float64Array>(
  to: T,
  level: OpenLevel,
  choice: Choice,
  window: Rectangle,
  signal: AbortSignal,
): Promise<T> {
  const { array, axes, path } = level;
  const spans = axes.map((axis) => spanAlong(axis, level, choice, window));
  if (countChunks(spans, array.chunks) > MOST_CHUNKS) {
    throw unreadable(`${path} has too many chunks for a picture: more than ${MOST_CHUNKS}.`);
  }
  const length = array.chunks.reduce((product, size) => product * size, 1);
  await eachAtOnce(chunksWithin(spans, array.chunks), CHUNKS_AT_ONCE, async (coords) => {
    signal.throwIfAborted();
    const name = `${path}, chunk ${coords.join('/')},`;
    try {
      const chunk = (await array.getChunk(coords)) as ChunkOfArray;
      if (chunk.data.length !== length) {
        throw unreadable(`${name} is damaged: it holds ${chunk.data.length} values and should hold ${length}.`);
      }
      takeChunk(chunk, coords, spans, to);
    } catch (error) {
      throw problemWith(name, error);
    }
  });
  return to;
}

/** Refuses what would take too much memory, before it takes any. */
function checkSize({ path }: OpenLevel, { width, height }: Rectangle): number {
  if (width * height <= MOST_PIXELS) return width * height;
  throw unreadable(
    `${path} has ${width} x ${height} pixels and no smaller level for a picture. Write the image with more levels.`,
  );
}

export const readPlane = (level: OpenLevel, choice: Choice, window: Rectangle, signal: AbortSignal) =>
  readInto(new Float32Array(checkSize(level, window)).fill(NaN), level, choice, window, signal);

/** Labels are numbers that must stay as they are. A flat label image lies on every plane of a stack, and at every time. */
export const readLabelPlane = (
  level: OpenLevel,
  { z, t }: Omit<Choice, 'channel'>,
  window: Rectangle,
  signal: AbortSignal,
) =>
  readInto(
    new Float64Array(checkSize(level, window)).fill(NaN),
    level,
    { channel: 0, z: typeof z === 'number' && level.planes === 1 ? 0 : z, t: level.times === 1 ? 0 : t },
    window,
    signal,
  );
