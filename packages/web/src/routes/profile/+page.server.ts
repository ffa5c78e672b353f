import { AUTH_COOKIE_NAME } from '$app/env/private';
import { accounts } from '@service/contract';
import { fail, redirect } from '@sveltejs/kit';

import { route } from '#lib/route.ts';
import { askApi, causeOf, detailOf } from '#lib/server/api.ts';
import { log } from '#lib/server/log.ts';
import { expiryOf } from '#lib/server/session-cookie.ts';
import { endSession, tokenOf } from '#lib/server/session.ts';

import type { Actions, PageServerLoad } from './$types';

const NOT_SIGNED_OUT = 'You are still signed in: the service did not answer. Try again in a minute.';

/** When the token ends and under which name it travels; the token itself is read when somebody asks for it. */
export const load: PageServerLoad = ({ cookies }) => ({
  tokenExpires: expiryOf(tokenOf(cookies) ?? '')?.toISOString(),
  cookieName: AUTH_COOKIE_NAME,
});

export const actions: Actions = {
  everywhere: async ({ cookies, url }) => {
    try {
      const answer = await askApi(accounts.signOutEverywhere.path, { method: 'POST', token: tokenOf(cookies) });
      if (!answer.ok) return fail(400, { problem: (await detailOf(answer)) ?? NOT_SIGNED_OUT });
    } catch (reason) {
      log.error(`The API did not sign out everywhere: ${causeOf(reason)}`);
      return fail(503, { problem: NOT_SIGNED_OUT });
    }
    endSession({ cookies, url });
    redirect(303, route.signIn({ 'signed-out': 'everywhere' }));
  },
};
