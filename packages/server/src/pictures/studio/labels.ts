/** The label images of an image: which there are, and one of them at the size of a picture, as numbers of objects. */
import { readLabels } from '@service/contract/ome';

import { neededFor, type Rectangle, resampleLabels } from '../drawing/resample.ts';
import { readAttributes } from '../../zarr/attributes.ts';
import { isName } from '../../zarr/names.ts';
import { levelFor, openImage } from '../reading/image.ts';
import { readLabelPlane } from '../reading/plane.ts';
import type { Reading } from '../../zarr/store.ts';
import { unreadable, Unreadable } from '../../zarr/unreadable.ts';

/** Refuses a name that leads elsewhere. */
export function checkLabelName(name: string): void {
  if (name.includes('/') || name === '.' || name === '..')
    throw unreadable(`"${name}" is no name of a label image: it has a slash or dots only.`);
}

/** More would help nobody to choose. */
export const MOST_LABELS = 200;

export async function labelNames(path: string, reading: Reading): Promise<string[]> {
  try {
    const names = readLabels((await readAttributes(`${path}/labels`, reading))?.values);
    return names.filter(isName).slice(0, MOST_LABELS);
  } catch (error) {
    if (error instanceof Unreadable) return [];
    throw error;
  }
}

export interface LabelView {
  labels: string;
  z: number | 'max' | undefined;
  t: number;
}

/** Of an image that is drawn at `size`, the part `drawn`. */
export async function drawnLabels(
  path: string,
  { labels, z, t }: LabelView,
  size: { width: number; height: number },
  drawn: Rectangle,
  reading: Reading,
): Promise<Float64Array> {
  const level = await levelFor(await openImage(`${path}/labels/${labels}`, reading), size);
  const whole = { width: level.width, height: level.height, drawnWidth: size.width, drawnHeight: size.height };
  const window = neededFor(whole, drawn);
  const plane = await readLabelPlane(level, { z, t }, window, reading.signal);
  return resampleLabels({ labels: plane, ...window }, whole, drawn);
}

const MOST_NUMBERS = 2 ** 24 - 1;

/** Numbers as red, green and blue, the smallest part first; see-through where there is no object. */
export function bytesOfNumbers(labels: Float64Array): Uint8Array {
  const bytes = new Uint8Array(labels.length * 4);
  for (const [at, label] of labels.entries()) {
    if (!(label > 0)) continue;
    const number = ((label - 1) % MOST_NUMBERS) + 1;
    bytes.set([number & 255, (number >> 8) & 255, number >> 16, 255], at * 4);
  }
  return bytes;
}
