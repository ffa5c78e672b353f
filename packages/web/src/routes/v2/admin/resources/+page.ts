import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, depends }) => {
  depends('app:resources');
  const [resources, profiles] = await Promise.all([
    call('accounts.listResources', {}, { fetch, exact: true }),
    call('accounts.listProfiles', {}, { fetch }),
  ]);
  return { resources, profiles };
};
