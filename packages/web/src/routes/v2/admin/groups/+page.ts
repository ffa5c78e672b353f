import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, depends }) => {
  depends('app:groups');
  return { groups: await call('accounts.listGroups', { query: { user_ids: true } }, { fetch }) };
};
