import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch }) => {
  const [report] = await call('accounts.listImports', {}, { fetch });
  return { report };
};
