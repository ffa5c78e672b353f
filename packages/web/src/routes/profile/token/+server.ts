/** The token of the session, for scripts of the person who is signed in. */
import { error, text } from '@sveltejs/kit';

import { tokenOf } from '#lib/server/session.ts';

import type { RequestHandler } from './$types';

export const GET: RequestHandler = ({ cookies }) => {
  const token = tokenOf(cookies);
  if (token === undefined) error(401, 'Sign in first.');
  return text(token, { headers: { 'content-type': 'text/plain', 'cache-control': 'no-store' } });
};
