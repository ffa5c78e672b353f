/** What the jobs can be filtered by; it stays while the filters change. */
import { call } from '#lib/api/client.ts';

import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ fetch }) => {
  const [users, resources] = await Promise.all([
    call('accounts.listUsers', { query: {} }, { fetch }),
    call('accounts.listResources', {}, { fetch }),
  ]);
  return {
    users: users.map(({ id, email }) => ({ id, email })),
    resources: resources.map(({ id, name }) => ({ value: String(id), name })),
  };
};
