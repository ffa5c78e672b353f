/** Accounts and administration on the wire. */
import { setTimeout as sleep } from 'node:timers/promises';

import { accounts } from '@service/contract';

import { record } from '../audit/index.ts';
import type { Database } from '../db/index.ts';
import { type Acting, type Api, type Caller, invalid } from '../http/index.ts';
import type { Settings } from '../settings/index.ts';
import { createDevices } from './devices.ts';
import * as groups from './groups.ts';
import { makeToken, revokeToken } from './personal-tokens.ts';
import * as resources from './resources.ts';
import { renewedSession, signIn } from './sign-in.ts';
import * as groupStore from './store/groups.ts';
import * as resourceStore from './store/resources.ts';
import * as tokenStore from './store/tokens.ts';
import * as userStore from './store/users.ts';
import { createThrottle } from './throttle.ts';
import type { Tokens } from './tokens.ts';
import type { UnderWay } from './under-way.ts';
import * as users from './users.ts';
import { usersCsv } from './users-csv.ts';
import { viewerPaths } from './viewer-paths.ts';

const IMPERSONATION_SECONDS = 7200;
/** Answered by a login, and shown again with the next. */
const DEVICE_HEADER = 'x-known-device';

export interface AccountParts {
  db: Database;
  tokens: Tokens;
  underWay: UnderWay;
  app: Settings['app'];
}

export function accountRoutes(api: Api, parts: AccountParts): void {
  sessionRoutes(api, parts);
  personalTokenRoutes(api, parts);
  userRoutes(api, parts);
  groupRoutes(api, parts);
  resourceRoutes(api, parts);
}

const bearer = (access_token: string) => ({ access_token, token_type: 'bearer' });

function sessionRoutes(api: Api, { db, tokens, app }: AccountParts): void {
  if (app.SERVICE_DISABLE_BASIC_AUTH === 'false') {
    const throttle = createThrottle(sleep);
    const devices = createDevices(app.JWT_SECRET_KEY ?? '');
    api.serveAnyone(accounts.login, async ({ body, request, reply }) => {
      const name = body.username.toLowerCase();
      const device = await devices.read([request.headers[DEVICE_HEADER]].flat()[0], name);
      const { username, password } = body;
      const account = await signIn(db, throttle, { username, password, address: request.ip, device });
      reply.header(DEVICE_HEADER, await devices.note(name));
      return bearer(await tokens.issue(account.id, app.JWT_EXPIRE_SECONDS, account));
    });
  }
  api.serve(accounts.logout, () => undefined);

  const impersonate = async (by: Acting, { user: { id }, credential }: Caller, userId: number) => {
    const user = await users.readUser(db, userId);
    const generation = (await userStore.generationOf(db, user.id)) ?? 0;
    if (credential.kind !== 'session') throw new Error('impersonation is for sessions only');
    // written down first: a token is never given without
    await record(db, by, { action: 'user.impersonate', object: ['user', user.id, user.email] });
    // who impersonates from an impersonation is still the one who began
    const actor = credential.actor ?? { id, generation: credential.generation };
    return bearer(await tokens.issue(user.id, IMPERSONATION_SECONDS, { generation, actor }));
  };
  api.serve(accounts.impersonate, ({ by, caller, params }) => impersonate(by, caller, params.user_id));
  api.serve(accounts.impersonateByPost, ({ by, caller, query, body }) => {
    const userId = query.user_id ?? body?.user_id;
    if (userId === undefined) {
      throw invalid([
        { type: 'missing', loc: ['query', 'user_id'], msg: 'Say whose token you want: user_id is missing.' },
      ]);
    }
    return impersonate(by, caller, userId);
  });
}

function personalTokenRoutes(api: Api, { db, app, underWay }: AccountParts): void {
  api.serve(accounts.listTokens, ({ user }) => tokenStore.listTokens(db, user.id));
  api.serve(accounts.createToken, ({ by, body, caller }) =>
    makeToken(db, by, caller, body, app.SERVICE_MAX_TOKEN_DAYS),
  );
  api.serve(accounts.revokeToken, async ({ by, params }) => {
    await revokeToken(db, by, params.token_id);
    underWay.look();
  });
  const signOutEverywhere = async (by: Acting, userId: number) => {
    await users.signOutEverywhere(db, by, userId);
    underWay.look();
  };
  api.serve(accounts.signOutEverywhere, ({ by, user }) => {
    users.checkChangesItself(user);
    return signOutEverywhere(by, user.id);
  });
  api.serve(accounts.signOutUserEverywhere, ({ by, params }) => signOutEverywhere(by, params.user_id));
}

function userRoutes(api: Api, { db, tokens, underWay, app }: AccountParts): void {
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
  api.serve(accounts.updateUser, async ({ by, params, body, caller, request, reply }) => {
    const own = params.user_id === caller.user.id && caller.actor === undefined;
    const { user, generation } = await users.update(db, by, params.user_id, body, { defaultGroup, own });
    if (generation === undefined) return user;
    underWay.look();
    if (own && user.is_active) reply.headers(await renewedSession(tokens, caller, generation, request.protocol));
    return user;
  });
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
