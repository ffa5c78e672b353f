/**
 * Who shares a project: the owner invites, the guest accepts or leaves, the owner changes or ends it.
 *
 * Every change locks the project first, so that an invitation and a change of the owner cannot pass each other.
 */
import type { Permissions, User } from '@service/contract';

import type { Database } from '../db/index.ts';
import { refuse } from '../http/index.ts';
import { type Executor, findProject, lockProject } from './store/access.ts';
import * as store from './store/sharing.ts';

const NOT_YOURS = 'Only the owner of a project decides who shares it.';
const NO_USER = 'There is no user with this e-mail address. Check its spelling.';
const IS_OWNER = 'This is the owner of the project, who can do everything in it.';
const NO_GUEST = 'The project is not shared with this user.';
const NO_INVITATION = 'There is no invitation to this project that you could accept.';

async function checkOwner(db: Executor, user: User, projectId: number): Promise<void> {
  if (!(await store.isOwner(db, user.id, projectId))) throw refuse(403, NOT_YOURS);
}

async function inProject<T>(db: Database, projectId: number, work: (trx: Executor) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await lockProject(trx, projectId);
    return work(trx);
  });
}

/** What the owner does with somebody, known by address. */
const withGuest = (
  db: Database,
  owner: User,
  projectId: number,
  email: string,
  work: (trx: Executor, userId: number) => Promise<void>,
): Promise<void> =>
  inProject(db, projectId, async (trx) => {
    await checkOwner(trx, owner, projectId);
    const userId = await store.userIdOf(trx, email);
    if (userId === undefined) throw refuse(404, NO_USER);
    if (userId === owner.id) throw refuse(422, IS_OWNER);
    await work(trx, userId);
  });

export async function listGuests(db: Database, user: User, projectId: number) {
  await checkOwner(db, user, projectId);
  return store.listGuests(db, projectId);
}

export const inviteGuest = (db: Database, user: User, projectId: number, email: string, permissions: Permissions) =>
  withGuest(db, user, projectId, email, async (trx, userId) => {
    if (!(await store.insertGuest(trx, projectId, userId, permissions))) {
      throw refuse(422, 'This user is invited already. Change the permissions instead.');
    }
  });

export const updateGuest = (db: Database, user: User, projectId: number, email: string, permissions: Permissions) =>
  withGuest(db, user, projectId, email, async (trx, userId) => {
    if (!(await store.updateGuest(trx, projectId, userId, { permissions }))) throw refuse(404, NO_GUEST);
  });

export const removeGuest = (db: Database, user: User, projectId: number, email: string) =>
  withGuest(db, user, projectId, email, async (trx, userId) => {
    if (!(await store.deleteGuest(trx, projectId, userId))) throw refuse(404, NO_GUEST);
  });

/** Guest accounts answer no invitations: an administrator does it for them. */
export const listInvitations = async (db: Database, user: User) =>
  user.is_guest ? [] : store.listInvitations(db, user.id);

export async function readAccess(db: Database, user: User, projectId: number) {
  const found = await findProject(db, user.id, projectId);
  if (found?.granted == null) throw refuse(404, 'You have no access to a project with this id.');
  const { is_owner, permissions, owner_email } = found.project;
  return { is_owner, permissions, owner_email };
}

export const acceptInvitation = (db: Database, user: User, projectId: number): Promise<void> =>
  inProject(db, projectId, async (trx) => {
    const link = await store.findLink(trx, projectId, user.id);
    if (!link || link.is_verified) throw refuse(404, NO_INVITATION);
    await store.updateGuest(trx, projectId, user.id, { is_verified: true });
  });

export const leaveProject = (db: Database, user: User, projectId: number): Promise<void> =>
  inProject(db, projectId, async (trx) => {
    const link = await store.findLink(trx, projectId, user.id);
    if (!link) throw refuse(404, 'This project is not shared with you.');
    if (link.is_owner) throw refuse(422, 'You own this project. Delete it, or ask an administrator to transfer it.');
    await store.deleteGuest(trx, projectId, user.id);
  });

/** An administrator accepts an invitation for a guest account. */
export const verifyLink = (db: Database, userId: number, projectId: number): Promise<void> =>
  inProject(db, projectId, async (trx) => {
    const isGuest = await store.isServiceGuest(trx, userId);
    if (isGuest === undefined) throw refuse(404, 'There is no user with this id.');
    if (!isGuest) throw refuse(422, 'This is no guest account. Its owner accepts invitations themselves.');
    const link = await store.findLink(trx, projectId, userId);
    if (!link || link.is_verified) throw refuse(404, 'There is no open invitation of this user to this project.');
    if (link.permissions !== 'r') {
      throw refuse(422, 'Guest accounts only read. Ask the owner of the project to change the permissions to r.');
    }
    await store.updateGuest(trx, projectId, userId, { is_verified: true });
  });
