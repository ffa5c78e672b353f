import { readNews } from '#lib/server/operator-files.ts';

import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async ({ locals }) => ({
  news: await readNews(),
  notice: locals.notice,
  /** Signed in, and not yet somebody who may work. */
  waits:
    locals.user !== undefined &&
    !locals.user.is_superuser &&
    (!locals.user.is_verified || locals.user.profile_id === null),
});
