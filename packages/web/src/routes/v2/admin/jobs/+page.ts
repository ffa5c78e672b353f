import { call } from '#lib/api/client.ts';
import { adminFilters, adminPage } from '#lib/jobs/admin.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, depends, url }) => {
  depends('app:admin-jobs');
  const filters = adminFilters(url.searchParams);
  const pages = adminPage(url.searchParams);
  const list = await call('jobs.adminListJobs', { query: { ...filters, ...pages, log: false } }, { fetch });
  return { filters, pages, list };
};
