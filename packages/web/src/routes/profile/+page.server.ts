import { AUTH_COOKIE_NAME } from '$app/env/private';

import { expiryOf } from '#lib/server/session-cookie.ts';
import { tokenOf } from '#lib/server/session.ts';

import type { PageServerLoad } from './$types';

/** When the token ends and under which name it travels; the token itself is read when somebody asks for it. */
export const load: PageServerLoad = ({ cookies }) => ({
  tokenExpires: expiryOf(tokenOf(cookies) ?? '')?.toISOString(),
  cookieName: AUTH_COOKIE_NAME,
});
