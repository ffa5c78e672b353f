import { call } from '#lib/api/client.ts';
import { isResetOn } from '#lib/tasks/reset.ts';
import { GROUP_FILTERS, searchQuery, withOptions } from '#lib/tasks/search.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, depends, url }) => {
  depends('app:admin-task-groups');
  const [users, resources, groups, settings] = await Promise.all([
    call('accounts.listUsers', {}, { fetch }),
    call('accounts.listResources', {}, { fetch }),
    call('accounts.listGroups', {}, { fetch }),
    call('accounts.settingsApp', {}, { fetch }),
  ]);
  const option = (id: number, name: string) => ({ value: String(id), name });
  const fields = withOptions(GROUP_FILTERS, {
    user: users.map(({ id, email }) => option(id, email)),
    resource: resources.map(({ id, name }) => option(id, name)),
    shared: groups.map(({ id, name }) => option(id, name)),
  });
  const query = searchQuery(fields, url.searchParams, 50);
  return {
    fields,
    found: await call('tasks.adminListTaskGroups', { query }, { fetch }),
    groups: groups.map(({ id, name }): [number, string] => [id, name]),
    resources: resources.map(({ id, name }): [number, string] => [id, name]),
    canReset: isResetOn(settings),
  };
};
