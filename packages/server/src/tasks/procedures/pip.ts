/** Task groups that are installed with pip or uv: collected, taken apart, put together again. */
import { join } from 'node:path';

import type { Resource } from '@service/contract';
import { plural } from '@service/contract/plural';

import { tasksOfManifest } from '../manifest.ts';
import { indexSettings } from '../package-index.ts';
import type { InstallSite } from '../install-site.ts';
import type { GroupAtWork } from '../store/lifecycle.ts';
import { compileCommand } from './bytecode.ts';
import { checkExecutables, findManifest, freeze } from './inspect.ts';
import { installFailure } from './install-failure.ts';
import { chooseInstaller, type Installer } from './installer.ts';
import { type ProcedureRun, StepFailed } from './procedure-run.ts';

interface PythonConfig {
  default_version: string;
  versions: Record<string, string>;
  pip_cache_dir?: string | null;
  uv?: string | null;
}

export const ENVIRONMENT_STEPS = ['environment', 'pins before', 'package', 'pins after', 'freeze', 'tasks', 'bytecode'];
export const REBUILD_STEPS = ['environment', 'packages', 'bytecode'];

const pythonConfig = (resource: Resource) => resource.tasks_python_config as unknown as PythonConfig;

function pythonFor(group: GroupAtWork, resource: Resource): string {
  const version = group.python_version ?? pythonConfig(resource).default_version;
  const python = pythonConfig(resource).versions[version];
  if (python === undefined)
    throw new StepFailed(`The resource has no Python ${version}. Ask an administrator to add it.`);
  return python;
}

/** The caches that another account can use. */
async function cachesOf(run: ProcedureRun, { resource, account }: InstallSite) {
  const { pip_cache_dir: cacheDir = null } = pythonConfig(resource);
  if (!account) return { cacheDir };
  const cannotWrite = async (folder: string) => (await account.obstacle({ writes: [folder] })) !== undefined;
  const isClosed = cacheDir !== null && (await cannotWrite(cacheDir));
  if (isClosed) run.say(`The account ${account.account.name} can't write to ${cacheDir}; nothing is cached`, 'WARNING');
  return {
    cacheDir: isClosed ? null : cacheDir,
    isStranger: true,
    hasNoHome: await cannotWrite(account.account.home),
  };
}

async function installerFor(run: ProcedureRun, group: GroupAtWork, site: InstallSite): Promise<Installer> {
  const { resource, tools, toolsDir, packageIndex } = site;
  const python = pythonFor(group, resource);
  // as pip is set up for the service: another account may have no configuration
  const index = await indexSettings(tools, python, packageIndex);
  const { uv = null } = pythonConfig(resource);
  const caches = await cachesOf(run, site);
  const installer = await chooseInstaller({ run, python, index, ...caches }, { uv, toolsDir, tools });
  run.say(`${installer.name} installs, with ${python}`);
  return installer;
}

const requirements = (pins: Record<string, string>) =>
  Object.entries(pins).map(([name, version]) => `${name}==${version}`);

function packageRequirement(group: GroupAtWork): string {
  const extras = group.pip_extras ? `[${group.pip_extras}]` : '';
  if (group.origin === 'pypi') return `${group.pkg_name}${extras}==${group.version}`;
  return extras === '' ? group.archive_path! : `${group.pkg_name}${extras} @ file://${encodeURI(group.archive_path!)}`;
}

/** Packages that came from a repository are built once and kept, so that the environment can be made again without it. */
async function keepBuiltPackages(run: ProcedureRun, group: GroupAtWork, frozen: string): Promise<string> {
  const folder = join(group.path!, 'wheels');
  const lines: string[] = [];
  for (const line of frozen.split('\n')) {
    const [, name, source] = /^(\S+) @ (git\+.+)$/.exec(line.trim()) ?? [];
    if (name === undefined || source === undefined) {
      lines.push(line);
      continue;
    }
    await run.host.makeFolder(folder);
    const target = join(folder, name);
    const python = join(group.venv_path!, 'bin/python');
    await run.command([python, '-m', 'pip', 'wheel', '--no-deps', '--wheel-dir', target, `${name} @ ${source}`], {
      explain: installFailure,
    });
    const listed = await run.command([python, '-c', 'import os, sys; print(os.listdir(sys.argv[1])[0])', target], {
      quiet: true,
    });
    lines.push(`${name} @ file://${encodeURI(join(target, listed.trim()))}`);
  }
  return lines.join('\n');
}

export interface Built {
  env_info: string;
  tasks: ReturnType<typeof tasksOfManifest>;
}

/** Makes the environment, installs the package and reads its tasks. For collection and reset alike. */
export async function buildEnvironment(run: ProcedureRun, group: GroupAtWork, site: InstallSite): Promise<Built> {
  const venv = group.venv_path!;
  const installer = await run.step('environment', async () => {
    const chosen = await installerFor(run, group, site);
    await chosen.makeEnvironment(venv);
    return chosen;
  });
  const pin = async (name: string, pins: Record<string, string>) => {
    if (Object.keys(pins).length === 0) run.skip(name);
    else await run.step(name, () => installer.install(venv, requirements(pins)));
  };
  await pin('pins before', group.pinned_package_versions_pre);
  await run.step('package', () => installer.install(venv, [packageRequirement(group)]));
  await pin('pins after', group.pinned_package_versions_post);
  const env_info = await run.step('freeze', async () => keepBuiltPackages(run, group, await freeze(run, venv)));
  const built = await run.step('tasks', async () => {
    const { manifest, packageRoot } = await findManifest(run, venv, group.pkg_name);
    await checkExecutables(run, manifest, packageRoot);
    const tasks = tasksOfManifest(manifest, { python: join(venv, 'bin/python'), packageRoot, version: group.version });
    run.say(`Found ${manifest.task_list.length} ${plural(manifest.task_list.length, 'task')}`);
    return { env_info, tasks };
  });
  await compile(run, venv);
  return built;
}

const compile = (run: ProcedureRun, venv: string) =>
  run.step('bytecode', async () => void (await run.command(compileCommand(join(venv, 'bin/python')))));

/** Makes the environment again from the list of what it held. */
export async function rebuildEnvironment(run: ProcedureRun, group: GroupAtWork, site: InstallSite): Promise<void> {
  const venv = group.venv_path!;
  const installer = await run.step('environment', async () => {
    const chosen = await installerFor(run, group, site);
    await chosen.makeEnvironment(venv);
    return chosen;
  });
  await run.step('packages', async () => {
    const file = join(group.path!, '_requirements.txt');
    await run.host.writeText(file, group.env_info!);
    try {
      await installer.installFile(venv, file);
    } finally {
      await run.stillOurs();
      await run.host.remove(file);
    }
  });
  await compile(run, venv);
}

/** What stands in the way of making the environment again later, so that it must not be removed now. */
export async function removalProblem(run: ProcedureRun, group: GroupAtWork): Promise<string | undefined> {
  if (/github\.com/.test(group.env_info ?? '')) {
    return 'The environment has packages that were installed from github.com and were not kept, so it could not be made again.';
  }
  if (
    group.origin === 'wheel-file' &&
    (group.archive_path === null || (await run.host.kindOf(group.archive_path)) !== 'file')
  ) {
    return 'The uploaded wheel is gone, so the environment could not be made again.';
  }
  return undefined;
}
