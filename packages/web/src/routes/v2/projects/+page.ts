import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, depends }) => {
  depends('app:projects');
  const [mine, shared, invitations] = await Promise.all([
    call('projects.listProjects', { query: { is_owner: true } }, { fetch }),
    call('projects.listProjects', { query: { is_owner: false } }, { fetch }),
    call('projects.listInvitations', {}, { fetch }),
  ]);
  return { mine, shared, invitations };
};
