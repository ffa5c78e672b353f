import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch }) => ({ overview: await call('accounts.adminOverview', {}, { fetch }) });
