/** What can be done with groups. The default group, if there is one, can neither go nor lose a member. */
import type { User, UserGroup } from '@service/contract';

import { type Entry, record } from '../audit/index.ts';
import { brokenConstraint, type Database } from '../db/index.ts';
import { type Origin, refuse } from '../http/index.ts';
import * as store from './store/groups.ts';
import { findUser } from './store/users.ts';
import { missingDefaultGroup } from './users.ts';

type Executor = Parameters<typeof store.groupIdOf>[0];

async function orNameTaken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (brokenConstraint(error) === 'user_groups_name_unique')
      throw refuse(422, 'There is a group with this name. Choose another.');
    throw error;
  }
}

export async function readGroup(db: Executor, groupId: number): Promise<UserGroup> {
  const group = await store.findGroup(db, groupId);
  if (!group) throw refuse(404, 'There is no group with this id.');
  return group;
}

export const createGroup = (db: Database, by: Origin, name: string): Promise<UserGroup> =>
  orNameTaken(
    db.transaction().execute(async (trx) => {
      const group = await store.insertGroup(trx, name);
      await record(trx, by, { action: 'group.create', object: ['group', group.id, name] });
      return group;
    }),
  );

export async function renameGroup(
  db: Database,
  by: Origin,
  groupId: number,
  name: string | undefined,
  defaultGroup: string | null,
): Promise<UserGroup> {
  const group = await readGroup(db, groupId);
  if (name === undefined || name === group.name) return group;
  if (group.name === defaultGroup) throw refuse(422, 'The default group keeps its name.');
  await orNameTaken(
    db.transaction().execute(async (trx) => {
      await store.renameGroup(trx, groupId, name);
      const details = { name: { from: group.name, to: name } };
      await record(trx, by, { action: 'group.rename', object: ['group', groupId, group.name], details });
    }),
  );
  return { ...group, name };
}

export async function deleteGroup(
  db: Database,
  by: Origin,
  groupId: number,
  defaultGroup: string | null,
): Promise<void> {
  const group = await readGroup(db, groupId);
  if (group.name === defaultGroup) throw refuse(422, 'The default group cannot be deleted.');
  await db.transaction().execute(async (trx) => {
    if (!(await store.deleteGroup(trx, groupId))) return;
    const details = { num_members: group.user_ids?.length };
    await record(trx, by, { action: 'group.delete', object: ['group', groupId, group.name], details });
  });
}

async function requireUser(db: Executor, userId: number): Promise<User> {
  const user = await findUser(db, userId);
  if (!user) throw refuse(404, 'There is no user with this id.');
  return user;
}

export const addUser = (db: Database, by: Origin, groupId: number, userId: number): Promise<UserGroup> =>
  db.transaction().execute(async (trx) => {
    const group = await readGroup(trx, groupId);
    const { email } = await requireUser(trx, userId);
    if (!(await store.addMember(trx, groupId, userId))) throw refuse(422, 'This user is in the group already.');
    const object: Entry['object'] = ['group', groupId, group.name];
    await record(trx, by, { action: 'group.add_member', object, details: { user: email } });
    return readGroup(trx, groupId);
  });

export async function removeUser(
  db: Database,
  by: Origin,
  groupId: number,
  userId: number,
  defaultGroup: string | null,
): Promise<UserGroup> {
  const group = await readGroup(db, groupId);
  const { email } = await requireUser(db, userId);
  if (defaultGroup !== null && (await store.groupIdOf(db, defaultGroup)) === undefined) {
    throw refuse(404, missingDefaultGroup(defaultGroup));
  }
  if (group.name === defaultGroup) throw refuse(422, 'Nobody can be removed from the default group.');
  await db.transaction().execute(async (trx) => {
    if (!(await store.removeMember(trx, groupId, userId))) throw refuse(422, 'This user is not in the group.');
    const object: Entry['object'] = ['group', groupId, group.name];
    await record(trx, by, { action: 'group.remove_member', object, details: { user: email } });
  });
  return readGroup(db, groupId);
}

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
