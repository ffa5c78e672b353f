/** What can be done with groups. The default group, if there is one, can neither go nor lose a member. */
import type { User, UserGroup } from '@service/contract';

import { brokenConstraint, type Database } from '../db/index.ts';
import { refuse } from '../http/index.ts';
import * as store from './store/groups.ts';
import { findUser } from './store/users.ts';
import { missingDefaultGroup } from './users.ts';

async function orNameTaken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (brokenConstraint(error) === 'user_groups_name_unique')
      throw refuse(422, 'There is a group with this name. Choose another.');
    throw error;
  }
}

export async function readGroup(db: Database, groupId: number): Promise<UserGroup> {
  const group = await store.findGroup(db, groupId);
  if (!group) throw refuse(404, 'There is no group with this id.');
  return group;
}

export const createGroup = (db: Database, name: string): Promise<UserGroup> => orNameTaken(store.insertGroup(db, name));

export async function renameGroup(
  db: Database,
  groupId: number,
  name: string | undefined,
  defaultGroup: string | null,
): Promise<UserGroup> {
  const group = await readGroup(db, groupId);
  if (name === undefined || name === group.name) return group;
  if (group.name === defaultGroup) throw refuse(422, 'The default group keeps its name.');
  await orNameTaken(store.renameGroup(db, groupId, name));
  return { ...group, name };
}

export async function deleteGroup(db: Database, groupId: number, defaultGroup: string | null): Promise<void> {
  const group = await readGroup(db, groupId);
  if (group.name === defaultGroup) throw refuse(422, 'The default group cannot be deleted.');
  await store.deleteGroup(db, groupId);
}

async function requireUser(db: Database, userId: number): Promise<void> {
  if (!(await findUser(db, userId))) throw refuse(404, 'There is no user with this id.');
}

export async function addUser(db: Database, groupId: number, userId: number): Promise<UserGroup> {
  await readGroup(db, groupId);
  await requireUser(db, userId);
  if (!(await store.addMember(db, groupId, userId))) throw refuse(422, 'This user is in the group already.');
  return readGroup(db, groupId);
}

export async function removeUser(
  db: Database,
  groupId: number,
  userId: number,
  defaultGroup: string | null,
): Promise<UserGroup> {
  const group = await readGroup(db, groupId);
  await requireUser(db, userId);
  if (defaultGroup !== null && (await store.groupIdOf(db, defaultGroup)) === undefined) {
    throw refuse(404, missingDefaultGroup(defaultGroup));
  }
  if (group.name === defaultGroup) throw refuse(422, 'Nobody can be removed from the default group.');
  if (!(await store.removeMember(db, groupId, userId))) throw refuse(422, 'This user is not in the group.');
  return readGroup(db, groupId);
}

type Executor = Parameters<typeof store.groupIdOf>[0];

/** The id of the group that everybody is in; undefined where there is none. */
export async function requireDefaultGroup(db: Executor, name: string | null): Promise<number | undefined> {
  if (name === null) return undefined;
  const id = await store.groupIdOf(db, name);
  if (id === undefined) throw refuse(404, [missingDefaultGroup(name)]);
  return id;
}

/** Refuses a group that does not exist, or that the caller is not in. */
export async function requireMembership(db: Executor, user: User, groupId: number): Promise<void> {
  const group = await store.membership(db, user.id, groupId);
  if (!group) throw refuse(404, 'There is no user group with this id.');
  if (!group.isMember) throw refuse(403, 'You are not in this user group. Choose one of your own groups.');
}
