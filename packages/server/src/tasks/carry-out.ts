/**
 * Carries out what was asked for with a task group, in the background.
 *
 * A process can be killed at any moment; then this begins again, ends what the earlier attempt left running, and starts
 * over. In the end the activity is OK or failed, and the folder and the `active` flag tell the truth: an environment is
 * moved aside before it is removed, and a task group is gone only after its files are.
 */
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import type { Resource } from '@service/contract';

import { findResource } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import { type Host, localHost } from '../hosts/index.ts';
import type { Handler, WorkContext } from '../queue/index.ts';
import {
  BUILD_STEPS,
  buildGroup,
  environmentFolder,
  REBUILD_STEPS,
  rebuildGroup,
  removalProblem,
} from './procedures/index.ts';
import { createRun, type Run, StepFailed } from './procedures/run.ts';
import { freeze } from './procedures/inspect.ts';
import * as store from './store/lifecycle.ts';
import { insertTasks } from './store/tasks.ts';

export interface WorkParts {
  db: Database;
  dataDir: string;
  packageIndex: string | null;
}

const ID_FILE = 'fractal_task_group_id.txt';

interface Job {
  parts: WorkParts;
  run: Run;
  activity: store.ActivityAtWork;
  group: store.GroupAtWork;
  resource: Resource;
  /** An earlier attempt may have done a part already. */
  again: boolean;
}

const STEPS: Record<store.ActivityAtWork['action'], (group: store.GroupAtWork) => string[]> = {
  collect: (group) => ['folder', ...BUILD_STEPS[group.origin]],
  reset: (group) => ['folder', ...BUILD_STEPS[group.origin]],
  reactivate: (group) => ['folder', ...REBUILD_STEPS[group.origin]],
  deactivate: () => ['check', 'remove environment'],
  delete: () => ['remove files'],
};

/** Moves a folder aside, which happens at once or not at all, and then removes it at leisure. */
async function removeAside(run: Run, folder: string): Promise<void> {
  const aside = join(dirname(folder), `.removed-${basename(folder)}-${Date.now()}`);
  if ((await run.host.kindOf(folder)) === undefined) return;
  await run.host.rename(folder, aside);
  await run.host.remove(aside).catch((error: Error) => run.say(`${aside} could not be removed: ${error.message}`));
}

/** True for a folder that an earlier attempt of this very collection made. */
async function isOurs(host: Host, group: store.GroupAtWork): Promise<boolean> {
  const text = await host.readText(join(group.path!, ID_FILE)).catch(() => '');
  return text.trim() === String(group.id);
}

async function collect({ parts, run, activity, group, resource }: Job): Promise<void> {
  const place = { resource, dataDir: parts.dataDir, packageIndex: parts.packageIndex };
  const path = group.path!;
  if ((await run.host.kindOf(path)) !== undefined) {
    if (!(await isOurs(run.host, group))) {
      const problem = `The folder ${path} is there already and belongs to something else. Remove it and collect again.`;
      await run.fail(problem);
      await failCollection(parts.db, activity, group);
      throw new StepFailed(problem);
    }
    await run.host.remove(path);
  }
  try {
    const upload = activity.request['upload'] as string | undefined;
    const archive_path = upload === undefined ? null : join(path, basename(upload));
    await run.step('folder', async () => {
      await run.host.makeFolder(path);
      await run.host.writeText(join(path, ID_FILE), String(group.id));
      if (upload !== undefined) await run.host.bring(upload, archive_path!);
    });
    const built = await buildGroup(run, { ...group, archive_path }, place, {
      frozen: activity.request['use_pixi_lockfile'] !== false,
    });
    await parts.db.transaction().execute(async (trx) => {
      await insertTasks(trx, group.id, built.tasks);
      await store.updateGroup(trx, group.id, { env_info: built.env_info, archive_path });
      await store.settleActivity(trx, activity.id, 'OK');
    });
  } catch (error) {
    await run.host.remove(path).catch((late: Error) => run.say(`${path} could not be removed: ${late.message}`));
    await failCollection(parts.db, activity, group);
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
  job: Job,
  status: 'OK' | 'failed',
  changes: Parameters<typeof store.updateGroup>[2],
): Promise<void> {
  await job.parts.db.transaction().execute(async (trx) => {
    await store.updateGroup(trx, job.group.id, changes);
    await store.settleActivity(trx, job.activity.id, status);
  });
}

async function deactivate(job: Job): Promise<void> {
  const { run, group, again, parts } = job;
  const folder = environmentFolder(group);
  const there = (await run.host.kindOf(folder)) !== undefined;
  if (!there && again) return settle(job, 'OK', { active: false });
  try {
    await run.step('check', async () => {
      if (!there) throw new StepFailed(`The environment ${folder} is not there.`);
      if (group.env_info === null && group.origin !== 'pixi') {
        group.env_info = await freeze(run, group.venv_path!);
        await store.updateGroup(parts.db, group.id, { env_info: group.env_info });
      }
      const problem = await removalProblem(run, group);
      if (problem !== undefined) throw new StepFailed(problem);
    });
    await run.step('remove environment', () => removeAside(run, folder));
    await settle(job, 'OK', { active: false });
  } catch (error) {
    await settle(job, 'failed', { active: (await run.host.kindOf(folder)) !== undefined });
    throw error;
  }
}

async function reactivate(job: Job): Promise<void> {
  const { run, group, again, parts, resource } = job;
  const folder = environmentFolder(group);
  if ((await run.host.kindOf(folder)) !== undefined && !again) {
    const problem = `There is something at ${folder} already. Remove it and reactivate again.`;
    await run.fail(problem);
    await settle(job, 'failed', { active: false });
    throw new StepFailed(problem);
  }
  try {
    await run.step('folder', () => run.host.remove(folder));
    await rebuildGroup(run, group, { resource, dataDir: parts.dataDir, packageIndex: parts.packageIndex });
    await settle(job, 'OK', { active: true });
  } catch (error) {
    await run.host.remove(folder).catch((late: Error) => run.say(`${folder} could not be removed: ${late.message}`));
    await settle(job, 'failed', { active: false });
    throw error;
  }
}

async function reset(job: Job): Promise<void> {
  const { run, group, activity, parts, resource } = job;
  const folder = environmentFolder(group);
  try {
    await run.step('folder', () => removeAside(run, folder));
    const place = { resource, dataDir: parts.dataDir, packageIndex: parts.packageIndex };
    const built = await buildGroup(run, group, place, { frozen: activity.request['use_pixi_lockfile'] === true });
    await parts.db.transaction().execute(async (trx) => {
      // another Python means other folders: the tasks keep their ids and get the new commands
      await store.replaceTasks(trx, group.id, built.tasks);
      await store.updateGroup(trx, group.id, { env_info: built.env_info, active: true });
      await store.settleActivity(trx, activity.id, 'OK');
    });
  } catch (error) {
    await run.host.remove(folder).catch((late: Error) => run.say(`${folder} could not be removed: ${late.message}`));
    await settle(job, 'failed', { active: false });
    throw error;
  }
}

async function remove(job: Job): Promise<void> {
  const { run, group, activity, parts } = job;
  try {
    await run.step('remove files', async () => {
      if (group.path === null) return;
      // a folder with another id in it is not this group's
      if ((await run.host.kindOf(group.path)) === undefined) return;
      if ((await run.host.kindOf(join(group.path, ID_FILE))) === 'file' && !(await isOurs(run.host, group))) {
        throw new StepFailed(`The folder ${group.path} belongs to another task group.`);
      }
      await removeAside(run, group.path);
    });
    await parts.db.transaction().execute(async (trx) => {
      await store.settleActivity(trx, activity.id, 'OK');
      await store.deleteGroup(trx, group.id);
    });
  } catch (error) {
    const gone = group.path !== null && (await run.host.kindOf(group.path)) === undefined;
    await settle(job, 'failed', gone ? { active: false } : {});
    throw error;
  }
}

const PROCEDURES = { collect, deactivate, reactivate, reset, delete: remove };

const isSettled = (activity: store.ActivityAtWork) => activity.status === 'OK' || activity.status === 'failed';

async function carryOut(
  parts: WorkParts,
  activity: store.ActivityAtWork,
  { attempt, leftOver, remember, last }: WorkContext,
): Promise<void> {
  const group =
    activity.taskgroupv2_id === null ? undefined : await store.findGroupAtWork(parts.db, activity.taskgroupv2_id);
  const resource = group && (await findResource(parts.db, group.resource_id));
  if (!group || !resource) return store.settleActivity(parts.db, activity.id, 'failed');
  const host = localHost;
  const run = createRun({
    host,
    steps: STEPS[activity.action](group),
    log: activity.log ?? '',
    save: (log, steps) => store.saveProgress(parts.db, activity.id, log, steps),
    remember,
  });
  if (attempt > 1) run.say('The service was interrupted; this starts over');
  if (leftOver && (await host.endLeftOver(leftOver))) run.say('Ended a command that was still running');
  await store.setOngoing(parts.db, activity.id);
  let failure: string | undefined;
  try {
    await PROCEDURES[activity.action]({ parts, run, activity, group, resource, again: attempt > 1 });
  } catch (error) {
    failure = (error as Error).message;
  }
  await run.close(failure);
  await requireOutcome(parts.db, activity, group, last, failure);
}

/** When the database did not take the outcome, all of it is tried again, or given up in the end. */
async function requireOutcome(
  db: Database,
  activity: store.ActivityAtWork,
  group: store.GroupAtWork,
  last: boolean,
  failure = 'The outcome was not stored',
): Promise<void> {
  const now = await store.findActivityAtWork(db, activity.id);
  if (!now || isSettled(now)) return;
  if (!last) throw new Error(failure);
  if (activity.action === 'collect') await failCollection(db, activity, group);
  else await store.settleActivity(db, activity.id, 'failed');
}

/** The handler of activities for the queue. */
export function activityHandler(parts: WorkParts): Handler {
  return async (activityId, context) => {
    const activity = await store.findActivityAtWork(parts.db, activityId);
    if (!activity) return;
    if (!isSettled(activity)) await carryOut(parts, activity, context);
    const upload = activity.request['upload'] as string | undefined;
    if (upload !== undefined) await rm(dirname(upload), { recursive: true, force: true });
  };
}
