import { call } from '#lib/api/client.ts';
import { ACTIVITY_FILTERS, filterQuery, pageOf } from '#lib/tasks/search.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, depends, url }) => {
  depends('app:activities');
  const query = { ...filterQuery(ACTIVITY_FILTERS, url.searchParams), log: false };
  const found = await call('tasks.listActivities', { query }, { fetch });
  const at = pageOf(url.searchParams, 10);
  const from = (at.page - 1) * at.page_size;
  // the service gives them all at once
  return { activities: found.slice(from, from + at.page_size), total: found.length, at };
};
