/** Channels of an image, laid over each other in their colours. */
import type { Channel, Colour } from '@service/contract/ome';

/** Numbers of any kind that arrays hold. */
export type Pixels = ArrayLike<number | bigint | boolean>;

export interface Plane {
  channel: Channel;
  pixels: Pixels;
}

/** The largest values of pixels that are whole numbers: 8, 12 and 16 bits. */
const WHOLE_RANGES = [255, 4095, 65_535, 4_294_967_295];
const SAMPLES = 4096;

/** From the darkest to nearly the brightest pixel: a few hot ones would leave the rest in the dark. */
export function windowOfPixels(pixels: Pixels): readonly [number, number] {
  const step = Math.max(1, Math.floor(pixels.length / SAMPLES));
  const samples: number[] = [];
  for (let at = 0; at < pixels.length; at += step) {
    const value = Number(pixels[at]);
    if (Number.isFinite(value)) samples.push(value);
  }
  samples.sort((one, other) => one - other);
  const low = samples[Math.floor(samples.length * 0.01)] ?? 0;
  const high = samples[Math.min(samples.length - 1, Math.floor(samples.length * 0.998))] ?? 1;
  return high > low ? [low, high] : [low, low + 1];
}

/** What the metadata says, unless it only says what numbers there can be. */
export function contrastOf({ channel: { window }, pixels }: Plane): readonly [number, number] {
  const isWholeRange = window !== undefined && window[0] === 0 && WHOLE_RANGES.includes(window[1]) && window[1] > 255;
  return window === undefined || isWholeRange ? windowOfPixels(pixels) : window;
}

/** Red, green, blue and full cover for each pixel; colours add up, as light does. */
export function composite(planes: readonly Plane[], length: number): Uint8ClampedArray<ArrayBuffer> {
  const image = new Uint8ClampedArray(length * 4);
  for (let at = 3; at < image.length; at += 4) image[at] = 255;
  for (const plane of planes) {
    const [low, high] = contrastOf(plane);
    const { pixels, channel } = plane;
    const [red, green, blue] = channel.colour;
    for (let at = 0; at < length; at++) {
      const part = (Number(pixels[at]) - low) / (high - low);
      if (!(part > 0)) continue;
      const light = Math.min(part, 1);
      const to = at * 4;
      image[to] = image[to]! + red * light;
      image[to + 1] = image[to + 1]! + green * light;
      image[to + 2] = image[to + 2]! + blue * light;
    }
  }
  return image;
}

export interface LabelPlane {
  width: number;
  height: number;
  pixels: Pixels;
}

const OUTLINE: Colour = [255, 222, 120];

/** Draws where an object ends; labels of another size are taken at the nearest place. */
export function outline(image: Uint8ClampedArray, width: number, height: number, labels: LabelPlane): void {
  const at = (x: number, y: number): number =>
    Number(
      labels.pixels[Math.floor((y * labels.height) / height) * labels.width + Math.floor((x * labels.width) / width)] ??
        0,
    );
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const label = at(x, y);
      if (label === 0) continue;
      const ends =
        (x + 1 < width && at(x + 1, y) !== label) ||
        (y + 1 < height && at(x, y + 1) !== label) ||
        (x > 0 && at(x - 1, y) === 0) ||
        (y > 0 && at(x, y - 1) === 0);
      if (ends) image.set(OUTLINE, (y * width + x) * 4);
    }
  }
}

/** A length to compare with, about a third of the picture: 1, 2 or 5 and zeros. `across` is the width of the picture. */
export function barLength(across: number): number {
  const most = across * 0.4;
  const power = 10 ** Math.floor(Math.log10(most));
  return [5, 2, 1].map((part) => part * power).find((length) => length <= most) ?? power;
}
