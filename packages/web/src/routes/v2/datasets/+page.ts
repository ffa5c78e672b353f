import { call } from '#lib/api/client.ts';

import { queryOf } from '#lib/projects/lists.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = async ({ url, fetch, depends }) => {
  depends('app:datasets');
  const asked = queryOf(url.searchParams);
  let list = await call('projects.listAllDatasets', { query: asked }, { fetch });
  // a page past the end, after filters or datasets went away
  if (list.items.length === 0 && asked.page > 1 && list.total_count > 0)
    list = await call('projects.listAllDatasets', { query: { ...asked, page: 1 } }, { fetch });
  return { list };
};
