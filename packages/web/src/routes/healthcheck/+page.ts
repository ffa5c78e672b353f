import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch }) => ({
  info: await call('accounts.currentUserProfileInfo', {}, { fetch }),
});
