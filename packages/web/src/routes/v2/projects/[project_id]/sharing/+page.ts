import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, params, depends }) => {
  depends('app:guests');
  const given = { params: { project_id: Number(params.project_id) } };
  const project = await call('projects.getProject', given, { fetch });
  // others are told whom to ask
  return { project, guests: project.is_owner ? await call('projects.listGuests', given, { fetch }) : undefined };
};
