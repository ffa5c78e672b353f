import { auditFilters } from '#lib/admin/audit.ts';
import { pageOf } from '#lib/ui/asked.ts';
import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, url }) => {
  const filters = auditFilters(url.searchParams);
  const found = await call('accounts.listAudit', { query: { ...filters, ...pageOf(url.searchParams) } }, { fetch });
  return { filters, found };
};
