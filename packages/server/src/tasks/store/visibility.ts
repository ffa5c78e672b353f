/** The SQL of who sees which task group. */
import { type ExpressionBuilder, sql } from 'kysely';

import type { User } from '@service/contract';

import type { Tables } from '../../db/index.ts';

type InTaskGroups = ExpressionBuilder<Tables, 'task_groups'>;

/** Who asks. */
export type Reader = Pick<User, 'id' | 'profile_id'>;

const ownResource = (user: Reader) => sql<number>`(select resource_id from profiles where id = ${user.profile_id})`;
const ownGroups = (user: Reader) => sql<number>`(select group_id from group_members where user_id = ${user.id})`;

/** On the resource that the caller computes on. */
export const onOwnResource = (eb: InTaskGroups, user: Reader) =>
  sql<boolean>`coalesce(${eb.ref('task_groups.resource_id')} = ${ownResource(user)}, false)`;

const isOwned = (eb: InTaskGroups, user: Reader) => eb('task_groups.user_id', '=', user.id);

/** Given to one of the caller's groups. */
const isShared = (eb: InTaskGroups, user: Reader) =>
  sql<boolean>`coalesce(${eb.ref('task_groups.user_group_id')} in ${ownGroups(user)}, false)`;

/** Read access: the owner always, members of its group when they compute on its resource. */
export const isReadable = (eb: InTaskGroups, user: Reader) =>
  eb.or([isOwned(eb, user), eb.and([isShared(eb, user), onOwnResource(eb, user)])]).$castTo<boolean>();

/** What the caller can use and run: owned or shared, and on the own resource. */
export const isOffered = (eb: InTaskGroups, user: Reader) =>
  eb.and([onOwnResource(eb, user), eb.or([isOwned(eb, user), isShared(eb, user)])]);
