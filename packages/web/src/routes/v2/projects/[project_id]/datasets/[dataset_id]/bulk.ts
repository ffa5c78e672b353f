/** Which images a change of many is for. */
import type { DatasetIds } from '#lib/api/client.ts';
import type { Scalar } from '@service/contract';

import { bodyOf, type ImagesQuery } from '#lib/images/filters.ts';
import type { Selection } from '#lib/images/selection.svelte.ts';

import { gatherImages, MOST } from './images.ts';

export interface Change {
  set_attributes?: Record<string, Scalar>;
  unset_attributes?: string[];
  set_types?: Record<string, boolean>;
  remove?: boolean;
}

/**
 * Named images, or the filters themselves for all that match. What a task did is not known where images are changed, so
 * with a filter by status the images are named too.
 */
export async function targetOf(
  selection: Pick<Selection, 'all' | 'urls'>,
  query: ImagesQuery,
  ids: DatasetIds,
  task: number | undefined,
) {
  if (!selection.all) return { zarr_urls: [...selection.urls] };
  if (query.status.length === 0 || task === undefined) return bodyOf({ ...query, status: [] });
  const { items, cut } = await gatherImages(ids, task, query, {});
  if (cut) throw new TooMany();
  return { zarr_urls: items.map(({ zarr_url }) => zarr_url) };
}

export class TooMany extends Error {
  override message = `A filter by status can be used for ${MOST} images at once. Add another filter, or remove this one.`;
}
