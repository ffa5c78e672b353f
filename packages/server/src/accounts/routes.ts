/** Accounts and administration on the wire. */
import { setTimeout as sleep } from 'node:timers/promises';

import { accounts } from '@service/contract';

import type { Database } from '../db/index.ts';
import { type Api, invalid } from '../http/index.ts';
import type { Settings } from '../settings/index.ts';
import * as groups from './groups.ts';
import * as resources from './resources.ts';
import { signIn } from './sign-in.ts';
import * as groupStore from './store/groups.ts';
import * as resourceStore from './store/resources.ts';
import * as userStore from './store/users.ts';
import { createThrottle } from './throttle.ts';
import type { Tokens } from './tokens.ts';
import * as users from './users.ts';
import { usersCsv } from './users-csv.ts';
import { viewerPaths } from './viewer-paths.ts';

const IMPERSONATION_SECONDS = 7200;

export interface AccountParts {
  db: Database;
  tokens: Tokens;
  app: Settings['app'];
}

export function accountRoutes(api: Api, parts: AccountParts): void {
  tokenRoutes(api, parts);
  userRoutes(api, parts);
  groupRoutes(api, parts);
  resourceRoutes(api, parts);
}

const bearer = (access_token: string) => ({ access_token, token_type: 'bearer' });

function tokenRoutes(api: Api, { db, tokens, app }: AccountParts): void {
  if (app.SERVICE_DISABLE_BASIC_AUTH === 'false') {
    const throttle = createThrottle(sleep);
    api.serveAnyone(accounts.login, async ({ body, request }) => {
      const userId = await signIn(db, throttle, { ...body, address: request.ip });
      return bearer(await tokens.issue(userId, app.JWT_EXPIRE_SECONDS));
    });
  }
  api.serve(accounts.logout, () => undefined);

  const impersonate = async (userId: number) => {
    const user = await users.readUser(db, userId);
    return bearer(await tokens.issue(user.id, IMPERSONATION_SECONDS));
  };
  api.serve(accounts.impersonate, ({ params }) => impersonate(params.user_id));
  api.serve(accounts.impersonateByPost, ({ query, body }) => {
    const userId = query.user_id ?? body?.user_id;
    if (userId === undefined) {
      throw invalid([
        { type: 'missing', loc: ['query', 'user_id'], msg: 'Say whose token you want: user_id is missing.' },
      ]);
    }
    return impersonate(userId);
  });
}

function userRoutes(api: Api, { db, app }: AccountParts): void {
  const defaultGroup = app.SERVICE_DEFAULT_GROUP_NAME;

  api.serve(accounts.currentUser, ({ user, query }) =>
    query.group_ids_names ? userStore.withGroups(db, user, defaultGroup) : user,
  );
  api.serve(accounts.updateCurrentUser, ({ user, body }) => users.updateSelf(db, user, body, defaultGroup));
  api.serve(accounts.currentUserProfileInfo, ({ user }) => users.profileInfo(db, user.id));
  api.serve(accounts.currentUserViewerPaths, ({ user, query }) =>
    viewerPaths(db, user, app, { projects: query.include_shared_projects }),
  );

  api.serve(accounts.registerUser, ({ body }) => users.register(db, body, defaultGroup));
  api.serve(accounts.listUsers, ({ query }) => userStore.listUsers(db, query));
  api.serve(accounts.getUser, async ({ params, query }) => {
    const user = await users.readUser(db, params.user_id);
    return query.group_ids_names ? userStore.withGroups(db, user, defaultGroup) : user;
  });
  api.serve(accounts.updateUser, ({ params, body }) => users.update(db, params.user_id, body, defaultGroup));
  api.serve(accounts.setUserGroups, ({ params, body }) =>
    users.setGroups(db, params.user_id, body.group_ids, defaultGroup),
  );
  api.serve(accounts.usersCsv, ({ query, reply }) => {
    reply.header('content-disposition', 'attachment');
    return usersCsv(db, query);
  });
}

function groupRoutes(api: Api, { db, app }: AccountParts): void {
  const defaultGroup = app.SERVICE_DEFAULT_GROUP_NAME;

  api.serve(accounts.listGroups, ({ query }) => groupStore.listGroups(db, query.user_ids));
  api.serve(accounts.createGroup, ({ body }) => groups.createGroup(db, body.name));
  api.serve(accounts.getGroup, ({ params }) => groups.readGroup(db, params.group_id));
  api.serve(accounts.updateGroup, ({ params, body }) =>
    groups.renameGroup(db, params.group_id, body.name, defaultGroup),
  );
  api.serve(accounts.deleteGroup, ({ params }) => groups.deleteGroup(db, params.group_id, defaultGroup));
  api.serve(accounts.addUserToGroup, ({ params }) => groups.addUser(db, params.group_id, params.user_id));
  api.serve(accounts.removeUserFromGroup, ({ params }) =>
    groups.removeUser(db, params.group_id, params.user_id, defaultGroup),
  );
}

function resourceRoutes(api: Api, { db, app }: AccountParts): void {
  const backend = app.SERVICE_RUNNER_BACKEND;

  api.serve(accounts.listResources, () => resourceStore.listResources(db));
  api.serve(accounts.createResource, ({ body }) => resources.createResource(db, body, backend));
  api.serve(accounts.getResource, ({ params }) => resources.readResource(db, params.resource_id));
  api.serve(accounts.replaceResource, ({ params, body }) =>
    resources.replaceResource(db, params.resource_id, body, backend),
  );
  api.serve(accounts.deleteResource, ({ params }) => resources.deleteResource(db, params.resource_id));
  api.serve(accounts.listResourceProfiles, ({ params }) => resources.profilesOf(db, params.resource_id));
  api.serve(accounts.createProfile, ({ params, body }) => resources.createProfile(db, params.resource_id, body));
  api.serve(accounts.listProfiles, () => resourceStore.listProfiles(db));
  api.serve(accounts.getProfile, ({ params }) => resources.readProfile(db, params.profile_id));
  api.serve(accounts.replaceProfile, ({ params, body }) => resources.replaceProfile(db, params.profile_id, body));
  api.serve(accounts.deleteProfile, ({ params }) => resources.deleteProfile(db, params.profile_id));
}
