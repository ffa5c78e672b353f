/** Looking at the service as somebody else. The own token stays in a cookie of its own, for the way back. */
import { accounts, type AnswerOf } from '@service/contract';
import { fail, redirect } from '@sveltejs/kit';

import { route } from '#lib/route.ts';
import { askApi, causeOf, detailOf } from '#lib/server/api.ts';
import { onBehalfOf } from '#lib/server/mounted.ts';
import { beginImpersonation, tokenOf } from '#lib/server/session.ts';

import type { Actions, RequestEvent } from './$types';

const UNEXPECTED = 'This did not work. Try again. If it keeps happening, look at the log of the service.';

async function tokenFor(userId: string, visit: RequestEvent): Promise<{ token: string } | { problem: string }> {
  if (!/^\d+$/.test(userId)) return { problem: 'Choose a person first.' };
  try {
    const call = { token: tokenOf(visit.cookies), headers: onBehalfOf(visit) };
    const response = await askApi(accounts.impersonate.path.replace('{user_id}', userId), call);
    if (!response.ok) return { problem: (await detailOf(response)) ?? UNEXPECTED };
    return { token: ((await response.json()) as AnswerOf<typeof accounts.impersonate>).access_token };
  } catch (reason) {
    return { problem: `The service does not answer: ${causeOf(reason)}` };
  }
}

export const actions: Actions = {
  default: async (event) => {
    const { request, cookies, url } = event;
    const user_id = (await request.formData()).get('user_id');
    const outcome = await tokenFor(typeof user_id === 'string' ? user_id : '', event);
    if ('problem' in outcome) return fail(400, { problem: outcome.problem });
    if (!beginImpersonation({ cookies, url }, outcome.token)) return fail(400, { problem: UNEXPECTED });
    redirect(302, route.projects());
  },
};
