/**
 * What the output of a task does to the images of its dataset. Only the images that the output names are needed, and the
 * result is what differs from them, so that the work does not grow with the dataset.
 */
import { type Image, imagePlaceProblem, NumberAsWritten, type Scalar } from '@service/contract';

import type { ImageUpdateOutput } from './outputs.ts';
import type { Flags } from './type-filters.ts';

export interface ImageChanges {
  /** Images of the dataset as they are now; only those that differ. */
  changed: Image[];
  /** In the order in which they go to the end of the dataset. */
  added: Image[];
  removed: string[];
  num_new_images: number;
}

/** The images that have to be looked up before `applyOutput`. */
export function touchedUrls(updates: ImageUpdateOutput[], removals: string[]): string[] {
  const urls = new Set<string>();
  for (const { zarr_url, origin } of updates) {
    urls.add(zarr_url);
    if (origin !== null) urls.add(origin);
  }
  for (const url of removals) urls.add(url);
  return [...urls];
}

function withUpdate(base: Image | undefined, origin: string | null, update: ImageUpdateOutput, output: Flags): Image {
  const attributes = Object.entries({ ...base?.attributes, ...update.attributes }).filter(
    ([, value]) => value !== null,
  );
  return {
    zarr_url: update.zarr_url,
    origin,
    attributes: Object.fromEntries(attributes) as Record<string, Scalar>,
    types: { ...base?.types, ...update.types, ...output },
  };
}

const written = (value: unknown) => (value instanceof NumberAsWritten ? value.source : value);

/** Equal as they are written: `1` and `1.0` differ, since the second is to be stored. */
function sameMap(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => {
      const same = Object.hasOwn(other, key) && written(one[key]) === written(other[key]);
      return same && one[key] instanceof NumberAsWritten === other[key] instanceof NumberAsWritten;
    })
  );
}

const sameImage = (one: Image, other: Image) =>
  one.origin === other.origin && sameMap(one.attributes, other.attributes) && sameMap(one.types, other.types);

interface Application {
  /** The images of the dataset among `touchedUrls`. */
  known: Map<string, Image>;
  updates: ImageUpdateOutput[];
  removals: string[];
  outputTypes: Flags;
  zarr_dir: string;
}

/** Updates one after the other, then removals; all of it or, with a problem, nothing. */
export function applyOutput(application: Application): ImageChanges | { problem: string } {
  const { known, updates, removals, outputTypes, zarr_dir } = application;
  const updated = new Map<string, Image>();
  const current = (url: string | null) => (url === null ? undefined : (updated.get(url) ?? known.get(url)));
  for (const update of updates) {
    const { zarr_url, origin } = update;
    const existing = current(zarr_url);
    const edited = existing && (origin === null || origin === zarr_url);
    const image = edited
      ? withUpdate(existing, existing.origin, update, outputTypes)
      : withUpdate(current(origin), origin, update, outputTypes);
    updated.set(zarr_url, image);
  }
  const created = [...updated.keys()].filter((url) => !known.has(url));
  const misplaced = imagePlaceProblem(zarr_dir, created);
  if (misplaced !== undefined) {
    return { problem: `${misplaced} The task must write its new images there.` };
  }
  const removed = new Set(removals);
  for (const url of removed) {
    if (!current(url)) return { problem: `The task removes the image ${url}, which is not in the dataset.` };
  }
  const kept = [...updated.values()].filter(({ zarr_url }) => !removed.has(zarr_url));
  return {
    changed: kept.filter((image) => known.has(image.zarr_url) && !sameImage(known.get(image.zarr_url)!, image)),
    added: kept.filter(({ zarr_url }) => !known.has(zarr_url)),
    removed: [...removed].filter((url) => known.has(url)),
    num_new_images: created.length,
  };
}
