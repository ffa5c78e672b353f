import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, depends }) => {
  depends('app:tasks');
  return { packages: await call('tasks.listTaskGroups', { query: { only_active: true } }, { fetch }) };
};
