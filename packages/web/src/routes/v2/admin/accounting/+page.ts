import { pageOf } from '#lib/ui/asked.ts';
import { call } from '#lib/api/client.ts';
import { accountingFilters } from '#lib/jobs/accounting.ts';

import type { PageLoad } from './$types';

const PAGE_SIZE = 10;

export const load: PageLoad = async ({ fetch, depends, url }) => {
  depends('app:accounting');
  const filters = accountingFilters(url.searchParams);
  const pages = pageOf(url.searchParams, PAGE_SIZE);
  const list = await call('jobs.queryAccounting', { query: pages, body: filters }, { fetch });
  return { filters, pages, list };
};
