/** Reading what was done with task groups; each person sees their own. */
import type { Activity, User } from '@service/contract';

import type { Database } from '../db/index.ts';
import { refuse } from '../http/index.ts';
import { findActivity } from './store/activities.ts';

export async function readActivity(db: Database, user: User, activityId: number): Promise<Activity> {
  const activity = await findActivity(db, activityId);
  if (!activity) throw refuse(404, 'There is no task group activity with this id.');
  if (activity.user_id !== user.id) {
    throw refuse(403, 'This activity belongs to the owner of another task group. You can read your own activities.');
  }
  return activity;
}
