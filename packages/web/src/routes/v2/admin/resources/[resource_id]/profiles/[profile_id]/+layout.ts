import { call } from '#lib/api/client.ts';

import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ fetch, params }) => {
  const profile_id = Number(params.profile_id);
  const [profile, people] = await Promise.all([
    call('accounts.getProfile', { params: { profile_id } }, { fetch }),
    call('accounts.listUsers', { query: { profile_id } }, { fetch }),
  ]);
  return { profile, people };
};
