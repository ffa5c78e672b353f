/** An administrator gives a project to another owner: everything in it must go on working for that person. */
import { covers } from '@service/contract';

import { record } from '../audit/index.ts';
import { brokenConstraint, type Database } from '../db/index.ts';
import { type Origin, refuse } from '../http/index.ts';
import type { Executor } from './store/access.ts';
import * as store from './store/sharing.ts';

const NAME_TAKEN = 'The new owner has a project with this name already. Rename one of the two first.';

function checkNewOwner(person: store.Person | undefined, ownerId: number): asserts person is store.Person {
  if (!person) throw refuse(404, 'There is no user with this id.');
  if (person.resource_id === null) {
    throw refuse(422, `${person.email} has no computational profile. Give the account one first.`);
  }
  if (person.is_guest) throw refuse(422, `${person.email} is a guest account, which cannot own projects.`);
  if (person.id === ownerId) throw refuse(422, `${person.email} owns this project already.`);
}

async function checkFolders(db: Executor, projectId: number, person: store.Person): Promise<void> {
  const zarrDirs = await store.zarrDirsIn(db, projectId);
  const outside = zarrDirs.find((zarrDir) => !person.project_dirs.some((dir) => covers(dir, zarrDir)));
  if (outside !== undefined) {
    throw refuse(422, `The project has a dataset in ${outside}. Give ${person.email} a project folder above it first.`);
  }
}

async function transfer(db: Database, by: Origin, projectId: number, userId: number): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const project = await store.lockForTransfer(trx, projectId);
    if (!project) throw refuse(404, 'There is no project with this id.');
    const people = await store.lockPeople(trx, [project.owner_id, userId]);
    const next = people.find((person) => person.id === userId);
    checkNewOwner(next, project.owner_id);
    const current = people.find((person) => person.id === project.owner_id)!;
    if (current.resource_id === null) {
      throw refuse(422, `${current.email}, who owns the project, has no profile. Give the account one first.`);
    }
    if (await store.ownsProjectNamed(trx, userId, project.name)) throw refuse(422, NAME_TAKEN);
    if (current.resource_id !== next.resource_id) {
      throw refuse(422, `${next.email} works on another resource than ${current.email}.`);
    }
    await checkFolders(trx, projectId, next);
    await store.setOwner(trx, projectId, userId);
    const details = { owner: { from: current.email, to: next.email } };
    await record(trx, by, { action: 'project.transfer', object: ['project', projectId, project.name], details });
  });
}

export async function transferProject(db: Database, by: Origin, projectId: number, userId: number): Promise<void> {
  try {
    await transfer(db, by, projectId, userId);
  } catch (error) {
    // a project of that name that was made meanwhile
    if (brokenConstraint(error) === 'projects_name_unique') throw refuse(422, NAME_TAKEN);
    throw error;
  }
}
