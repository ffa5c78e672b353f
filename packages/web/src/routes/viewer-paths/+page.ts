import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch }) => ({
  paths: await call('accounts.currentUserViewerPaths', { query: { include_shared_projects: false } }, { fetch }),
});
