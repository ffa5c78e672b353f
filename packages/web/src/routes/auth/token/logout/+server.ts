/** Ends the session, whatever the API answers. */
import { endSession } from '#lib/server/session.ts';
import { signOut } from '#lib/server/sign-in.ts';

import type { RequestHandler } from './$types';

export const POST: RequestHandler = async ({ cookies, url }) => {
  await signOut(cookies);
  endSession({ cookies, url });
  return new Response(null, { status: 204 });
};
