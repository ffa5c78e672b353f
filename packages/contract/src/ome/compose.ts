/** Channels laid over each other in their colours, as light adds up, and outlines of objects over them. */
import { lightOf, type Limits } from './contrast.ts';
import type { Colour } from './image.ts';

/** A picture that channels are added to, one after the other. Where nothing is drawn it is see-through. */
export interface Light {
  sums: Float32Array;
  drawn: Uint8Array;
}

export const darkness = (length: number): Light => ({
  sums: new Float32Array(length * 3),
  drawn: new Uint8Array(length),
});

/** Pixels that are not there are no numbers. */
export function addChannel({ sums, drawn }: Light, pixels: ArrayLike<number>, colour: Colour, limits: Limits): void {
  for (let at = 0; at < drawn.length; at++) {
    const value = pixels[at]!;
    if (Number.isNaN(value)) continue;
    drawn[at] = 255;
    const light = lightOf(value, limits);
    if (light === 0) continue;
    for (let part = 0; part < 3; part++) sums[at * 3 + part]! += colour[part]! * light;
  }
}

/** Red, green, blue and cover. */
export function bytesOfLight({ sums, drawn }: Light): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(drawn.length * 4);
  for (let at = 0; at < drawn.length; at++) {
    for (let part = 0; part < 3; part++) bytes[at * 4 + part] = Math.min(255, Math.round(sums[at * 3 + part]!));
    bytes[at * 4 + 3] = drawn[at]!;
  }
  return bytes;
}

/** Where objects end: pixels of an object beside another one, or beside none. */
export function* outline(labels: ArrayLike<number>, width: number): Generator<number> {
  const height = labels.length / width;
  for (let at = 0; at < labels.length; at++) {
    const label = labels[at]!;
    if (label === 0) continue;
    const [x, y] = [at % width, Math.floor(at / width)];
    const ends =
      (x > 0 && labels[at - 1] !== label) ||
      (x + 1 < width && labels[at + 1] !== label) ||
      (y > 0 && labels[at - width] !== label) ||
      (y + 1 < height && labels[at + width] !== label);
    if (ends) yield at;
  }
}

/** What is drawn on pictures in every theme. */
export const ON_PICTURE: Colour = [0xe6, 0xeb, 0xee];
