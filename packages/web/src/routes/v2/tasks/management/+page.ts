import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

const DAY = 24 * 60 * 60 * 1000;

export const load: PageLoad = async ({ fetch, depends }) => {
  depends('app:task-groups');
  const since = new Date(Date.now() - DAY).toISOString();
  const [user, profile, packages, activities] = await Promise.all([
    call('accounts.currentUser', { query: { group_ids_names: true } }, { fetch }),
    call('accounts.currentUserProfileInfo', {}, { fetch }),
    call('tasks.listTaskGroups', { query: { all_groups: true } }, { fetch }),
    call('tasks.listActivities', { query: { timestamp_started_min: since, log: false } }, { fetch }),
  ]);
  return { groups: user.group_ids_names ?? [], profile, packages, activities };
};
