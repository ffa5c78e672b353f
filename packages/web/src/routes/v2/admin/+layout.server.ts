/** The admin area. Here and not in the hook, so that the refusal is a page with its navigation. */
import { error } from '@sveltejs/kit';

import { ONLY_ADMINISTRATORS } from '#lib/server/guard.ts';

import type { LayoutServerLoad } from './$types';

export const load: LayoutServerLoad = ({ locals }) => {
  if (!locals.user?.is_superuser) error(403, ONLY_ADMINISTRATORS);
};
