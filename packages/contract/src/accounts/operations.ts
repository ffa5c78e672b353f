/** The operations around people: tokens, accounts, groups, settings. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { answer, boolean, datetime, id, text } from '../wire/scalars.ts';
import {
  User,
  UserCreate,
  UserGroup,
  UserGroupCreate,
  UserGroupUpdate,
  UserProfileInfo,
  UserUpdate,
  UserUpdateGroups,
  UserUpdateStrict,
} from './user.ts';

const BearerToken = z.object({ access_token: answer.text(), token_type: answer.text() }).meta({ id: 'BearerResponse' });
const LoginForm = z
  .object({
    username: z.string().meta({ description: 'The e-mail address.' }),
    password: z.string().meta({ format: 'password' }),
    grant_type: z
      .string()
      .regex(/^password$/)
      .nullable()
      .optional(),
    scope: z.string().default(''),
    client_id: z.string().nullable().optional(),
    client_secret: z.string().nullable().optional(),
  })
  .meta({ id: 'LoginForm' });

const userId = z.object({ user_id: id() });
const groupId = z.object({ group_id: id() });
const groupAndUser = z.object({ group_id: id(), user_id: id() });
const UNKNOWN = { 404: 'There is no such object.' };

export * from '../imports/operations.ts';
export * from './audit-operations.ts';
export { adminOverview } from './overview.ts';
export * from './resource-operations.ts';
export * from './token-operations.ts';

export const alive = operation({
  id: 'alive',
  method: 'GET',
  path: '/api/alive/',
  access: 'anonymous',
  tag: 'service',
  summary: 'The service answers; its version',
  answer: [200, z.object({ alive: answer.boolean(), version: answer.text() }).meta({ id: 'Alive' })],
});

export const ready = operation({
  id: 'ready',
  method: 'GET',
  path: '/api/ready/',
  access: 'anonymous',
  tag: 'service',
  summary: 'The service and its database can work',
  answer: [200, z.object({ ready: answer.boolean(), database: answer.boolean() }).meta({ id: 'Ready' })],
  refusals: { 503: 'The database does not answer.' },
});

const settings = <const N extends string>(name: N, what: string) =>
  operation({
    id: `settings_${name}`,
    method: 'GET',
    path: `/api/settings/${name}/`,
    access: 'superuser',
    tag: 'service',
    summary: `${what} settings in force, secrets masked`,
    answer: [200, z.record(z.string(), z.unknown())],
  });
export const settingsApp = settings('app', 'Application');
export const settingsDatabase = settings('database', 'Database');
export const settingsEmail = settings('email', 'E-mail');
export const settingsOauth = settings('oauth', 'OAuth');

export const login = operation({
  id: 'login',
  method: 'POST',
  path: '/auth/token/login/',
  access: 'anonymous',
  tag: 'tokens',
  summary: 'A token for an e-mail address and its password',
  body: LoginForm,
  form: true,
  answer: [200, BearerToken],
  refusals: { 400: 'LOGIN_BAD_CREDENTIALS', 429: 'Too many failed attempts at the same time.' },
});

export const logout = operation({
  id: 'logout',
  method: 'POST',
  path: '/auth/token/logout/',
  access: 'active',
  scope: 'read',
  tag: 'tokens',
  summary: 'Signs out; tokens stay valid until they expire',
  answer: [204],
});

export const registerUser = operation({
  id: 'register_user',
  method: 'POST',
  path: '/auth/register/',
  access: 'superuser',
  scope: 'session',
  tag: 'users',
  summary: 'Creates an account',
  body: UserCreate,
  answer: [201, User],
  refusals: { 400: 'REGISTER_USER_ALREADY_EXISTS, or a password that breaks the rules.', 404: 'Unknown profile.' },
});

const withGroups = (fallback: boolean) => z.object({ group_ids_names: boolean().default(fallback) });

export const currentUser = operation({
  id: 'current_user',
  method: 'GET',
  path: '/auth/current-user/',
  access: 'active',
  tag: 'current user',
  summary: 'Your account',
  query: withGroups(false),
  answer: [200, User],
});

export const updateCurrentUser = operation({
  id: 'update_current_user',
  method: 'PATCH',
  path: '/auth/current-user/',
  access: 'active',
  tag: 'current user',
  summary: 'Changes your Slurm accounts',
  body: UserUpdateStrict,
  answer: [200, User],
  refusals: { 403: 'Guest accounts cannot change themselves.' },
});

export const currentUserProfileInfo = operation({
  id: 'current_user_profile_info',
  method: 'GET',
  path: '/auth/current-user/profile-info/',
  access: 'active',
  tag: 'current user',
  summary: 'The names of your profile and resource',
  answer: [200, UserProfileInfo],
});

export const currentUserViewerPaths = operation({
  id: 'current_user_allowed_viewer_paths',
  method: 'GET',
  path: '/auth/current-user/allowed-viewer-paths/',
  access: 'verified',
  tag: 'current user',
  summary: 'The folders whose images you may look at',
  query: z.object({ include_shared_projects: boolean().default(true) }),
  answer: [200, z.array(answer.text())],
});

export const listUsers = operation({
  id: 'list_users',
  method: 'GET',
  path: '/auth/users/',
  access: 'superuser',
  tag: 'users',
  summary: 'All accounts',
  query: z.object({ profile_id: id().optional(), resource_id: id().optional() }),
  answer: [200, z.array(User)],
});

export const getUser = operation({
  id: 'get_user',
  method: 'GET',
  path: '/auth/users/{user_id}/',
  access: 'superuser',
  tag: 'users',
  summary: 'One account',
  params: userId,
  query: withGroups(true),
  answer: [200, User],
  refusals: UNKNOWN,
});

export const updateUser = operation({
  id: 'update_user',
  method: 'PATCH',
  path: '/auth/users/{user_id}/',
  access: 'superuser',
  scope: 'session',
  tag: 'users',
  summary: 'Changes an account',
  params: userId,
  body: UserUpdate,
  answer: [200, User],
  refusals: { 400: 'UPDATE_USER_EMAIL_ALREADY_EXISTS, or a password that breaks the rules.', ...UNKNOWN },
});

export const setUserGroups = operation({
  id: 'set_user_groups',
  method: 'POST',
  path: '/auth/users/{user_id}/set-groups/',
  access: 'superuser',
  tag: 'users',
  summary: 'Replaces the groups of an account',
  params: userId,
  body: UserUpdateGroups,
  answer: [200, User],
  refusals: UNKNOWN,
});

export const listGroups = operation({
  id: 'list_groups',
  method: 'GET',
  path: '/auth/group/',
  access: 'superuser',
  tag: 'groups',
  summary: 'All groups',
  query: z.object({ user_ids: boolean().default(false) }),
  answer: [200, z.array(UserGroup)],
});

export const createGroup = operation({
  id: 'create_group',
  method: 'POST',
  path: '/auth/group/',
  access: 'superuser',
  tag: 'groups',
  summary: 'Creates a group',
  body: UserGroupCreate,
  answer: [201, UserGroup],
});

export const getGroup = operation({
  id: 'get_group',
  method: 'GET',
  path: '/auth/group/{group_id}/',
  access: 'superuser',
  tag: 'groups',
  summary: 'One group with its members',
  params: groupId,
  answer: [200, UserGroup],
  refusals: UNKNOWN,
});

export const updateGroup = operation({
  id: 'update_group',
  method: 'PATCH',
  path: '/auth/group/{group_id}/',
  access: 'superuser',
  tag: 'groups',
  summary: 'Renames a group',
  params: groupId,
  body: UserGroupUpdate,
  answer: [200, UserGroup],
  refusals: UNKNOWN,
});

export const deleteGroup = operation({
  id: 'delete_group',
  method: 'DELETE',
  path: '/auth/group/{group_id}/',
  access: 'superuser',
  tag: 'groups',
  summary: 'Deletes a group',
  params: groupId,
  answer: [204],
  refusals: UNKNOWN,
});

export const addUserToGroup = operation({
  id: 'add_user_to_group',
  method: 'POST',
  path: '/auth/group/{group_id}/add-user/{user_id}/',
  access: 'superuser',
  tag: 'groups',
  summary: 'Adds a member',
  params: groupAndUser,
  answer: [200, UserGroup],
  refusals: UNKNOWN,
});

export const removeUserFromGroup = operation({
  id: 'remove_user_from_group',
  method: 'POST',
  path: '/auth/group/{group_id}/remove-user/{user_id}/',
  access: 'superuser',
  tag: 'groups',
  summary: 'Removes a member',
  params: groupAndUser,
  answer: [200, UserGroup],
  refusals: UNKNOWN,
});

export const impersonate = operation({
  id: 'impersonate',
  method: 'GET',
  path: '/admin/v2/impersonate/{user_id}/',
  access: 'superuser',
  scope: 'session',
  tag: 'administration',
  summary: 'A token of another account, valid for two hours',
  params: userId,
  answer: [200, BearerToken],
  refusals: UNKNOWN,
  unsafeGet: true,
});

export const impersonateByPost = operation({
  id: 'impersonate_by_post',
  method: 'POST',
  path: '/admin/v2/impersonate/',
  access: 'superuser',
  scope: 'session',
  tag: 'administration',
  summary: 'A token of another account, valid for two hours',
  description: 'The id of the account comes as query parameter or in the body.',
  query: z.object({ user_id: id().optional() }),
  body: z.object({ user_id: id().optional() }),
  optionalBody: true,
  answer: [200, BearerToken],
  refusals: UNKNOWN,
});

export const usersCsv = operation({
  id: 'users_csv',
  file: true,
  method: 'GET',
  path: '/admin/v2/users-csv/',
  access: 'superuser',
  tag: 'administration',
  summary: 'Accounts and their numbers of jobs, as CSV',
  query: z.object({
    exclude_zero_jobs: boolean().default(false),
    start_timestamp_min: datetime().optional(),
    start_timestamp_max: datetime().optional(),
  }),
  answer: [200, z.string()],
  mediaType: 'text/csv',
});

/** Signing in with an external account; the path has the provider's name from the settings. */
export const oauthAuthorize = (client: string) =>
  operation({
    id: 'oauth_authorize',
    method: 'GET',
    path: `/auth/${client}/authorize/`,
    access: 'anonymous',
    tag: 'tokens',
    summary: 'Where to go to sign in with an external account',
    query: z.object({ scopes: z.array(text()).optional() }),
    answer: [200, z.object({ authorization_url: answer.text() }).meta({ id: 'OAuth2AuthorizeResponse' })],
  });

export const oauthCallback = (client: string) =>
  operation({
    id: 'oauth_callback',
    method: 'GET',
    path: `/auth/${client}/callback/`,
    access: 'anonymous',
    tag: 'tokens',
    summary: 'The way back from the external account; sets the login cookie',
    query: z.object({
      code: text().optional(),
      state: text().optional(),
      error: text().optional(),
      code_verifier: text().optional(),
    }),
    answer: [204],
    refusals: { 400: 'The sign-in did not succeed.', 500: 'The provider could not be asked.' },
  });
