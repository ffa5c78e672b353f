import { call } from '#lib/api/client.ts';
import { isResetOn } from '#lib/tasks/reset.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, params }) => {
  const [group, settings, resources] = await Promise.all([
    call('tasks.adminGetTaskGroup', { params: { task_group_id: Number(params.task_group_id) } }, { fetch }),
    call('accounts.settingsApp', {}, { fetch }),
    call('accounts.listResources', {}, { fetch }),
  ]);
  const python = resources.find(({ id }) => id === group.resource_id)?.tasks_python_config as
    | { versions?: Record<string, string> }
    | undefined;
  return {
    group,
    canReset: isResetOn(settings),
    pythons: Object.keys(python?.versions ?? {}),
  };
};
