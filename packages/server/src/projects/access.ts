/** The check that every operation inside a project begins with: 404 unknown, 403 not allowed. */
import type { Permissions, User } from '@service/contract';

import { refuse } from '../http/index.ts';
import { type Executor, findProject, type Found, type OpenProject } from './store/access.ts';

const NEEDED: Record<Permissions, string> = {
  r: 'read',
  rw: 'change',
  rwx: 'run jobs in',
};

/** `rwx` contains `rw` contains `r`. */
export const openProject = async (
  db: Executor,
  user: User,
  projectId: number,
  needed: Permissions,
): Promise<OpenProject> => requireProject(await findProject(db, user.id, projectId), needed);

/** The same for a project that was found together with something in it. */
export function requireProject(found: Found | undefined, needed: Permissions): OpenProject {
  if (!found) throw refuse(404, 'There is no project with this id.');
  const { granted, ...project } = found;
  if (!granted?.includes(needed)) {
    const lacking = granted ? `permission to ${NEEDED[needed]}` : 'access to';
    throw refuse(403, `You don't have ${lacking} this project. Ask its owner to share it with you.`);
  }
  return project;
}
