/** People by their id; it stays while the filters change. */
import { call } from '#lib/api/client.ts';

import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ fetch }) => {
  const users = await call('accounts.listUsers', { query: {} }, { fetch });
  return { users: users.map(({ id, email }) => ({ id, email })) };
};
