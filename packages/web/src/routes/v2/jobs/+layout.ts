/** The reader's projects, own and shared: what jobs can be filtered by, and where the reader may stop one. */
import { call } from '#lib/api/client.ts';

import type { LayoutLoad } from './$types';

export const load: LayoutLoad = async ({ fetch, depends }) => {
  depends('app:projects');
  const [mine, shared] = await Promise.all([
    call('projects.listProjects', { query: { is_owner: true } }, { fetch }),
    call('projects.listProjects', { query: { is_owner: false } }, { fetch }),
  ]);
  return { projects: [...mine, ...shared] };
};
