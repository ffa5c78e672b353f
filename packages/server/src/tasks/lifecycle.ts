/** Asks for something to be done with a task group, refused while something else is done with it; and reads what was done. */
import type { Activity, ResetPip, Resource, User } from '@service/contract';

import { findProfileOf, findResource } from '../accounts/index.ts';
import { record } from '../audit/index.ts';
import { brokenConstraint, type Database } from '../db/index.ts';
import { type Origin, refuse } from '../http/index.ts';
import type { Queue } from '../queue/index.ts';
import { VERSION } from '../version.ts';
import { isFar, signInProblem } from './install-site.ts';
import { extrasProblem, pinsProblem } from './package-names.ts';
import { logLine } from './procedures/procedure-run.ts';
import { findActivity } from './store/activities.ts';
import * as store from './store/lifecycle.ts';

export interface LifecycleParts {
  db: Database;
  queue: Pick<Queue, 'wake'>;
}

type Executor = Parameters<typeof store.findGroupAtWork>[0];
type Check = (db: Executor, group: store.GroupAtWork) => Promise<string | undefined>;

const BUSY = 'Something is being done with this task group right now. Wait until it is finished.';

const isBusy: Check = async (db, { id }) => ((await store.hasUnfinishedActivity(db, id)) ? BUSY : undefined);
const isRunning: Check = async (db, { id }) =>
  (await store.submittedJobUses(db, id))
    ? 'A job that is running uses this task group. Wait for it, or stop it.'
    : undefined;
const isInUse: Check = async (db, { id }) =>
  (await store.workflowUses(db, id))
    ? 'Workflows use tasks of this group. Remove them from the workflows first.'
    : undefined;
const mustBeActive: Check = async (_, { active }) => (active ? undefined : 'This task group is not active.');
const mustBeInactive: Check = async (_, { active }) =>
  active ? 'This task group is active. Deactivate it first.' : undefined;
const mustBeFrozen: Check = async (_, { origin, env_info }) =>
  origin !== 'other' && env_info === null
    ? 'There is no record of what the environment held, so it cannot be made again.'
    : undefined;

/** The order differs between people and administrators, as clients know it. */
const CHECKS = {
  deactivate: { user: [isBusy, isRunning, mustBeActive], admin: [mustBeActive, isBusy, isRunning] },
  reactivate: {
    user: [mustBeInactive, isBusy, isRunning, mustBeFrozen],
    admin: [mustBeInactive, isBusy, isRunning, mustBeFrozen],
  },
  delete: { user: [isBusy, isInUse], admin: [isBusy, isRunning, isInUse] },
  reset: { user: [], admin: [mustBeInactive, isBusy] },
} as const;

interface Asked {
  action: keyof typeof CHECKS;
  as: 'user' | 'admin';
  /** For the owner's own requests: who asks, and which resource this person computes on now. */
  owner?: { id: number; resource_id: number };
  /** Further refusals, and what the request changes at once. */
  prepare?: (db: Executor, group: store.GroupAtWork) => Promise<Record<string, unknown>>;
}

/** What task groups without files need no background work for. */
const AT_ONCE: Partial<Record<Asked['action'], { active: boolean; log: string }>> = {
  deactivate: { active: false, log: 'Deactivated. There is no environment to remove.' },
  reactivate: { active: true, log: 'Reactivated. There is no environment to make.' },
};

/** The environment is on the resource of the group, wherever its owner computes by now. */
function requireOwner(owner: NonNullable<Asked['owner']>, group: store.GroupAtWork): void {
  if (group.user_id !== owner.id) throw refuse(403, 'Only its owner can do this with a task group.');
  if (group.resource_id !== owner.resource_id) {
    throw refuse(422, 'This task group is on another resource than yours. Ask an administrator to do it.');
  }
}

/** Files on a far machine are only reached as somebody who may sign in there: the owner of the group. */
const mustBeReachable: Check = async (db, group) => {
  const resource = await findResource(db, group.resource_id);
  if (!resource || !isFar(resource) || group.path === null) return undefined;
  return signInProblem(resource, await findProfileOf(db, group.user_id));
};

export async function ask(
  parts: LifecycleParts,
  by: Origin,
  groupId: number,
  { action, as, owner, prepare }: Asked,
): Promise<Activity> {
  try {
    const activity = await parts.db.transaction().execute(async (trx) => {
      const group = await store.lockGroup(trx, groupId);
      if (!group) throw refuse(404, 'There is no task group with this id.');
      if (owner) requireOwner(owner, group);
      for (const check of [...CHECKS[action][as], mustBeReachable]) {
        const problem = await check(trx, group);
        if (problem !== undefined) throw refuse(422, problem);
      }
      const request = prepare ? await prepare(trx, group) : {};
      const atOnce = group.origin === 'other' ? AT_ONCE[action] : undefined;
      if (atOnce) await store.updateGroup(trx, groupId, { active: atOnce.active });
      else if (action === 'deactivate' && as === 'user') await store.updateGroup(trx, groupId, { active: false });
      const name = `${group.pkg_name} ${group.version}`;
      await record(trx, by, { action: `task_group.${action}`, object: ['task_group', group.id, name] });
      return store.insertActivity(trx, {
        group,
        action,
        request,
        fractal_server_version: VERSION,
        ...(atOnce ? { finished: { log: logLine(new Date(), action, 'INFO', atOnce.log) } } : {}),
      });
    });
    parts.queue.wake();
    return activity;
  } catch (error) {
    if (brokenConstraint(error) === 'task_group_activities_one_at_a_time') throw refuse(422, BUSY);
    throw error;
  }
}

async function resettableOn(db: Executor, group: store.GroupAtWork, kinds: string[]): Promise<Resource> {
  if (!kinds.includes(group.origin))
    throw refuse(422, `This task group is of the kind "${group.origin}". Use the other reset.`);
  // the database keeps a resource as long as it has task groups
  return (await findResource(db, group.resource_id))!;
}

/** Left out, stored pins stay; given, they replace them. */
export const resetPip = (parts: LifecycleParts, by: Origin, groupId: number, body: ResetPip): Promise<Activity> =>
  ask(parts, by, groupId, {
    action: 'reset',
    as: 'admin',
    prepare: async (db, group) => {
      const resource = await resettableOn(db, group, ['pypi', 'wheel-file']);
      const { versions } = resource.tasks_python_config as { versions: Record<string, string> };
      const python_version = body.python_version ?? group.python_version;
      if (python_version === null || versions[python_version] === undefined) {
        throw refuse(
          422,
          `Python ${python_version} is not available here. Choose one of: ${Object.keys(versions).join(', ')}.`,
        );
      }
      const { pinned_package_versions_pre: pre, pinned_package_versions_post: post } = body;
      const problem =
        (body.pip_extras ? extrasProblem(body.pip_extras) : undefined) ??
        pinsProblem({ ...pre }) ??
        pinsProblem({ ...post });
      if (problem !== undefined) throw refuse(422, problem);
      await store.updateGroup(db, group.id, {
        python_version,
        ...(body.pip_extras === null ? {} : { pip_extras: body.pip_extras === '' ? null : body.pip_extras }),
        ...(pre == null ? {} : { pinned_package_versions_pre: JSON.stringify(pre) }),
        ...(post == null ? {} : { pinned_package_versions_post: JSON.stringify(post) }),
      });
      return {};
    },
  });

export const resetPixi = (
  parts: LifecycleParts,
  by: Origin,
  groupId: number,
  body: { use_pixi_lockfile: boolean },
): Promise<Activity> =>
  ask(parts, by, groupId, {
    action: 'reset',
    as: 'admin',
    prepare: async (db, group) => {
      const resource = await resettableOn(db, group, ['pixi']);
      const { versions = {} } = resource.tasks_pixi_config as { versions?: Record<string, string> };
      if (!Object.hasOwn(versions, group.pixi_version ?? ''))
        throw refuse(422, `pixi ${group.pixi_version} is not available here.`);
      return { use_pixi_lockfile: body.use_pixi_lockfile };
    },
  });

/** Each person sees their own. */
export async function readActivity(db: Database, user: User, activityId: number): Promise<Activity> {
  const activity = await findActivity(db, activityId);
  if (!activity) throw refuse(404, 'There is no task group activity with this id.');
  if (activity.user_id !== user.id) {
    throw refuse(403, 'This activity belongs to the owner of another task group. You can read your own activities.');
  }
  return activity;
}
