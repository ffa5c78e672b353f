import { call } from '#lib/api/client.ts';
import { ACTIVITY_FILTERS, searchQuery, USER_FILTER, withOptions } from '#lib/tasks/search.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, depends, url }) => {
  depends('app:activities');
  const users = await call('accounts.listUsers', {}, { fetch });
  const fields = withOptions([...ACTIVITY_FILTERS.slice(0, 3), USER_FILTER, ...ACTIVITY_FILTERS.slice(3)], {
    user: users.map(({ id, email }) => ({ value: String(id), name: email })),
  });
  const query = { ...searchQuery(fields, url.searchParams, 10), log: false };
  return {
    fields,
    users: users.map(({ id, email }): [number, string] => [id, email]),
    found: await call('tasks.adminListActivities', { query }, { fetch }),
  };
};
