/** Accounts, on the wire. */
import { accounts } from '@service/contract';

import type { Api } from '../../http/index.ts';
import { renewedSession } from '../sign-in.ts';
import * as store from '../store/users.ts';
import * as users from '../users.ts';
import { usersCsv } from '../users-csv.ts';
import { viewerPaths } from '../viewer-paths.ts';
import type { AccountParts } from './sessions.ts';

export function userRoutes(api: Api, { db, tokens, underWay, app }: AccountParts): void {
  const defaultGroup = app.SERVICE_DEFAULT_GROUP_NAME;

  api.serve(accounts.currentUser, ({ user, query }) =>
    query.group_ids_names ? store.withGroups(db, user, defaultGroup) : user,
  );
  api.serve(accounts.updateCurrentUser, ({ by, body }) => users.updateSelf(db, by, body, defaultGroup));
  api.serve(accounts.currentUserProfileInfo, ({ user }) => users.profileInfo(db, user.id));
  api.serve(accounts.currentUserViewerPaths, ({ user, query }) =>
    viewerPaths(db, user, app, { projects: query.include_shared_projects }),
  );

  api.serve(accounts.registerUser, ({ by, body }) => users.register(db, by, body, defaultGroup));
  api.serve(accounts.listUsers, ({ query }) => store.listUsers(db, query));
  api.serve(accounts.getUser, async ({ params, query }) => {
    const user = await users.readUser(db, params.user_id);
    return query.group_ids_names ? store.withGroups(db, user, defaultGroup) : user;
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
