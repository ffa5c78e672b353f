/** The SQL of groups. */
import { type ExpressionBuilder, sql, type Transaction } from 'kysely';

import type { UserGroup } from '@service/contract';

import type { Database, Tables } from '../../db/index.ts';

type Executor = Database | Transaction<Tables>;

const memberIds = (eb: ExpressionBuilder<Tables, 'user_groups'>) =>
  eb
    .selectFrom('group_members')
    .select(sql<number[]>`coalesce(array_agg(group_members.user_id order by group_members.user_id), '{}')`.as('ids'))
    .whereRef('group_members.group_id', '=', 'user_groups.id')
    .as('user_ids');

const COLUMNS = ['user_groups.id', 'user_groups.name', 'user_groups.timestamp_created'] as const;

export async function listGroups(db: Database, withMembers: boolean): Promise<UserGroup[]> {
  const query = db.selectFrom('user_groups').select(COLUMNS).orderBy('user_groups.id');
  if (withMembers) return query.select(memberIds).execute();
  return (await query.execute()).map((group) => ({ ...group, user_ids: null }));
}

export const findGroup = (db: Executor, groupId: number) =>
  db
    .selectFrom('user_groups')
    .select(COLUMNS)
    .select(memberIds)
    .where('id', '=', groupId)
    .executeTakeFirst() as Promise<UserGroup | undefined>;

export async function groupIdOf(db: Executor, name: string): Promise<number | undefined> {
  const row = await db.selectFrom('user_groups').select('id').where('name', '=', name).executeTakeFirst();
  return row?.id;
}

export async function knownGroupIds(db: Executor, ids: number[]): Promise<number[]> {
  const rows = await db.selectFrom('user_groups').select('id').where('id', 'in', ids).execute();
  return rows.map((row) => row.id);
}

export async function insertGroup(db: Executor, name: string): Promise<UserGroup> {
  const row = await db
    .insertInto('user_groups')
    .values({ name })
    .returning(['id', 'name', 'timestamp_created'])
    .executeTakeFirstOrThrow();
  return { ...row, user_ids: [] };
}

/** Creates the group unless it is there; the id of a new one. */
export async function ensureGroup(db: Executor, name: string): Promise<number | undefined> {
  const made = await db
    .insertInto('user_groups')
    .values({ name })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return made?.id;
}

export async function renameGroup(db: Executor, groupId: number, name: string): Promise<void> {
  await db.updateTable('user_groups').set({ name }).where('id', '=', groupId).execute();
}

/** True when there was such a group. */
export async function deleteGroup(db: Executor, groupId: number): Promise<boolean> {
  return (await db.deleteFrom('user_groups').where('id', '=', groupId).returning('id').execute()).length > 0;
}

/** True when the membership is new. */
export async function addMember(db: Executor, groupId: number, userId: number): Promise<boolean> {
  const added = await db
    .insertInto('group_members')
    .values({ group_id: groupId, user_id: userId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('group_id')
    .execute();
  return added.length > 0;
}

/** True when there was such a membership. */
export async function removeMember(db: Executor, groupId: number, userId: number): Promise<boolean> {
  const removed = await db
    .deleteFrom('group_members')
    .where('group_id', '=', groupId)
    .where('user_id', '=', userId)
    .returning('group_id')
    .execute();
  return removed.length > 0;
}

/** Whether a person is in a user group; undefined when there is no such group. */
export async function membership(
  db: Executor,
  userId: number,
  groupId: number,
): Promise<{ isMember: boolean } | undefined> {
  const row = await db
    .selectFrom('user_groups')
    .leftJoin('group_members', (join) =>
      join.onRef('group_members.group_id', '=', 'user_groups.id').on('group_members.user_id', '=', userId),
    )
    .select('group_members.user_id')
    .where('user_groups.id', '=', groupId)
    .executeTakeFirst();
  return row && { isMember: row.user_id !== null };
}
