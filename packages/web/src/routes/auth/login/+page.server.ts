/** Sign-in with a password, sign-out, and the way back from impersonation. All of it works without script. */
import { SERVICE_HIDE_BASIC_AUTH } from '$app/env/private';
import { fail, redirect } from '@sveltejs/kit';

import { route } from '#lib/route.ts';
import { currentUser } from '#lib/server/api.ts';
import { readInvite } from '#lib/server/operator-files.ts';
import { landingPage, ownAddress } from '#lib/server/return-address.ts';
import { beginSession, deviceOf, endImpersonation, endSession, keepDevice } from '#lib/server/session.ts';
import { isGuest, signIn, signOut, UNEXPECTED } from '#lib/server/sign-in.ts';

import type { Actions, PageServerLoad } from './$types';

export const trailingSlash = 'ignore';

export const load: PageServerLoad = async ({ locals, url }) => {
  const next = ownAddress(url.searchParams.get('next'));
  // who was sent here for want of a session has one by now: signed in beside this page, or with a password changed just then
  if (locals.user && next !== undefined && url.searchParams.has('invalidate')) {
    redirect(302, landingPage(next, locals.user));
  }
  return {
    email: locals.user?.email,
    impersonating: locals.impersonating,
    hidePassword: SERVICE_HIDE_BASIC_AUTH,
    invite: await readInvite(),
    next,
    signedOut: url.searchParams.get('signed-out') === 'everywhere' && locals.user === undefined,
  };
};

const textOf = (form: FormData, name: string) => {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
};

export const actions: Actions = {
  login: async (event) => {
    const { request, cookies, url } = event;
    const form = await request.formData();
    const username = textOf(form, 'username');
    const outcome = await signIn(username, textOf(form, 'password'), event, deviceOf(cookies));
    const problem = 'problem' in outcome ? outcome.problem : UNEXPECTED;
    if ('problem' in outcome || !beginSession({ cookies, url }, outcome.token)) {
      const guest = isGuest(username);
      return fail(400, { problem, guest, username: guest ? '' : username });
    }
    if (outcome.device !== undefined) keepDevice({ cookies, url }, outcome.device);
    const { user } = await currentUser(outcome.token);
    redirect(302, landingPage(url.searchParams.get('next'), user));
  },

  logout: async ({ cookies, url }) => {
    await signOut(cookies);
    endSession({ cookies, url });
    redirect(302, route.home());
  },

  return: ({ cookies, url }) =>
    redirect(302, endImpersonation({ cookies, url }) ? route.admin.overview() : route.signIn()),
};
