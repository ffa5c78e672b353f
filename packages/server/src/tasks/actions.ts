/**
 * What can be done with a task group: collect, deactivate, reactivate, reset, delete.
 *
 * Each can begin again at any point, after a crash or when the host was away. In the end the activity is OK or failed, and
 * the folder and the `active` flag tell the truth: an environment is moved aside before it is removed, and a task group is
 * gone only after its files are. What starts over leaves everything as it is.
 */
import { basename, dirname, join } from 'node:path';

import { HostAway } from '../hosts/index.ts';
import { type InstallSite, isShared } from './install-site.ts';
import {
  BUILD_STEPS,
  buildGroup,
  environmentFolder,
  REBUILD_STEPS,
  rebuildGroup,
  removalProblem,
} from './procedures/index.ts';
import { freeze } from './procedures/inspect.ts';
import { type ProcedureRun, StepFailed } from './procedures/procedure-run.ts';
import * as store from './store/lifecycle.ts';
import { insertTasks } from './store/tasks.ts';

const ID_FILE = 'fractal_task_group_id.txt';

export interface ActivityContext {
  /** A transaction that only takes effect while no other process has taken the activity over. */
  write<T>(work: (trx: store.Trx) => Promise<T>): Promise<T>;
  run: ProcedureRun;
  activity: store.ActivityAtWork;
  group: store.GroupAtWork;
  site: InstallSite;
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

export function stepsOf(action: Action, group: store.GroupAtWork, resource: InstallSite['resource']): string[] {
  const makes = action === 'collect' || action === 'reset' || action === 'reactivate';
  return [...STEPS[action](group), ...(makes && isShared(resource) ? ['permissions'] : [])];
}

/** Removes it unless another process has taken the activity over, and may be making it anew. */
async function removeOurs(run: ProcedureRun, folder: string): Promise<void> {
  await run.stillOurs();
  await run.host.remove(folder);
}

/** Moves a folder aside, which happens at once or not at all, and then removes it at leisure. */
async function removeAside({ run, activity, startsOver }: ActivityContext, folder: string): Promise<void> {
  const aside = join(dirname(folder), `.removed-${basename(folder)}-${activity.id}`);
  const removal = async () => {
    await run.stillOurs();
    await run.host.remove(aside).catch((error: Error) => {
      if (startsOver(error)) throw error;
      run.say(`${aside} could not be removed: ${error.message}`, 'WARNING');
    });
  };
  // an earlier attempt may have come as far as this
  await removal();
  if ((await run.host.kindOf(folder)) === undefined) return;
  await run.stillOurs();
  await run.host.rename(folder, aside);
  await removal();
}

/** After a failure: nothing half-done stays. */
async function clear({ run, startsOver }: ActivityContext, ...folders: string[]): Promise<void> {
  for (const folder of folders) {
    await run.stillOurs();
    await run.host.remove(folder).catch((late: Error) => {
      if (startsOver(late)) throw late;
      run.say(`${folder} could not be removed: ${late.message} Remove it by hand before you try again.`, 'WARNING');
    });
  }
}

/**
 * The folders of the package and of its owner, where nothing is left in them. `rmdir` removes no folder that has something,
 * whoever put it there a moment ago.
 */
async function removeEmptyFolders({ run, startsOver }: ActivityContext, path: string): Promise<void> {
  const [ofPackage, ofOwner] = [dirname(path), dirname(dirname(path))];
  await run.host.run(['rmdir', ofPackage, ofOwner], { cwd: '/' }).catch((error: Error) => {
    if (startsOver(error)) throw error;
  });
}

/** True for a folder that an earlier attempt of this very collection made. */
async function isOurs({ run, group }: ActivityContext): Promise<boolean> {
  const text = await run.host.readText(join(group.path!, ID_FILE)).catch((error: unknown) => {
    if (error instanceof HostAway) throw error;
    return '';
  });
  return text.trim() === String(group.id);
}

/** Makes a folder, and those above it that are missing, with mode 0755. */
const makeReadableFolder = async (run: ProcedureRun, path: string): Promise<void> =>
  void (await run.command(['install', '--directory', '--mode=755', path]));

/** Everybody may read what is there, and run what its owner may run. */
const makeReadable = async (run: ProcedureRun, path: string): Promise<void> =>
  void (await run.command(['chmod', '-R', 'u=rwX,go=rX', path]));

/** Whatever the umask of whoever makes them: on a cluster the jobs of many people use one environment. */
async function letOthersRead({ run, group, site }: ActivityContext): Promise<void> {
  if (isShared(site.resource)) await run.step('permissions', () => makeReadable(run, group.path!));
}

/** Where a new folder gets its id before it has its name, so that a folder without one is somebody else's. */
const draftOf = (group: store.GroupAtWork) => join(dirname(group.path!), `.new-${group.id}`);

async function makeGroupFolder({ run, group, site }: ActivityContext): Promise<void> {
  const draft = draftOf(group);
  await removeOurs(run, draft);
  if (isShared(site.resource)) await makeReadableFolder(run, draft);
  else await run.host.makeFolder(draft);
  await run.host.writeText(join(draft, ID_FILE), String(group.id));
  await run.stillOurs();
  await run.host.rename(draft, group.path!);
}

async function collect(context: ActivityContext): Promise<void> {
  const { write, run, activity, group, site } = context;
  const path = group.path!;
  if ((await run.host.kindOf(path)) !== undefined) {
    if (!(await isOurs(context))) {
      const problem = `The folder ${path} exists already and belongs to something else. Delete it, then collect again.`;
      await run.fail(problem);
      await failCollection(context);
      throw new StepFailed(problem);
    }
    await removeOurs(run, path);
  }
  try {
    const upload = activity.request['upload'] as string | undefined;
    const archive_path = upload === undefined ? null : join(path, basename(upload));
    await run.step('folder', async () => {
      await makeGroupFolder(context);
      if (upload !== undefined) await run.host.bring(upload, archive_path!);
    });
    const built = await buildGroup(run, { ...group, archive_path }, site, {
      frozen: activity.request['use_pixi_lockfile'] !== false,
    });
    await letOthersRead(context);
    await write(async (trx) => {
      await insertTasks(trx, group.id, built.tasks);
      await store.updateGroup(trx, group.id, { env_info: built.env_info, archive_path });
      await store.settleActivity(trx, activity.id, 'OK');
    });
  } catch (error) {
    if (context.startsOver(error)) throw error;
    await clear(context, draftOf(group), path);
    await removeEmptyFolders(context, path);
    await failCollection(context);
    throw error;
  }
}

type Settling = Pick<ActivityContext, 'write' | 'activity' | 'group'>;

/** A collection that failed leaves its activity and nothing else. */
async function failCollection({ write, activity, group }: Settling): Promise<void> {
  await write(async (trx) => {
    await store.settleActivity(trx, activity.id, 'failed');
    await store.deleteGroup(trx, group.id);
  });
}

async function settle(
  { write, group, activity }: Settling,
  status: 'OK' | 'failed',
  changes: Parameters<typeof store.updateGroup>[2],
): Promise<void> {
  await write(async (trx) => {
    await store.updateGroup(trx, group.id, changes);
    await store.settleActivity(trx, activity.id, status);
  });
}

/** As far as can be seen: what cannot be looked at counts as it was. */
const isThere = ({ run }: ActivityContext, folder: string): Promise<boolean> =>
  run.host.kindOf(folder).then(
    (kind) => kind !== undefined,
    () => true,
  );

async function deactivate(context: ActivityContext): Promise<void> {
  const { write, run, group, again } = context;
  const folder = environmentFolder(group);
  const there = (await run.host.kindOf(folder)) !== undefined;
  try {
    if (there || !again) {
      await run.step('check', async () => {
        if (!there) throw new StepFailed(`The environment ${folder} is not there.`);
        if (group.env_info === null && group.origin !== 'pixi') {
          const env_info = await freeze(run, group.venv_path!);
          await write((trx) => store.updateGroup(trx, group.id, { env_info }));
          group.env_info = env_info;
        }
        const problem = await removalProblem(run, group);
        if (problem !== undefined) throw new StepFailed(problem);
      });
    }
    await run.step('remove environment', () => removeAside(context, folder));
    await settle(context, 'OK', { active: false });
  } catch (error) {
    if (context.startsOver(error)) throw error;
    await settle(context, 'failed', { active: await isThere(context, folder) });
    throw error;
  }
}

async function reactivate(context: ActivityContext): Promise<void> {
  const { write, run, activity, group, site } = context;
  const folder = environmentFolder(group);
  if ((await run.host.kindOf(folder)) !== undefined && activity.request['begun'] !== true) {
    const problem = `There is something at ${folder} already. Remove it and reactivate again.`;
    await run.fail(problem);
    await settle(context, 'failed', { active: false });
    throw new StepFailed(problem);
  }
  try {
    await run.step('folder', async () => {
      // from here on, what lies there is of this reactivation
      await write((trx) => store.markBegun(trx, activity.id));
      await removeOurs(run, folder);
    });
    await rebuildGroup(run, group, site);
    await letOthersRead(context);
    await settle(context, 'OK', { active: true });
  } catch (error) {
    if (context.startsOver(error)) throw error;
    await clear(context, folder);
    await settle(context, 'failed', { active: false });
    throw error;
  }
}

async function reset(context: ActivityContext): Promise<void> {
  const { write, run, group, activity, site } = context;
  const folder = environmentFolder(group);
  try {
    await run.step('folder', () => removeAside(context, folder));
    const built = await buildGroup(run, group, site, { frozen: activity.request['use_pixi_lockfile'] === true });
    await letOthersRead(context);
    await write(async (trx) => {
      // another Python means other folders: the tasks keep their ids and get the new commands
      await store.replaceTasks(trx, group.id, built.tasks);
      await store.updateGroup(trx, group.id, { env_info: built.env_info, active: true });
      await store.settleActivity(trx, activity.id, 'OK');
    });
  } catch (error) {
    if (context.startsOver(error)) throw error;
    await clear(context, folder);
    await settle(context, 'failed', { active: false });
    throw error;
  }
}

async function remove(context: ActivityContext): Promise<void> {
  const { write, run, group, activity } = context;
  const { path } = group;
  try {
    await run.step('remove files', async () => {
      if (path === null) return;
      // a folder with another id in it is not this group's
      if ((await run.host.kindOf(join(path, ID_FILE))) === 'file' && !(await isOurs(context))) {
        throw new StepFailed(`The folder ${path} belongs to another task group.`);
      }
      await removeAside(context, path);
      await removeEmptyFolders(context, path);
    });
    await write(async (trx) => {
      await store.settleActivity(trx, activity.id, 'OK');
      await store.deleteGroup(trx, group.id);
    });
  } catch (error) {
    if (context.startsOver(error)) throw error;
    const gone = path !== null && !(await isThere(context, path));
    await settle(context, 'failed', gone ? { active: false } : {});
    throw error;
  }
}

export const ACTIONS: Record<Action, (context: ActivityContext) => Promise<void>> = {
  collect,
  deactivate,
  reactivate,
  reset,
  delete: remove,
};

/** For what failed before anything was done: nobody could sign in, or look. */
export async function settleAsFailed(context: Settling): Promise<void> {
  const { activity } = context;
  if (activity.action === 'collect') return failCollection(context);
  const changes = { deactivate: { active: true }, reactivate: { active: false }, reset: { active: false }, delete: {} };
  await settle(context, 'failed', changes[activity.action]);
}
