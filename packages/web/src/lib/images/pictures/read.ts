/**
 * Reads a small picture of an OME-Zarr image (Zarr 2 and 3) through the image data service: one plane, of the smallest
 * level of the pyramid that is large enough. Read in a worker (worker.ts).
 */
import { channelsOf, type Level, readLabels, readOme } from '@service/contract/ome';
import { get, isZarritaError } from 'zarrita';

import { type OpenArray, openArray, openGroup, type OpenGroup, openPart } from '../../pixels/read/store.ts';
import type { LabelPlane, Pixels, Plane } from './composite.ts';

export interface PictureData {
  width: number;
  height: number;
  planes: Plane[];
  /** Of the whole image, and of this picture. */
  pixelSize: { full: number; here: number; unit: string } | undefined;
}

export interface Labels extends LabelPlane {
  name: string;
}

/** More pixels than this are never read for a picture. */
const MOST_PIXELS = 4_000_000;
const MOST_CHANNELS = 8;

/** From the smallest on: the first that is `wide` pixels across, or the last before there are too many of them. */
async function chooseLevel(group: OpenGroup, levels: Level[], wide: number, signal: AbortSignal) {
  let chosen: { level: Level; array: OpenArray } | undefined;
  for (const level of [...levels].reverse()) {
    const array = await openArray(group, level.path, signal);
    const [height = 0, width = 0] = array.shape.slice(-2);
    if (chosen && width * height > MOST_PIXELS) break;
    chosen = { level, array };
    if (Math.min(width, height) >= wide) break;
  }
  return chosen!;
}

const isFlat = (axis: string) => axis !== 'y' && axis !== 'x';

/** The middle of a stack, the first of all else. */
const indexOn = (axis: string, size: number, channel: number): number =>
  axis === 'c' ? channel : axis === 'z' ? Math.floor(size / 2) : 0;

async function readPlane(array: OpenArray, axes: string[], channel: number, signal: AbortSignal) {
  const place = axes.map((axis, at) => (isFlat(axis) ? indexOn(axis, array.shape[at]!, channel) : null));
  const { data } = (await get(array, place, { signal })) as { data: Pixels & { get?: (at: number) => boolean } };
  // packed flags are no list of numbers
  if (typeof data.get === 'function' && !ArrayBuffer.isView(data))
    return Array.from({ length: data.length }, (_, at) => Number(data.get!(at)));
  return data;
}

const NO_IMAGE = 'There is no OME-Zarr image here.';

export async function readPicture(address: string, wide: number, signal: AbortSignal): Promise<PictureData> {
  const group = await openGroup(address, signal);
  const image = readOme(group.attrs);
  if (!image) throw new Error(NO_IMAGE);
  const { axes, levels, unit } = image;
  const { level, array } = await chooseLevel(group, levels, wide, signal);
  if (array.shape.length !== axes.length) throw new Error(NO_IMAGE);
  const [height, width] = array.shape.slice(-2) as [number, number];
  if (width * height > MOST_PIXELS * 4) throw new Error('The image has no small level to show.');
  const count = Math.min(array.shape[axes.indexOf('c')] ?? 1, MOST_CHANNELS);
  const channels = channelsOf(image.channels, count);
  const planes = await Promise.all(
    channels.map(async (channel, at) => ({ channel, pixels: await readPlane(array, axes, at, signal) })),
  );
  const [full, here] = [levels[0]?.scale?.at(-1), level.scale?.at(-1)];
  const pixelSize = full !== undefined && here !== undefined && unit !== undefined ? { full, here, unit } : undefined;
  return { width, height, planes, pixelSize };
}

/** The first label image, at the level that is nearest in size; undefined where there is none. */
export async function readLabelsOf(address: string, wide: number, signal: AbortSignal): Promise<Labels | undefined> {
  try {
    // the image was read before: its labels are of its version
    const list = await openPart(address, 'labels', signal);
    const [name] = readLabels(list.attrs);
    if (name === undefined) return undefined;
    const group = await openPart(address, `labels/${encodeURIComponent(name)}`, signal);
    const image = readOme(group.attrs);
    if (!image) return undefined;
    const { array } = await chooseLevel(group, image.levels, wide, signal);
    const [height, width] = array.shape.slice(-2) as [number, number];
    return { name, width, height, pixels: await readPlane(array, image.axes, 0, signal) };
  } catch (error) {
    if (isZarritaError(error)) return undefined;
    throw error;
  }
}
