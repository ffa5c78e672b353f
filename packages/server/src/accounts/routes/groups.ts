/** Groups of people, on the wire. */
import { accounts } from '@service/contract';

import type { Api } from '../../http/index.ts';
import * as groups from '../groups.ts';
import { listGroups } from '../store/groups.ts';
import type { AccountParts } from './sessions.ts';

export function groupRoutes(api: Api, { db, app }: AccountParts): void {
  const defaultGroup = app.SERVICE_DEFAULT_GROUP_NAME;

  api.serve(accounts.listGroups, ({ query }) => listGroups(db, query.user_ids));
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
