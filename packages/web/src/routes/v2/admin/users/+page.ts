import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, depends }) => {
  depends('app:users');
  const [users, profiles] = await Promise.all([
    call('accounts.listUsers', {}, { fetch }),
    call('accounts.listProfiles', {}, { fetch }),
  ]);
  return { users, profiles };
};
