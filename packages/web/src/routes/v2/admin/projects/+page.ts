import { call } from '#lib/api/client.ts';
import { pageOf, textOf, wholeOf } from '#lib/ui/asked.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, url, depends }) => {
  depends('app:admin-projects');
  const search = url.searchParams;
  const query = {
    ...pageOf(search),
    project_id: wholeOf(search, 'id'),
    name: textOf(search, 'name'),
    user_email: textOf(search, 'owner'),
  };
  const [found, users] = await Promise.all([
    call('projects.adminListProjects', { query }, { fetch }),
    call('accounts.listUsers', {}, { fetch }),
  ]);
  return { found, users };
};
