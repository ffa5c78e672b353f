/**
 * Reads a small picture of an OME-Zarr image (Zarr 2 and 3) through the image data service: one plane, of the smallest
 * level of the pyramid that is large enough. The library for it is loaded with the first picture.
 */
import type * as Zarrita from 'zarrita';
import type { Array as ZarrArray, DataType, FetchStore, Group } from 'zarrita';

import type { LabelPlane, Pixels, Plane } from './composite.ts';
import { channelsOf, type Level, readLabels, readOme } from './ome.ts';

type Zarr = typeof Zarrita;
type Opened = ZarrArray<DataType, FetchStore>;

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

/** The data service knows people by their session; one that is open to all may refuse to hear of it. */
let credentials: RequestCredentials = 'include';

async function fetchPart(request: Request): Promise<Response> {
  try {
    return await fetch(new Request(request, { credentials }));
  } catch (error) {
    if (credentials === 'omit' || request.signal.aborted) throw error;
    const response = await fetch(new Request(request, { credentials: 'omit' }));
    credentials = 'omit';
    return response;
  }
}

/** Images of a dataset are mostly of one version: the one that was found last is tried first. */
let version: 2 | 3 = 2;

function openGroupAs(zarr: Zarr, address: string, one: 2 | 3, signal: AbortSignal): Promise<Group<FetchStore>> {
  const store = new zarr.FetchStore(address, { fetch: fetchPart });
  const options = { kind: 'group', signal } as const;
  return one === 2 ? zarr.open.v2(store, options) : zarr.open.v3(store, options);
}

async function openGroup(zarr: Zarr, address: string, signal: AbortSignal): Promise<Group<FetchStore>> {
  try {
    return await openGroupAs(zarr, address, version, signal);
  } catch (error) {
    if (!zarr.isZarritaError(error)) throw error;
    const other = version === 2 ? 3 : 2;
    const group = await openGroupAs(zarr, address, other, signal);
    version = other;
    return group;
  }
}

/** The store knows by its group which version it is. */
const openLevel = (zarr: Zarr, group: Group<FetchStore>, { path }: Level, signal: AbortSignal): Promise<Opened> =>
  zarr.open(group.resolve(path), { kind: 'array', attrs: false, signal });

/** From the smallest on: the first that is `wide` pixels across, or the last before there are too many of them. */
async function chooseLevel(zarr: Zarr, group: Group<FetchStore>, levels: Level[], wide: number, signal: AbortSignal) {
  let chosen: { level: Level; array: Opened } | undefined;
  for (const level of [...levels].reverse()) {
    const array = await openLevel(zarr, group, level, signal);
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

async function readPlane(zarr: Zarr, array: Opened, axes: string[], channel: number, signal: AbortSignal) {
  const place = axes.map((axis, at) => (isFlat(axis) ? indexOn(axis, array.shape[at]!, channel) : null));
  const { data } = (await zarr.get(array, place, { signal })) as { data: Pixels & { get?: (at: number) => boolean } };
  // packed flags are no list of numbers
  if (typeof data.get === 'function' && !ArrayBuffer.isView(data))
    return Array.from({ length: data.length }, (_, at) => Number(data.get!(at)));
  return data;
}

const NO_IMAGE = 'There is no OME-Zarr image here.';

export async function readPicture(address: string, wide: number, signal: AbortSignal): Promise<PictureData> {
  const zarr = await import('zarrita');
  const group = await openGroup(zarr, address, signal);
  const image = readOme(group.attrs);
  if (!image) throw new Error(NO_IMAGE);
  const { axes, levels, unit } = image;
  const { level, array } = await chooseLevel(zarr, group, levels, wide, signal);
  if (array.shape.length !== axes.length) throw new Error(NO_IMAGE);
  const [height, width] = array.shape.slice(-2) as [number, number];
  if (width * height > MOST_PIXELS * 4) throw new Error('The image has no small level to show.');
  const count = Math.min(array.shape[axes.indexOf('c')] ?? 1, MOST_CHANNELS);
  const channels = channelsOf(image.channels, count);
  const planes = await Promise.all(
    channels.map(async (channel, at) => ({ channel, pixels: await readPlane(zarr, array, axes, at, signal) })),
  );
  const [full, here] = [levels[0]?.scale?.at(-1), level.scale?.at(-1)];
  const pixelSize = full !== undefined && here !== undefined && unit !== undefined ? { full, here, unit } : undefined;
  return { width, height, planes, pixelSize };
}

/** The first label image, at the level that is nearest in size; undefined where there is none. */
export async function readLabelsOf(address: string, wide: number, signal: AbortSignal): Promise<Labels | undefined> {
  const zarr = await import('zarrita');
  try {
    // the image was read before: its labels are of its version
    const list = await openGroupAs(zarr, `${address}/labels`, version, signal);
    const [name] = readLabels(list.attrs);
    if (name === undefined) return undefined;
    const group = await openGroupAs(zarr, `${address}/labels/${encodeURIComponent(name)}`, version, signal);
    const image = readOme(group.attrs);
    if (!image) return undefined;
    const { array } = await chooseLevel(zarr, group, image.levels, wide, signal);
    const [height, width] = array.shape.slice(-2) as [number, number];
    return { name, width, height, pixels: await readPlane(zarr, array, image.axes, 0, signal) };
  } catch (error) {
    if (zarr.isZarritaError(error)) return undefined;
    throw error;
  }
}
