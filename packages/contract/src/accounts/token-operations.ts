/** The operations on personal access tokens, and the end of sessions. None of them takes such a token. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { id } from '../wire/scalars.ts';
import { PersonalToken, PersonalTokenCreate, PersonalTokenMade } from './token.ts';

const all = '/auth/current-user/token/';
const own = { access: 'active', scope: 'session', tag: 'tokens' } as const;

export const listTokens = operation({
  ...own,
  id: 'list_tokens',
  method: 'GET',
  path: all,
  summary: 'Your personal access tokens, the newest first',
  description: 'Those that have ended are listed too, the last twenty of them.',
  answer: [200, z.array(PersonalToken)],
});

export const createToken = operation({
  ...own,
  id: 'create_token',
  method: 'POST',
  path: all,
  summary: 'Makes a personal access token, for a program',
  description:
    'The scope `read` allows what changes nothing, `run` also submits and stops jobs, `everything` allows all but making ' +
    'tokens, creating and changing accounts, and impersonation. The token is in this answer and never shown again.',
  body: PersonalTokenCreate,
  answer: [201, PersonalTokenMade],
  refusals: { 403: 'Guest accounts, and administrators who impersonate, cannot make tokens.' },
});

export const revokeToken = operation({
  ...own,
  id: 'revoke_token',
  method: 'DELETE',
  path: `${all}{token_id}/`,
  summary: 'Ends a personal access token at once',
  params: z.object({ token_id: id() }),
  answer: [204],
  refusals: { 404: 'You have no such token.' },
});

export const signOutEverywhere = operation({
  ...own,
  id: 'sign_out_everywhere',
  method: 'POST',
  path: '/auth/current-user/sign-out-everywhere/',
  summary: 'Ends all your sessions, this one too, and your personal access tokens',
  answer: [204],
  refusals: { 403: 'Guest accounts cannot change themselves.' },
});

export const signOutUserEverywhere = operation({
  ...own,
  access: 'superuser',
  id: 'sign_out_user_everywhere',
  method: 'POST',
  path: '/auth/users/{user_id}/sign-out-everywhere/',
  summary: 'Ends all sessions and personal access tokens of an account',
  params: z.object({ user_id: id() }),
  answer: [204],
  refusals: { 404: 'There is no such object.' },
});
