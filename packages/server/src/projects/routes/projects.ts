/** Projects on the wire. */
import { projects as operations } from '@service/contract';

import type { Database } from '../../db/index.ts';
import type { Api } from '../../http/index.ts';
import { openProject } from '../access.ts';
import * as projects from '../projects.ts';
import { search } from '../search.ts';
import * as store from '../store/projects.ts';
import { transferProject } from '../transfer.ts';

export interface ProjectParts {
  db: Database;
  /** The group that everybody is in. */
  defaultGroup: string | null;
}

export function projectRoutes(api: Api, { db }: ProjectParts): void {
  api.serve(operations.listProjects, ({ user, query }) => store.listProjects(db, user.id, query.is_owner));
  api.serve(operations.createProject, ({ user, body }) => projects.createProject(db, user, body));
  api.serve(
    operations.getProject,
    async ({ user, params }) => (await openProject(db, user, params.project_id, 'r')).project,
  );
  api.serve(operations.updateProject, ({ user, params, body }) =>
    projects.updateProject(db, user, params.project_id, body),
  );
  api.serve(operations.deleteProject, ({ by, params }) => projects.deleteProject(db, by, params.project_id));
  api.serve(operations.starProject, async ({ user, params }) => {
    await projects.updateProject(db, user, params.project_id, { is_starred: true });
  });
  api.serve(operations.unstarProject, async ({ user, params }) => {
    await projects.updateProject(db, user, params.project_id, { is_starred: false });
  });
  api.serve(operations.search, ({ user, query }) => search(db, user, query.q, query.limit));

  api.serve(operations.adminListProjects, ({ query: { page, page_size, ...filter } }) =>
    store.pageForAdministrators(db, filter, { page, page_size }),
  );
  api.serve(operations.adminGetProject, ({ params }) => projects.readForAdministrators(db, params.project_id));
  api.serve(operations.transferProject, ({ by, params, query }) =>
    transferProject(db, by, params.project_id, query.user_id),
  );
}
