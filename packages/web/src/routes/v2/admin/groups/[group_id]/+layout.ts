import { call } from '#lib/api/client.ts';

import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ fetch, params, depends }) => {
  depends('app:group');
  const [group, users] = await Promise.all([
    call('accounts.getGroup', { params: { group_id: Number(params.group_id) } }, { fetch }),
    call('accounts.listUsers', {}, { fetch }),
  ]);
  return { group, users };
};
