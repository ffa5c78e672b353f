import { pageOf, wholeOf, yesOrNo } from '#lib/ui/asked.ts';
import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, url, depends }) => {
  depends('app:sharing');
  const search = url.searchParams;
  const query = {
    ...pageOf(search),
    project_id: wholeOf(search, 'project_id'),
    user_id: wholeOf(search, 'user_id'),
    is_verified: yesOrNo(search, 'verified'),
    is_owner: yesOrNo(search, 'owner'),
  };
  const [found, users] = await Promise.all([
    call('projects.adminListLinks', { query }, { fetch }),
    call('accounts.listUsers', {}, { fetch }),
  ]);
  return { found, users };
};
