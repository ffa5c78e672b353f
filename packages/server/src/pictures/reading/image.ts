/**
 * An OME-Zarr image: what its metadata says, and its levels, opened when they are needed. Everything that files say is
 * checked before anything is read or made room for.
 */
import { open, root } from 'zarrita';

import { type Level, type OmeImage, readOme } from '@service/contract/ome';
import { plural } from '@service/contract/plural';

import { type Numbers, problemWith } from '../../zarr/arrays.ts';
import { readAttributes } from '../../zarr/attributes.ts';
import { bytesPerValue } from '../../zarr/codecs.ts';
import { folderStore, type Reading } from '../../zarr/store.ts';
import { missing, unreadable } from '../../zarr/unreadable.ts';

export interface OpenLevel {
  array: Numbers;
  path: string;
  axes: readonly string[];
  width: number;
  height: number;
  channels: number;
  planes: number;
  times: number;
  /** The size of a pixel; undefined where the metadata does not say. */
  pixel: { x: number; y: number } | undefined;
}

export interface OpenImage extends OmeImage {
  path: string;
  /** The largest level is 0. */
  level(index: number): Promise<OpenLevel>;
}

const LARGEST_SIDE = 2 ** 31;
const LARGEST_CHUNK_BYTES = 128 * 2 ** 20;
const MOST_LEVELS = 32;
const KNOWN_AXES = 'tczyx';

/** `t`, `c` and `z` may be missing, and nothing else may be there. */
function areKnown(axes: readonly string[]): boolean {
  const ranks = axes.map((axis) => KNOWN_AXES.indexOf(axis));
  return ranks.every((rank, at) => rank >= 0 && (at === 0 || rank > ranks[at - 1]!));
}

const isSize = (size: unknown) => Number.isSafeInteger(size) && (size as number) > 0 && (size as number) < LARGEST_SIDE;

function checkArray(path: string, array: Numbers): void {
  const { shape, chunks, dtype } = array;
  if (!shape.every(isSize)) throw unreadable(`${path} is damaged: its shape is no list of sizes.`);
  if (chunks.length !== shape.length || !chunks.every(isSize)) {
    throw unreadable(`${path} is damaged: its chunks do not fit to its shape.`);
  }
  const each = bytesPerValue(dtype);
  if (each === undefined) throw unreadable(`${path} holds values of the type ${dtype}, which is no kind of pixel.`);
  if (chunks.reduce((product, size) => product * size, each) > LARGEST_CHUNK_BYTES) {
    throw unreadable(`${path} has chunks that are too large for a picture: more than 128 MiB each.`);
  }
}

async function openArray(folder: string, level: string, version: 2 | 3, reading: Reading): Promise<Numbers> {
  const path = `${folder}/${level}`;
  try {
    const location = root(folderStore(folder, reading)).resolve(level);
    const opening =
      version === 2 ? open.v2(location, { kind: 'array', attrs: false }) : open.v3(location, { kind: 'array' });
    const array = await opening;
    checkArray(path, array);
    return array;
  } catch (error) {
    throw problemWith(path, error);
  }
}

function levelOf(array: Numbers, { path, scale }: Level, axes: readonly string[], folder: string): OpenLevel {
  const { shape } = array;
  if (shape.length !== axes.length) {
    throw unreadable(
      `${folder}/${path} is damaged: it has ${shape.length} ${plural(shape.length, 'axis', 'axes')}, and the image names ${axes.length}.`,
    );
  }
  const along = (axis: string) => (axes.includes(axis) ? shape[axes.indexOf(axis)]! : 1);
  const [y, x] = [scale?.at(-2), scale?.at(-1)];
  return {
    array,
    path: `${folder}/${path}`,
    axes,
    width: along('x'),
    height: along('y'),
    channels: along('c'),
    planes: along('z'),
    times: along('t'),
    pixel: x !== undefined && y !== undefined && x > 0 && y > 0 ? { x, y } : undefined,
  };
}

export async function openImage(folder: string, reading: Reading): Promise<OpenImage> {
  const attributes = await readAttributes(folder, reading);
  if (!attributes) {
    throw missing(`There is no OME-Zarr image at ${folder}, or it is on a file system that this service does not see.`);
  }
  const image = readOme(attributes.values);
  if (!image)
    throw unreadable(`${folder} is no OME-Zarr image: its metadata has no multiscales, or axes without y and x.`);
  if (!areKnown(image.axes)) {
    throw unreadable(
      `${folder} has the axes ${image.axes.join(', ').slice(0, 100)}. Pictures are made of t, c, z, y and x.`,
    );
  }
  if (image.levels.length > MOST_LEVELS)
    throw unreadable(`${folder} is damaged: it has ${image.levels.length} levels.`);
  const opened = new Map<number, Promise<OpenLevel>>();
  const openLevel = async (level: Level) =>
    levelOf(await openArray(folder, level.path, attributes.version, reading), level, image.axes, folder);
  return {
    ...image,
    path: folder,
    level(index) {
      const before = opened.get(index);
      if (before) return before;
      const opening = openLevel(image.levels[index]!);
      opened.set(index, opening);
      return opening;
    },
  };
}

/** The smallest level that has as many pixels as are wanted, or the largest one. */
export async function levelFor(image: OpenImage, wanted: { width: number; height: number }): Promise<OpenLevel> {
  for (let index = image.levels.length - 1; ; index--) {
    const level = await image.level(index);
    if (index === 0 || (level.width >= wanted.width && level.height >= wanted.height)) return level;
  }
}
