import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch }) => {
  const [groups, resources, profiles] = await Promise.all([
    call('accounts.listGroups', {}, { fetch }),
    call('accounts.listResources', {}, { fetch }),
    call('accounts.listProfiles', {}, { fetch }),
  ]);
  return { groups, resources, profiles };
};
