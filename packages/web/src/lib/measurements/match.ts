/**
 * Two runs beside each other: which image of one is which of the other, and which object is which. Images are the same when
 * they have the same address, else the same place in their plate; objects when they have the same label there.
 *
 *     const pairs = pairImages(rows, other);
 *     matchedValues(rows, other, 'area', pairs)   // for each row the value of the same object in the other run, or NaN
 */
import { type ImageRows, type Label, labelsOf, numbersOf, type Rows, wellOf } from './rows.ts';

export type ImagePairs = ReadonlyMap<ImageRows, ImageRows>;

const lastParts = (count: number) => (image: ImageRows) => {
  const parts = image.zarr_url.split('/').filter((part) => part !== '');
  return parts.length < count ? undefined : parts.slice(-count).join('/');
};

/** From sure to likely. What one of them says twice on a side says nothing. */
const SAME: readonly ((image: ImageRows) => string | undefined)[] = [
  ({ zarr_url }) => zarr_url,
  // plate.zarr/B/03/0, then B/03/0
  lastParts(4),
  lastParts(3),
  (image) => {
    const well = wellOf(image);
    return well && `${String(image.attributes['plate'] ?? '')} ${well}`;
  },
  wellOf,
];

/** Those that are alone with what they are called. */
function aloneBy(images: Iterable<ImageRows>, keyOf: (image: ImageRows) => string | undefined) {
  const found = new Map<string, ImageRows | undefined>();
  for (const image of images) {
    const key = keyOf(image);
    if (key !== undefined) found.set(key, found.has(key) ? undefined : image);
  }
  return found;
}

export function pairImages({ images }: Pick<Rows, 'images'>, { images: others }: Pick<Rows, 'images'>): ImagePairs {
  const [left, right] = [new Set(images), new Set(others)];
  const pairs = new Map<ImageRows, ImageRows>();
  for (const keyOf of SAME) {
    const theirs = aloneBy(right, keyOf);
    for (const [key, own] of aloneBy(left, keyOf)) {
      const other = theirs.get(key);
      if (!own || !other) continue;
      pairs.set(own, other);
      left.delete(own);
      right.delete(other);
    }
  }
  return pairs;
}

export interface Matched {
  /** For each row of the first run; NaN where the other has no such object, or no value. */
  values: Float64Array;
  /** Objects of both, and those that only one of them has. */
  both: number;
  onlyHere: number;
  onlyThere: number;
}

/** Undefined where one of them does not name its objects, or has no such numbers. */
export function matchedValues(own: Rows, other: Rows, column: string, pairs: ImagePairs): Matched | undefined {
  const [labelOf, otherLabelOf, numbers] = [labelsOf(own), labelsOf(other), numbersOf(other, column)];
  if (!labelOf || !otherLabelOf || !numbers) return undefined;
  const values = new Float64Array(own.count).fill(NaN);
  let both = 0;
  for (const [image, theirs] of pairs) {
    const byLabel = new Map<Label, number>();
    for (let row = theirs.from; row < theirs.to; row++) byLabel.set(otherLabelOf(row), row);
    for (let row = image.from; row < image.to; row++) {
      const found = byLabel.get(labelOf(row));
      if (found === undefined) continue;
      // a label that is there twice is matched once
      byLabel.delete(labelOf(row));
      values[row] = numbers[found]!;
      both++;
    }
  }
  return { values, both, onlyHere: own.count - both, onlyThere: other.count - both };
}
