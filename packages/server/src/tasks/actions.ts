/**
 * What can be done with a task group: collect, deactivate, reactivate, reset, delete.
 *
 * Each can begin again at any point, after a crash or when the place was away. In the end the activity is OK or failed, and
 * the folder and the `active` flag tell the truth: an environment is moved aside before it is removed, and a task group is
 * gone only after its files are. What starts over leaves everything as it is.
 */
import { basename, dirname, join } from 'node:path';

import type { Database } from '../db/index.ts';
import { HostAway } from '../hosts/index.ts';
import { isShared, type Place } from './place.ts';
import {
  BUILD_STEPS,
  buildGroup,
  environmentFolder,
  REBUILD_STEPS,
  rebuildGroup,
  removalProblem,
} from './procedures/index.ts';
import { freeze } from './procedures/inspect.ts';
import { makeReadable, makeReadableFolder } from './procedures/readable.ts';
import { type Run, StepFailed } from './procedures/run.ts';
import * as store from './store/lifecycle.ts';
import { insertTasks } from './store/tasks.ts';

const ID_FILE = 'fractal_task_group_id.txt';

export interface Job {
  db: Database;
  run: Run;
  activity: store.ActivityAtWork;
  group: store.GroupAtWork;
  place: Place;
  /** An earlier attempt may have done a part already. */
  again: boolean;
  /** True for errors after which all of it is done once more, so that nothing is settled yet. */
  startsOver(error: unknown): boolean;
}

type Action = store.ActivityAtWork['action'];

const STEPS: Record<Action, (group: store.GroupAtWork) => string[]> = {
  collect: (group) => ['folder', ...BUILD_STEPS[group.origin]],
  reset: (group) => ['folder', ...BUILD_STEPS[group.origin]],
  reactivate: (group) => ['folder', ...REBUILD_STEPS[group.origin]],
  deactivate: () => ['check', 'remove environment'],
  delete: () => ['remove files'],
};

export function stepsOf(action: Action, group: store.GroupAtWork, resource: Place['resource']): string[] {
  const makes = action === 'collect' || action === 'reset' || action === 'reactivate';
  return [...STEPS[action](group), ...(makes && isShared(resource) ? ['permissions'] : [])];
}

/** Moves a folder aside, which happens at once or not at all, and then removes it at leisure. */
async function removeAside({ run, activity, startsOver }: Job, folder: string): Promise<void> {
  const aside = join(dirname(folder), `.removed-${basename(folder)}-${activity.id}`);
  const removal = () =>
    run.host.remove(aside).catch((error: Error) => {
      if (startsOver(error)) throw error;
      run.say(`${aside} could not be removed: ${error.message}`, 'WARNING');
    });
  // an earlier attempt may have come as far as this
  await removal();
  if ((await run.host.kindOf(folder)) === undefined) return;
  await run.host.rename(folder, aside);
  await removal();
}

/** After a failure: nothing half-done stays. */
async function clear({ run, startsOver }: Job, ...folders: string[]): Promise<void> {
  for (const folder of folders) {
    await run.host.remove(folder).catch((late: Error) => {
      if (startsOver(late)) throw late;
      run.say(`${folder} could not be removed: ${late.message} Remove it by hand before you try again.`, 'WARNING');
    });
  }
}

/** True for a folder that an earlier attempt of this very collection made. */
async function isOurs({ run, group }: Job): Promise<boolean> {
  const text = await run.host.readText(join(group.path!, ID_FILE)).catch((error: unknown) => {
    if (error instanceof HostAway) throw error;
    return '';
  });
  return text.trim() === String(group.id);
}

async function letOthersRead({ run, group, place }: Job): Promise<void> {
  if (isShared(place.resource)) await run.step('permissions', () => makeReadable(run, group.path!));
}

/** Where a new folder gets its id before it has its name, so that a folder without one is somebody else's. */
const draftOf = (group: store.GroupAtWork) => join(dirname(group.path!), `.new-${group.id}`);

async function makeGroupFolder({ run, group, place }: Job): Promise<void> {
  const draft = draftOf(group);
  await run.host.remove(draft);
  if (isShared(place.resource)) await makeReadableFolder(run, draft);
  else await run.host.makeFolder(draft);
  await run.host.writeText(join(draft, ID_FILE), String(group.id));
  await run.host.rename(draft, group.path!);
}

async function collect(job: Job): Promise<void> {
  const { db, run, activity, group, place } = job;
  const path = group.path!;
  if ((await run.host.kindOf(path)) !== undefined) {
    if (!(await isOurs(job))) {
      const problem = `The folder ${path} is there already and belongs to something else. Remove it and collect again.`;
      await run.fail(problem);
      await failCollection(db, activity, group);
      throw new StepFailed(problem);
    }
    await run.host.remove(path);
  }
  try {
    const upload = activity.request['upload'] as string | undefined;
    const archive_path = upload === undefined ? null : join(path, basename(upload));
    await run.step('folder', async () => {
      await makeGroupFolder(job);
      if (upload !== undefined) await run.host.bring(upload, archive_path!);
    });
    const built = await buildGroup(run, { ...group, archive_path }, place, {
      frozen: activity.request['use_pixi_lockfile'] !== false,
    });
    await letOthersRead(job);
    await db.transaction().execute(async (trx) => {
      await insertTasks(trx, group.id, built.tasks);
      await store.updateGroup(trx, group.id, { env_info: built.env_info, archive_path });
      await store.settleActivity(trx, activity.id, 'OK');
    });
  } catch (error) {
    if (job.startsOver(error)) throw error;
    await clear(job, draftOf(group), path);
    await failCollection(db, activity, group);
    throw error;
  }
}

/** A collection that failed leaves its activity and nothing else. */
async function failCollection(db: Database, activity: store.ActivityAtWork, group: store.GroupAtWork): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await store.settleActivity(trx, activity.id, 'failed');
    await store.deleteGroup(trx, group.id);
  });
}

async function settle(
  { db, group, activity }: Pick<Job, 'db' | 'group' | 'activity'>,
  status: 'OK' | 'failed',
  changes: Parameters<typeof store.updateGroup>[2],
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await store.updateGroup(trx, group.id, changes);
    await store.settleActivity(trx, activity.id, status);
  });
}

/** As far as can be seen: what cannot be looked at counts as it was. */
const isThere = ({ run }: Job, folder: string): Promise<boolean> =>
  run.host.kindOf(folder).then(
    (kind) => kind !== undefined,
    () => true,
  );

async function deactivate(job: Job): Promise<void> {
  const { db, run, group, again } = job;
  const folder = environmentFolder(group);
  const there = (await run.host.kindOf(folder)) !== undefined;
  try {
    if (there || !again) {
      await run.step('check', async () => {
        if (!there) throw new StepFailed(`The environment ${folder} is not there.`);
        if (group.env_info === null && group.origin !== 'pixi') {
          group.env_info = await freeze(run, group.venv_path!);
          await store.updateGroup(db, group.id, { env_info: group.env_info });
        }
        const problem = await removalProblem(run, group);
        if (problem !== undefined) throw new StepFailed(problem);
      });
    }
    await run.step('remove environment', () => removeAside(job, folder));
    await settle(job, 'OK', { active: false });
  } catch (error) {
    if (job.startsOver(error)) throw error;
    await settle(job, 'failed', { active: await isThere(job, folder) });
    throw error;
  }
}

async function reactivate(job: Job): Promise<void> {
  const { db, run, activity, group, place } = job;
  const folder = environmentFolder(group);
  if ((await run.host.kindOf(folder)) !== undefined && activity.request['begun'] !== true) {
    const problem = `There is something at ${folder} already. Remove it and reactivate again.`;
    await run.fail(problem);
    await settle(job, 'failed', { active: false });
    throw new StepFailed(problem);
  }
  try {
    await run.step('folder', async () => {
      // from here on, what lies there is of this reactivation
      await store.markBegun(db, activity.id);
      await run.host.remove(folder);
    });
    await rebuildGroup(run, group, place);
    await letOthersRead(job);
    await settle(job, 'OK', { active: true });
  } catch (error) {
    if (job.startsOver(error)) throw error;
    await clear(job, folder);
    await settle(job, 'failed', { active: false });
    throw error;
  }
}

async function reset(job: Job): Promise<void> {
  const { db, run, group, activity, place } = job;
  const folder = environmentFolder(group);
  try {
    await run.step('folder', () => removeAside(job, folder));
    const built = await buildGroup(run, group, place, { frozen: activity.request['use_pixi_lockfile'] === true });
    await letOthersRead(job);
    await db.transaction().execute(async (trx) => {
      // another Python means other folders: the tasks keep their ids and get the new commands
      await store.replaceTasks(trx, group.id, built.tasks);
      await store.updateGroup(trx, group.id, { env_info: built.env_info, active: true });
      await store.settleActivity(trx, activity.id, 'OK');
    });
  } catch (error) {
    if (job.startsOver(error)) throw error;
    await clear(job, folder);
    await settle(job, 'failed', { active: false });
    throw error;
  }
}

async function remove(job: Job): Promise<void> {
  const { db, run, group, activity } = job;
  const { path } = group;
  try {
    await run.step('remove files', async () => {
      if (path === null) return;
      // a folder with another id in it is not this group's
      if ((await run.host.kindOf(join(path, ID_FILE))) === 'file' && !(await isOurs(job))) {
        throw new StepFailed(`The folder ${path} belongs to another task group.`);
      }
      await removeAside(job, path);
    });
    await db.transaction().execute(async (trx) => {
      await store.settleActivity(trx, activity.id, 'OK');
      await store.deleteGroup(trx, group.id);
    });
  } catch (error) {
    if (job.startsOver(error)) throw error;
    const gone = path !== null && !(await isThere(job, path));
    await settle(job, 'failed', gone ? { active: false } : {});
    throw error;
  }
}

export const ACTIONS: Record<Action, (job: Job) => Promise<void>> = {
  collect,
  deactivate,
  reactivate,
  reset,
  delete: remove,
};

/** For what failed before anything was done: nobody could sign in, or look. */
export async function settleAsFailed(job: Pick<Job, 'db' | 'activity' | 'group'>): Promise<void> {
  const { db, activity, group } = job;
  if (activity.action === 'collect') return failCollection(db, activity, group);
  const changes = { deactivate: { active: true }, reactivate: { active: false }, reset: { active: false }, delete: {} };
  await settle(job, 'failed', changes[activity.action]);
}
