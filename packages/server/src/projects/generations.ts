/** Images that tasks made of other images of the list. */
import type { Image } from '@service/contract';

/** What tasks made last, or what they made it from. */
export function ofGeneration(images: readonly Image[], which: 'newest' | 'original'): Image[] {
  const urls = new Set(images.map(({ zarr_url }) => zarr_url));
  const sources = new Set(images.map(({ origin }) => origin));
  if (which === 'newest') return images.filter(({ zarr_url }) => !sources.has(zarr_url));
  return images.filter(({ origin }) => origin === null || !urls.has(origin));
}
