/** Collection and the life of task groups on the wire. */
import { tasks } from '@service/contract';

import { usableProfile } from '../../accounts/index.ts';
import { type Acting, type Api, refuse } from '../../http/index.ts';
import { type CollectParts, collectPip, collectPixi } from '../collect.ts';
import { ask, resetPip, resetPixi } from '../lifecycle.ts';
import type { Lookups } from '../lookups.ts';

export interface LifecycleRouteParts extends CollectParts {
  lookups: Lookups;
  /** Resets can destroy an environment that works, so they are off unless a setting allows them. */
  resetEnabled: boolean;
}

export function lifecycleRoutes(api: Api, parts: LifecycleRouteParts): void {
  api.serve(tasks.collectPip, ({ user, body, query }) =>
    parts.lookups.take(user.id, () => collectPip(parts, user, body, query)),
  );
  api.serve(tasks.collectPixi, ({ user, body, query }) => collectPixi(parts, user, body, query));

  const own =
    (action: 'deactivate' | 'reactivate' | 'delete') =>
    async ({ by, params }: { by: Acting; params: { task_group_id: number } }) => {
      const { resource } = await usableProfile(parts.db, by.user);
      const owner = { id: by.user.id, resource_id: resource.id };
      return ask(parts, by, params.task_group_id, { action, as: 'user', owner });
    };
  api.serve(tasks.deactivateTaskGroup, own('deactivate'));
  api.serve(tasks.reactivateTaskGroup, own('reactivate'));
  api.serve(tasks.deleteTaskGroup, own('delete'));
  api.serve(tasks.deleteTaskGroupByDelete, own('delete'));

  const anyones =
    (action: 'deactivate' | 'reactivate' | 'delete') =>
    ({ by, params }: { by: Acting; params: { task_group_id: number } }) =>
      ask(parts, by, params.task_group_id, { action, as: 'admin' });
  api.serve(tasks.adminDeactivateTaskGroup, anyones('deactivate'));
  api.serve(tasks.adminReactivateTaskGroup, anyones('reactivate'));
  api.serve(tasks.adminDeleteTaskGroup, anyones('delete'));

  const requireReset = () => {
    if (!parts.resetEnabled) {
      throw refuse(
        422,
        'Resetting task groups is switched off. Set SERVICE_ENABLE_TASK_GROUP_RESET to true to allow it.',
      );
    }
  };
  api.serve(tasks.resetTaskGroupPip, ({ by, params, body }) => {
    requireReset();
    return resetPip(parts, by, params.task_group_id, body);
  });
  api.serve(tasks.resetTaskGroupPixi, ({ by, params, body }) => {
    requireReset();
    return resetPixi(parts, by, params.task_group_id, body);
  });
}
