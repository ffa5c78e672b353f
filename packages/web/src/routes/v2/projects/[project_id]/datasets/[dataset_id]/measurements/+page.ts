/** The values of attributes and types, for the filters. Tables are read in the browser: the first time takes a while. */
import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ params, fetch, depends }) => {
  depends('app:images');
  const ids = { project_id: Number(params.project_id), dataset_id: Number(params.dataset_id) };
  const images = await call(
    'projects.queryImages',
    { params: ids, query: { page: 1, page_size: 1 }, body: {} },
    { fetch, exact: true },
  );
  return { images };
};
