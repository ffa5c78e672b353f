import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, depends, data }) => {
  depends('app:profile');
  const [account, info, tokens] = await Promise.all([
    call('accounts.currentUser', { query: { group_ids_names: true } }, { fetch }),
    call('accounts.currentUserProfileInfo', {}, { fetch }),
    call('accounts.listTokens', {}, { fetch }),
  ]);
  return { ...data, account, info, tokens };
};
