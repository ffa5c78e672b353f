/**
 * Who shares a project: the owner invites, the guest accepts or leaves, the owner changes or ends it.
 *
 * Every change locks the project first, so that an invitation and a change of the owner cannot pass each other.
 */
import type { AuditAction, Permissions, User } from '@service/contract';

import { record } from '../audit/index.ts';
import type { Database } from '../db/index.ts';
import { type Acting, type Origin, refuse } from '../http/index.ts';
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

/** What is written down about a change of who shares the project. */
type Note = (action: AuditAction, details: Record<string, unknown>) => Promise<void>;

/** A change of who shares a project; one that does not exist has neither owner nor guests. */
const inProject = (
  db: Database,
  by: Origin,
  projectId: number,
  work: (trx: Executor, note: Note) => Promise<void>,
): Promise<void> =>
  db.transaction().execute(async (trx) => {
    const name = await lockProject(trx, projectId);
    await work(trx, (action, details) =>
      record(trx, by, { action, object: ['project', projectId, name ?? ''], details }),
    );
  });

/** What the owner does with somebody, known by address. */
const withGuest = (
  db: Database,
  by: Acting,
  projectId: number,
  email: string,
  work: (trx: Executor, userId: number, note: Note) => Promise<void>,
): Promise<void> =>
  inProject(db, by, projectId, async (trx, note) => {
    await checkOwner(trx, by.user, projectId);
    const userId = await store.userIdOf(trx, email);
    if (userId === undefined) throw refuse(404, NO_USER);
    if (userId === by.user.id) throw refuse(422, IS_OWNER);
    await work(trx, userId, note);
  });

export async function listGuests(db: Database, user: User, projectId: number) {
  await checkOwner(db, user, projectId);
  return store.listGuests(db, projectId);
}

export const inviteGuest = (db: Database, by: Acting, projectId: number, email: string, permissions: Permissions) =>
  withGuest(db, by, projectId, email, async (trx, userId, note) => {
    if (!(await store.insertGuest(trx, projectId, userId, permissions))) {
      throw refuse(422, 'This user is invited already. Change the permissions instead.');
    }
    await note('sharing.invite', { user: email, permissions });
  });

export const updateGuest = (db: Database, by: Acting, projectId: number, email: string, permissions: Permissions) =>
  withGuest(db, by, projectId, email, async (trx, userId, note) => {
    const before = await store.findLink(trx, projectId, userId);
    if (!(await store.updateGuest(trx, projectId, userId, { permissions }))) throw refuse(404, NO_GUEST);
    if (before?.permissions === permissions) return;
    await note('sharing.change', { user: email, permissions: { from: before?.permissions, to: permissions } });
  });

export const removeGuest = (db: Database, by: Acting, projectId: number, email: string) =>
  withGuest(db, by, projectId, email, async (trx, userId, note) => {
    if (!(await store.deleteGuest(trx, projectId, userId))) throw refuse(404, NO_GUEST);
    await note('sharing.remove', { user: email });
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

export const acceptInvitation = (db: Database, by: Acting, projectId: number): Promise<void> =>
  inProject(db, by, projectId, async (trx, note) => {
    const { id, email } = by.user;
    const link = await store.findLink(trx, projectId, id);
    if (!link || link.is_verified) throw refuse(404, NO_INVITATION);
    await store.updateGuest(trx, projectId, id, { is_verified: true });
    await note('sharing.accept', { user: email, permissions: link.permissions });
  });

export const leaveProject = (db: Database, by: Acting, projectId: number): Promise<void> =>
  inProject(db, by, projectId, async (trx, note) => {
    const { id, email } = by.user;
    const link = await store.findLink(trx, projectId, id);
    if (!link) throw refuse(404, 'This project is not shared with you.');
    if (link.is_owner) throw refuse(422, 'You own this project. Delete it, or ask an administrator to transfer it.');
    await store.deleteGuest(trx, projectId, id);
    await note('sharing.leave', { user: email });
  });

/** An administrator accepts an invitation for a guest account. */
export const verifyLink = (db: Database, by: Origin, userId: number, projectId: number): Promise<void> =>
  inProject(db, by, projectId, async (trx, note) => {
    const person = await store.findPerson(trx, userId);
    if (!person) throw refuse(404, 'There is no user with this id.');
    if (!person.is_guest) throw refuse(422, 'This is no guest account. Its owner accepts invitations themselves.');
    const link = await store.findLink(trx, projectId, userId);
    if (!link || link.is_verified) throw refuse(404, 'There is no open invitation of this user to this project.');
    if (link.permissions !== 'r') {
      throw refuse(422, 'Guest accounts only read. Ask the owner of the project to change the permissions to r.');
    }
    await store.updateGuest(trx, projectId, userId, { is_verified: true });
    await note('sharing.accept', { user: person.email, permissions: link.permissions });
  });
