import { call } from '#lib/api/client.ts';

import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ fetch, params, depends }) => {
  depends('app:resource');
  const resource_id = Number(params.resource_id);
  const [resource, profiles] = await Promise.all([
    call('accounts.getResource', { params: { resource_id } }, { fetch, exact: true }),
    call('accounts.listResourceProfiles', { params: { resource_id } }, { fetch }),
  ]);
  return { resource, profiles };
};
