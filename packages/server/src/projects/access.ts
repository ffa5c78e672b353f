/** The check that every operation inside a project begins with: 404 unknown, 403 not allowed. */
import type { Permissions, User } from '@service/contract';

import { refuse } from '../http/index.ts';
import { type Executor, findProject, type OpenProject } from './store/access.ts';

const NEEDED: Record<Permissions, string> = {
  r: 'read',
  rw: 'change',
  rwx: 'run jobs in',
};

/** `rwx` contains `rw` contains `r`. */
export async function openProject(
  db: Executor,
  user: User,
  projectId: number,
  needed: Permissions,
): Promise<OpenProject> {
  const found = await findProject(db, user.id, projectId);
  if (!found) throw refuse(404, 'There is no project with this id.');
  const { granted, ...project } = found;
  if (!granted?.includes(needed)) {
    throw refuse(403, `You may not ${NEEDED[needed]} this project. Ask its owner to share it with you.`);
  }
  return project;
}
