import { call } from '#lib/api/client.ts';

import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ fetch, params, depends }) => {
  depends('app:user');
  const [account, groups, profiles, resources] = await Promise.all([
    call(
      'accounts.getUser',
      { params: { user_id: Number(params.user_id) }, query: { group_ids_names: true } },
      { fetch },
    ),
    call('accounts.listGroups', {}, { fetch }),
    call('accounts.listProfiles', {}, { fetch }),
    call('accounts.listResources', {}, { fetch }),
  ]);
  return { account, groups, profiles, resources };
};
