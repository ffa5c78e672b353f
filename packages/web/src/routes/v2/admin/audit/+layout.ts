/** Whom the log can be filtered by; it stays while the filters change. */
import { call } from '#lib/api/client.ts';

import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ fetch }) => {
  const users = await call('accounts.listUsers', {}, { fetch });
  return { people: users.map(({ id, email }) => ({ value: String(id), name: email })) };
};
