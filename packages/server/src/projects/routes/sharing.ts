/** Who shares a project, on the wire. */
import { projects as operations } from '@service/contract';

import type { Api } from '../../http/index.ts';
import * as sharing from '../sharing.ts';
import { pageOfLinks } from '../store/sharing.ts';
import type { ProjectParts } from './projects.ts';

export function sharingRoutes(api: Api, { db }: ProjectParts): void {
  api.serve(operations.listInvitations, ({ user }) => sharing.listInvitations(db, user));

  api.serve(operations.listGuests, ({ user, params }) => sharing.listGuests(db, user, params.project_id));
  api.serve(operations.inviteGuest, ({ by, params, query, body }) =>
    sharing.inviteGuest(db, by, params.project_id, query.email, body.permissions),
  );
  api.serve(operations.updateGuest, ({ by, params, query, body }) =>
    sharing.updateGuest(db, by, params.project_id, query.email, body.permissions),
  );
  api.serve(operations.removeGuest, ({ by, params, query }) =>
    sharing.removeGuest(db, by, params.project_id, query.email),
  );

  api.serve(operations.getAccess, ({ user, params }) => sharing.readAccess(db, user, params.project_id));
  api.serve(operations.acceptInvitation, ({ by, params }) => sharing.acceptInvitation(db, by, params.project_id));
  api.serve(operations.leaveProject, ({ by, params }) => sharing.leaveProject(db, by, params.project_id));

  api.serve(operations.adminListLinks, ({ query: { page, page_size, ...filter } }) =>
    pageOfLinks(db, filter, { page, page_size }),
  );
  api.serve(operations.adminVerifyLink, ({ by, query }) =>
    sharing.verifyLink(db, by, query.guest_user_id, query.project_id),
  );
}
