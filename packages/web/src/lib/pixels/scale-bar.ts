/** A bar of a round length, to compare with. */
import { formatCount } from '../format.ts';
import type { Camera, Point } from './camera.ts';
import type { PixelSize } from './facts.ts';

/** A length that is measured, in pixels of the image. */
export interface Ruler {
  from: Point;
  to: Point;
}

export interface ScaleBar {
  /** On the screen. */
  width: number;
  words: string;
}

const LARGER: Record<string, { factor: number; unit: string }> = {
  nm: { factor: 1000, unit: 'µm' },
  µm: { factor: 1000, unit: 'mm' },
};

/** `50 µm`; a thousand of a unit are one of the next. */
export function lengthWords(length: number, unit: string): string {
  const larger = LARGER[unit];
  if (larger && length >= larger.factor) return lengthWords(length / larger.factor, larger.unit);
  return `${Number(length.toPrecision(3))} ${unit}`;
}

/** 1, 2 or 5 and zeros: the longest that is no wider than `most`. */
export function scaleBar({ x, unit }: PixelSize, { zoom }: Pick<Camera, 'zoom'>, most = 200): ScaleBar {
  const longest = (most / zoom) * x;
  const power = 10 ** Math.floor(Math.log10(longest));
  const length = [5, 2, 1].map((part) => part * power).find((one) => one <= longest) ?? power;
  return { width: (length / x) * zoom, words: lengthWords(length, unit) };
}

/** `12.4 µm`, and in pixels where the file does not say how large one is. */
export function rulerWords({ from, to }: Ruler, pixel: PixelSize | undefined): string {
  const [across, down] = [to.x - from.x, to.y - from.y];
  if (!pixel) return `${formatCount(Math.round(Math.hypot(across, down)))} px`;
  return lengthWords(Math.hypot(across * pixel.x, down * pixel.y), pixel.unit);
}
