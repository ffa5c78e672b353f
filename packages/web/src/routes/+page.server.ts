import { apiVersion } from '#lib/server/api.ts';

import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async () => ({ apiVersion: await apiVersion() });
