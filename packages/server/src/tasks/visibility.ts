/** Who a task group is for: which user group gets a new one, and which one of several equal ones a person sees. */
import type { User } from '@service/contract';

import { requireDefaultGroup, requireMembership } from '../accounts/index.ts';
import { refuse } from '../http/index.ts';
import type { Executor } from './store/tasks.ts';

export interface Visibility {
  private: boolean;
  user_group_id?: number | undefined;
}

/** The user group of a new task group: none when it is private, else the one asked for, else the default group. */
export async function chooseUserGroup(
  db: Executor,
  user: User,
  asked: Visibility,
  defaultGroup: string | null,
): Promise<number | null> {
  if (asked.user_group_id === undefined) {
    return asked.private ? null : ((await requireDefaultGroup(db, defaultGroup)) ?? null);
  }
  if (asked.private) throw refuse(422, 'A private task group belongs to no user group: leave user_group_id out.');
  await requireMembership(db, user, asked.user_group_id);
  return asked.user_group_id;
}

interface Candidate {
  user_id: number;
  user_group_id: number | null;
  /** When the caller joined its user group. */
  timestamp_joined: string | null;
}

/** The one whose group the caller joined first; of those that are equal, the first. */
const joinedFirst = <T extends Candidate>(candidates: T[]) =>
  candidates.reduce((first, one) => (first.timestamp_joined! <= one.timestamp_joined! ? first : one));

/** Of equal ones, at least one: the caller's own, then that of the default group, then that of the group joined first. */
export const preferred = <T extends Candidate>(candidates: T[], user: User, defaultGroupId: number | undefined): T =>
  candidates.find((one) => one.user_id === user.id) ??
  candidates.find((one) => defaultGroupId !== undefined && one.user_group_id === defaultGroupId) ??
  joinedFirst(candidates);
