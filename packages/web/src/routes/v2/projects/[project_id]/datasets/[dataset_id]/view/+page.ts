/** What the viewer shows: an image of the dataset, or a plate. How it is shown is in the rest of the address. */
import { error } from '@sveltejs/kit';

import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

/** The picture is drawn by the browser. */
export const ssr = false;

export const load: PageLoad = async ({ params, url, fetch }) => {
  const ids = { project_id: Number(params.project_id), dataset_id: Number(params.dataset_id) };
  const [zarr_url, plate] = [url.searchParams.get('image'), url.searchParams.get('plate')];
  if (zarr_url === null && plate === null) error(404, 'This address names no image and no plate.');
  if (zarr_url === null) return { image: undefined, plate: plate ?? undefined };
  const found = await call(
    'projects.queryImages',
    { params: ids, query: { page: 1, page_size: 1 }, body: { zarr_url } },
    { fetch },
  );
  const [image] = found.items;
  if (!image) error(404, 'This image is no longer in the dataset.');
  return { image, plate: undefined };
};
