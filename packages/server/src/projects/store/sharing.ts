/** The SQL of who shares a project, and of handing it over. */
import { sql, type Transaction } from 'kysely';

import type { PageRequest, Permissions } from '@service/contract';

import { contains, pageOf, rowsOf, type Tables } from '../../db/index.ts';
import type { Executor } from './access.ts';

export async function isOwner(db: Executor, userId: number, projectId: number): Promise<boolean> {
  const row = await db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', projectId)
    .where('owner_id', '=', userId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Addresses are compared as they are written. */
export async function userIdOf(db: Executor, email: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where(sql<string>`lower(email)`, '=', sql<string>`lower(${email})`)
    .where('email', '=', email)
    .executeTakeFirst();
  return row?.id;
}

export const listGuests = (db: Executor, projectId: number) =>
  db
    .selectFrom('project_guests')
    .innerJoin('users', 'users.id', 'project_guests.user_id')
    .select(['users.email', 'project_guests.is_verified', 'project_guests.permissions'])
    .where('project_guests.project_id', '=', projectId)
    .orderBy(sql`users.email collate "C"`)
    .execute();

/** False when there is such a guest already. */
export async function insertGuest(
  db: Executor,
  projectId: number,
  userId: number,
  permissions: Permissions,
): Promise<boolean> {
  const rows = await db
    .insertInto('project_guests')
    .values({ project_id: projectId, user_id: userId, permissions })
    .onConflict((conflict) => conflict.constraint('project_guests_unique').doNothing())
    .returning('user_id')
    .execute();
  return rows.length > 0;
}

/** False when there is no such guest. */
export async function updateGuest(
  db: Executor,
  projectId: number,
  userId: number,
  change: { permissions: Permissions } | { is_verified: true },
): Promise<boolean> {
  const rows = await db
    .updateTable('project_guests')
    .set(change)
    .where('project_id', '=', projectId)
    .where('user_id', '=', userId)
    .returning('user_id')
    .execute();
  return rows.length > 0;
}

/** False when there is no such guest. */
export async function deleteGuest(db: Executor, projectId: number, userId: number): Promise<boolean> {
  const rows = await db
    .deleteFrom('project_guests')
    .where('project_id', '=', projectId)
    .where('user_id', '=', userId)
    .returning('user_id')
    .execute();
  return rows.length > 0;
}

export const listInvitations = (db: Executor, userId: number) =>
  db
    .selectFrom('project_guests')
    .innerJoin('projects', 'projects.id', 'project_guests.project_id')
    .innerJoin('users as owner', 'owner.id', 'projects.owner_id')
    .select([
      'projects.id as project_id',
      'projects.name as project_name',
      'owner.email as owner_email',
      'project_guests.permissions as guest_permissions',
    ])
    .where('project_guests.user_id', '=', userId)
    .where('project_guests.is_verified', '=', false)
    .orderBy('projects.name')
    .orderBy('projects.id')
    .execute();

/** What somebody is in a project, invited or accepted. */
export const findLink = (db: Executor, projectId: number, userId: number) =>
  db
    .selectFrom('project_links')
    .select(['is_owner', 'is_verified', 'permissions'])
    .where('project_id', '=', projectId)
    .where('user_id', '=', userId)
    .executeTakeFirst();

interface LinkFilter {
  user_id?: number | undefined;
  project_id?: number | undefined;
  project_name?: string | undefined;
  is_owner?: boolean | undefined;
  is_verified?: boolean | undefined;
}

export async function pageOfLinks(db: Executor, filter: LinkFilter, page: PageRequest) {
  let query = db
    .selectFrom('project_links as link')
    .innerJoin('projects', 'projects.id', 'link.project_id')
    .innerJoin('users', 'users.id', 'link.user_id');
  if (filter.user_id !== undefined) query = query.where('link.user_id', '=', filter.user_id);
  if (filter.project_id !== undefined) query = query.where('link.project_id', '=', filter.project_id);
  if (filter.project_name !== undefined) query = query.where('projects.name', 'ilike', contains(filter.project_name));
  if (filter.is_owner !== undefined) query = query.where('link.is_owner', '=', filter.is_owner);
  if (filter.is_verified !== undefined) query = query.where('link.is_verified', '=', filter.is_verified);
  const { limit, offset } = rowsOf(page);
  const { count } = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  const items = await query
    .select([
      'link.user_id',
      'users.email as user_email',
      'link.project_id',
      'projects.name as project_name',
      'link.is_verified',
      'link.is_owner',
      'link.permissions',
    ])
    .orderBy(sql`users.email collate "C"`)
    .orderBy('projects.name')
    .orderBy('projects.id')
    .limit(limit)
    .offset(offset)
    .execute();
  return pageOf(page, count, items);
}

export const findPerson = (db: Executor, userId: number) =>
  db.selectFrom('users').select(['email', 'is_guest']).where('id', '=', userId).executeTakeFirst();

/** The project with its owner, locked until the transaction ends. */
export const lockForTransfer = (db: Transaction<Tables>, projectId: number) =>
  db.selectFrom('projects').select(['name', 'owner_id']).where('id', '=', projectId).forUpdate().executeTakeFirst();

export interface Person {
  id: number;
  email: string;
  is_guest: boolean;
  project_dirs: string[];
  /** Null without a profile. */
  resource_id: number | null;
}

/** Locks accounts, so that their folders and profiles stay as they are read. */
export const lockPeople = (db: Transaction<Tables>, userIds: number[]): Promise<Person[]> =>
  db
    .selectFrom('users')
    .leftJoin('profiles', 'profiles.id', 'users.profile_id')
    .select(['users.id', 'users.email', 'users.is_guest', 'users.project_dirs', 'profiles.resource_id'])
    .where('users.id', 'in', userIds)
    .orderBy('users.id')
    .forNoKeyUpdate('users')
    .execute();

export async function ownsProjectNamed(db: Executor, userId: number, name: string): Promise<boolean> {
  const row = await db
    .selectFrom('projects')
    .select('id')
    .where('owner_id', '=', userId)
    .where('name', '=', name)
    .executeTakeFirst();
  return row !== undefined;
}

export async function zarrDirsIn(db: Executor, projectId: number): Promise<string[]> {
  const rows = await db.selectFrom('datasets').select('zarr_dir').where('project_id', '=', projectId).execute();
  return rows.map((row) => row.zarr_dir);
}

/** The new owner is no guest any more; the former one keeps nothing. */
export async function setOwner(db: Transaction<Tables>, projectId: number, userId: number): Promise<void> {
  await deleteGuest(db, projectId, userId);
  await db.updateTable('projects').set({ owner_id: userId }).where('id', '=', projectId).execute();
}
