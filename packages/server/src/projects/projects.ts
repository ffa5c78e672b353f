/** What can be done with projects, and what is refused. */
import type { Project, ProjectAdmin, ProjectCreate, ProjectUpdate, User } from '@service/contract';

import { usableProfile } from '../accounts/index.ts';
import { record } from '../audit/index.ts';
import { brokenConstraint, type Database } from '../db/index.ts';
import { type Acting, refuse } from '../http/index.ts';
import { openProject } from './access.ts';
import { hasSubmittedJob, lockProject } from './store/access.ts';
import * as store from './store/projects.ts';

const NO_PROJECT = 'There is no project with this id.';

/** A project is unique among those of its owner, whoever names it. */
async function orNameTaken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (brokenConstraint(error) === 'projects_name_unique') {
      throw refuse(422, 'There is a project with this name already. Choose another.');
    }
    throw error;
  }
}

export async function createProject(db: Database, user: User, body: ProjectCreate): Promise<Project> {
  const { resource } = await usableProfile(db, user);
  const project = { ...body, resource_id: resource.id, owner_id: user.id };
  const row = await orNameTaken(store.insertProject(db, project));
  return { ...row, is_owner: true, permissions: 'rwx', owner_email: user.email };
}

export async function updateProject(
  db: Database,
  user: User,
  projectId: number,
  change: ProjectUpdate & { is_starred?: boolean },
): Promise<Project> {
  const { project } = await openProject(db, user, projectId, 'rw');
  if (Object.keys(change).length === 0) return project;
  const changed = await orNameTaken(store.updateProject(db, projectId, change));
  if (!changed) throw refuse(404, NO_PROJECT);
  return { ...project, ...changed };
}

export async function deleteProject(db: Database, by: Acting, projectId: number): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockProject(trx, projectId);
    const { project } = await openProject(trx, by.user, projectId, 'rwx');
    if (!project.is_owner) throw refuse(403, `Only the owner, ${project.owner_email}, can delete this project.`);
    if (await hasSubmittedJob(trx, 'project_id', projectId)) {
      throw refuse(422, 'A job of this project is still running. Stop it or wait until it ends.');
    }
    await store.deleteProject(trx, projectId);
    await record(trx, by, { action: 'project.delete', object: ['project', projectId, project.name] });
  });
}

export async function readForAdministrators(db: Database, projectId: number): Promise<ProjectAdmin> {
  const project = await store.findForAdministrators(db, projectId);
  if (!project) throw refuse(404, NO_PROJECT);
  return project;
}
