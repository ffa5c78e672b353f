/**
 * A colour for each object of a label image, by the value of a feature. Painters look it up by the number of the object.
 *
 *     paletteOf([1, 2, 7], [80, 120, NaN], legend)   // object 7 has no value, and keeps the colour of all
 */
import type { Colour } from '@service/contract/ome';

import { colourOf, type Legend } from './colour-map.ts';
import type { LabelTile } from './facts.ts';
import { readHex } from './settings.ts';

type Numbers = Iterable<number> & ArrayLike<number>;

/** As a tile whose numbers are colours: a graphics card takes it like any other. Four bytes: red, green, blue, known. */
export type Palette = LabelTile;

const PALETTE_WIDTH = 1024;
/** Objects with higher numbers have the colour of all: a palette takes 16 MiB at most. */
const MOST_LABELS = 4096 * PALETTE_WIDTH;
const KNOWN = 255;

export function paletteOf(labels: Numbers, values: Numbers, legend: Legend): Palette {
  let most = 0;
  for (const label of labels) if (label < MOST_LABELS && label > most) most = label;
  const height = Math.floor(most / PALETTE_WIDTH) + 1;
  const bytes = new Uint8Array(PALETTE_WIDTH * height * 4);
  for (let row = 0; row < labels.length; row++) {
    const [label, value] = [labels[row]!, values[row]!];
    if (!Number.isInteger(label) || label <= 0 || label > most || Number.isNaN(value)) continue;
    bytes.set([...readHex(colourOf(legend, value).slice(1))!, KNOWN], label * 4);
  }
  return { width: PALETTE_WIDTH, height, labels: new Uint32Array(bytes.buffer) };
}

/** Undefined for an object without a value. */
export function colourIn({ labels }: Palette, label: number): Colour | undefined {
  const packed = labels[label] ?? 0;
  return packed >>> 24 === 0 ? undefined : [packed & 255, (packed >>> 8) & 255, (packed >>> 16) & 255];
}

/** Lines are a little lighter than the colour of the value, so that dark ones show on a dark picture. */
export const LIGHTER = 0.25;
export const lineColour = (colour: Colour): Colour =>
  colour.map((part) => Math.round(part + (255 - part) * LIGHTER)) as unknown as Colour;
