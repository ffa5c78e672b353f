import { readBanner } from '#lib/server/operator-files.ts';

import { version } from '../../package.json';
import type { LayoutServerLoad } from './$types';

export const load: LayoutServerLoad = async ({ locals }) => {
  const { user, apiAlive, impersonating } = locals;
  return {
    user: user ? { email: user.email, is_superuser: user.is_superuser, is_guest: user.is_guest } : null,
    apiAlive,
    impersonating,
    banner: await readBanner(),
    clientVersion: version,
  };
};
