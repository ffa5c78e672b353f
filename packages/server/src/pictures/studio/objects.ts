/**
 * Where an object of a label image lies: a square around it, in pixels of the image. It is found at a small level first, where
 * all objects are seen at once, and squares come in a few sizes, so that objects beside each other can be compared.
 */
import type { Rectangle } from '../drawing/resample.ts';
import { levelFor, openImage, type OpenImage, type OpenLevel } from '../reading/image.ts';
import { readLabelPlane, wholeOf } from '../reading/plane.ts';
import type { Reading } from '../../zarr/store.ts';
import { unreadable } from '../../zarr/unreadable.ts';
import { checkLabelName } from './labels.ts';

export interface Size {
  width: number;
  height: number;
}

interface Asked {
  path: string;
  labels: string | undefined;
  object: number | undefined;
  square: number | undefined;
  z: number | 'max' | undefined;
  t: number;
}

interface Bounds {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Of a level that shows all objects of an image, mostly. */
const SEEN = { width: 1024, height: 1024 };
/** Of the object that a square is made for: this part lies around it. */
const AROUND = 2;
/** And of one that is larger than others. */
const LEAST_AROUND = 1.2;
const USUAL_SHARE = 0.9;
const SMALLEST = 16;

/** The border of each object, in pixels of the level. */
function boundsOf(labels: Float64Array, width: number): Map<number, Bounds> {
  const found = new Map<number, Bounds>();
  for (let at = 0; at < labels.length; at++) {
    const label = labels[at]!;
    if (!(label > 0)) continue;
    const [x, y] = [at % width, Math.floor(at / width)];
    const bounds = found.get(label);
    if (!bounds) found.set(label, { left: x, right: x, top: y, bottom: y });
    else {
      if (x < bounds.left) bounds.left = x;
      if (x > bounds.right) bounds.right = x;
      bounds.bottom = y;
    }
  }
  return found;
}

const sideOf = ({ left, right, top, bottom }: Bounds) => Math.max(right - left, bottom - top) + 1;

/** What most objects need: 16, 24, 32, 48, 64, 96 and so on. */
function usualSide(objects: Map<number, Bounds>, scale: number): number {
  const sides = [...objects.values()].map(sideOf).sort((one, other) => one - other);
  const wanted = sides[Math.floor((sides.length - 1) * USUAL_SHARE)]! * scale * AROUND;
  let side = SMALLEST;
  while (side < wanted) side = Number.isInteger(Math.log2(side)) ? side * 1.5 : (side * 4) / 3;
  return side;
}

async function objectsAt(level: OpenLevel, { z, t }: Asked, reading: Reading): Promise<Map<number, Bounds>> {
  // a plane that is not named need not cut an object
  const labels = await readLabelPlane(level, { z: z ?? 'max', t }, wholeOf(level), reading.signal);
  return boundsOf(labels, level.width);
}

/** Inside the image, as far as it is large enough. */
function within(middle: number, side: number, length: number): { from: number; size: number } {
  const size = Math.min(side, length);
  return { from: Math.round(Math.min(Math.max(0, middle - size / 2), length - size)), size };
}

export interface Found {
  /** The square around it. */
  region: Rectangle;
  /** The object alone. */
  own: Rectangle;
}

export async function findObject(image: OpenImage, asked: Asked, reading: Reading): Promise<Found> {
  checkLabelName(asked.labels!);
  const labels = await openImage(`${asked.path}/labels/${asked.labels}`, reading);
  const coarse = await levelFor(labels, SEEN);
  const full = await labels.level(0);
  let [level, objects] = [coarse, await objectsAt(coarse, asked, reading)];
  // the smallest objects may be gone there
  if (!objects.has(asked.object!) && coarse !== full) [level, objects] = [full, await objectsAt(full, asked, reading)];
  const own = objects.get(asked.object!);
  if (!own) throw unreadable(`The label image ${asked.labels} of ${asked.path} has no object ${asked.object}.`);
  const { width, height } = await image.level(0);
  const [across, down] = [width / level.width, height / level.height];
  const scale = Math.max(across, down);
  const side = Math.max(asked.square ?? usualSide(objects, scale), Math.ceil(sideOf(own) * scale * LEAST_AROUND));
  const x = within(((own.left + own.right + 1) / 2) * across, side, width);
  const y = within(((own.top + own.bottom + 1) / 2) * down, side, height);
  return {
    region: { left: x.from, top: y.from, width: x.size, height: y.size },
    own: {
      left: Math.round(own.left * across),
      top: Math.round(own.top * down),
      width: Math.round((own.right - own.left + 1) * across),
      height: Math.round((own.bottom - own.top + 1) * down),
    },
  };
}
