/** Who shares a project, on the wire. */
import { projects as operations } from '@service/contract';

import type { Api } from '../../http/index.ts';
import * as sharing from '../sharing.ts';
import { pageOfLinks } from '../store/sharing.ts';
import type { ProjectParts } from './projects.ts';

export function sharingRoutes(api: Api, { db }: ProjectParts): void {
  api.serve(operations.listInvitations, ({ user }) => sharing.listInvitations(db, user));

  api.serve(operations.listGuests, ({ user, params }) => sharing.listGuests(db, user, params.project_id));
  api.serve(operations.inviteGuest, ({ user, params, query, body }) =>
    sharing.inviteGuest(db, user, params.project_id, query.email, body.permissions),
  );
  api.serve(operations.updateGuest, ({ user, params, query, body }) =>
    sharing.updateGuest(db, user, params.project_id, query.email, body.permissions),
  );
  api.serve(operations.removeGuest, ({ user, params, query }) =>
    sharing.removeGuest(db, user, params.project_id, query.email),
  );

  api.serve(operations.getAccess, ({ user, params }) => sharing.readAccess(db, user, params.project_id));
  api.serve(operations.acceptInvitation, ({ user, params }) => sharing.acceptInvitation(db, user, params.project_id));
  api.serve(operations.leaveProject, ({ user, params }) => sharing.leaveProject(db, user, params.project_id));

  api.serve(operations.adminListLinks, ({ query: { page, page_size, ...filter } }) =>
    pageOfLinks(db, filter, { page, page_size }),
  );
  api.serve(operations.adminVerifyLink, ({ query }) => sharing.verifyLink(db, query.guest_user_id, query.project_id));
}
