/** Accounts and administration on the wire. */
import { setTimeout as sleep } from 'node:timers/promises';

import { accounts } from '@service/contract';

import { record } from '../audit/index.ts';
import type { Database } from '../db/index.ts';
import { type Acting, type Api, invalid } from '../http/index.ts';
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
    api.serveAnyone(accounts.login, async ({ body, request, reply }) => {
      const userId = await signIn(db, throttle, { ...body, address: request.ip });
      reply.header('cache-control', 'no-store');
      return bearer(await tokens.issue(userId, app.JWT_EXPIRE_SECONDS));
    });
  }
  api.serve(accounts.logout, () => undefined);

  const impersonate = async (by: Acting, userId: number) => {
    const user = await users.readUser(db, userId);
    // written down first: a token is never given without
    await record(db, by, { action: 'user.impersonate', object: ['user', user.id, user.email] });
    return bearer(await tokens.issue(user.id, IMPERSONATION_SECONDS));
  };
  api.serve(accounts.impersonate, ({ by, params }) => impersonate(by, params.user_id));
  api.serve(accounts.impersonateByPost, ({ by, query, body }) => {
    const userId = query.user_id ?? body?.user_id;
    if (userId === undefined) {
      throw invalid([
        { type: 'missing', loc: ['query', 'user_id'], msg: 'Say whose token you want: user_id is missing.' },
      ]);
    }
    return impersonate(by, userId);
  });
}

function userRoutes(api: Api, { db, app }: AccountParts): void {
  const defaultGroup = app.SERVICE_DEFAULT_GROUP_NAME;

  api.serve(accounts.currentUser, ({ user, query }) =>
    query.group_ids_names ? userStore.withGroups(db, user, defaultGroup) : user,
  );
  api.serve(accounts.updateCurrentUser, ({ by, body }) => users.updateSelf(db, by, body, defaultGroup));
  api.serve(accounts.currentUserProfileInfo, ({ user }) => users.profileInfo(db, user.id));
  api.serve(accounts.currentUserViewerPaths, ({ user, query }) =>
    viewerPaths(db, user, app, { projects: query.include_shared_projects }),
  );

  api.serve(accounts.registerUser, ({ by, body }) => users.register(db, by, body, defaultGroup));
  api.serve(accounts.listUsers, ({ query }) => userStore.listUsers(db, query));
  api.serve(accounts.getUser, async ({ params, query }) => {
    const user = await users.readUser(db, params.user_id);
    return query.group_ids_names ? userStore.withGroups(db, user, defaultGroup) : user;
  });
  api.serve(accounts.updateUser, ({ by, params, body }) => users.update(db, by, params.user_id, body, defaultGroup));
  api.serve(accounts.setUserGroups, ({ by, params, body }) =>
    users.setGroups(db, by, params.user_id, body.group_ids, defaultGroup),
  );
  api.serve(accounts.usersCsv, ({ query, reply }) => {
    reply.header('content-disposition', 'attachment');
    return usersCsv(db, query);
  });
}

function groupRoutes(api: Api, { db, app }: AccountParts): void {
  const defaultGroup = app.SERVICE_DEFAULT_GROUP_NAME;

  api.serve(accounts.listGroups, ({ query }) => groupStore.listGroups(db, query.user_ids));
  api.serve(accounts.createGroup, ({ by, body }) => groups.createGroup(db, by, body.name));
  api.serve(accounts.getGroup, ({ params }) => groups.readGroup(db, params.group_id));
  api.serve(accounts.updateGroup, ({ by, params, body }) =>
    groups.renameGroup(db, by, params.group_id, body.name, defaultGroup),
  );
  api.serve(accounts.deleteGroup, ({ by, params }) => groups.deleteGroup(db, by, params.group_id, defaultGroup));
  api.serve(accounts.addUserToGroup, ({ by, params }) => groups.addUser(db, by, params.group_id, params.user_id));
  api.serve(accounts.removeUserFromGroup, ({ by, params }) =>
    groups.removeUser(db, by, params.group_id, params.user_id, defaultGroup),
  );
}

function resourceRoutes(api: Api, { db, app }: AccountParts): void {
  const backend = app.SERVICE_RUNNER_BACKEND;

  api.serve(accounts.listResources, () => resourceStore.listResources(db));
  api.serve(accounts.createResource, ({ by, body }) => resources.createResource(db, by, body, backend));
  api.serve(accounts.getResource, ({ params }) => resources.readResource(db, params.resource_id));
  api.serve(accounts.replaceResource, ({ by, params, body }) =>
    resources.replaceResource(db, by, params.resource_id, body, backend),
  );
  api.serve(accounts.deleteResource, ({ by, params }) => resources.deleteResource(db, by, params.resource_id));
  api.serve(accounts.listResourceProfiles, ({ params }) => resources.profilesOf(db, params.resource_id));
  api.serve(accounts.createProfile, ({ by, params, body }) =>
    resources.createProfile(db, by, params.resource_id, body),
  );
  api.serve(accounts.listProfiles, () => resourceStore.listProfiles(db));
  api.serve(accounts.getProfile, ({ params }) => resources.readProfile(db, params.profile_id));
  api.serve(accounts.replaceProfile, ({ by, params, body }) =>
    resources.replaceProfile(db, by, params.profile_id, body),
  );
  api.serve(accounts.deleteProfile, ({ by, params }) => resources.deleteProfile(db, by, params.profile_id));
}
