import { call } from '#lib/api/client.ts';
import { searchQuery, TASK_FILTERS, withOptions } from '#lib/tasks/search.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, depends, url }) => {
  depends('app:admin-tasks');
  const [users, resources] = await Promise.all([
    call('accounts.listUsers', {}, { fetch }),
    call('accounts.listResources', {}, { fetch }),
  ]);
  const fields = withOptions(TASK_FILTERS, {
    owner: users.map(({ id, email }) => ({ value: String(id), name: email })),
    resource: resources.map(({ id, name }) => ({ value: String(id), name })),
  });
  const query = searchQuery(fields, url.searchParams, 50);
  return { fields, found: await call('tasks.adminListTasks', { query }, { fetch }) };
};
