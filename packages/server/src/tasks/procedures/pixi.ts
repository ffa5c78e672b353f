/**
 * Task groups that are installed with pixi, from an archive of a project. pixi itself is installed by the operator, in the
 * folders that the resource names.
 */
import { join } from 'node:path';
import { parse, stringify, type TomlTable } from 'smol-toml';

import { type Manifest, MANIFEST_FILE, type PixiConfig, type Resource } from '@service/contract';
import type { z } from 'zod';

import { HostAway } from '../../hosts/index.ts';
import { readManifest, tasksOfManifest } from '../manifest.ts';
import type { GroupAtWork } from '../store/lifecycle.ts';
import { compileCommand } from './bytecode.ts';
import { checkExecutables } from './inspect.ts';
import type { Built } from './pip.ts';
import { type InstallSite, isFar } from '../install-site.ts';
import { type ProcedureRun, StepFailed } from './procedure-run.ts';
import { runScript } from './script.ts';
import { lastLine, type ScriptCommand } from './slurm-script.ts';

export const SOURCE = 'source_dir';
export const ENVIRONMENT_STEPS = ['extract', 'project file', 'install', 'interpreter', 'bytecode', 'tasks'];
export const REBUILD_STEPS = ['extract', 'project file', 'install', 'interpreter', 'bytecode'];

type Config = z.output<typeof PixiConfig>;

const configOf = (resource: Resource) => resource.tasks_pixi_config as unknown as Config;

/** pixi with its environment, for one version folder. */
function pixiFor(group: GroupAtWork, { resource, pixiCacheDir, account }: InstallSite) {
  const config = configOf(resource);
  const home = config.versions?.[group.pixi_version ?? ''];
  if (home === undefined)
    throw new StepFailed(`The resource has no pixi ${group.pixi_version}. Ask an administrator to add it.`);
  const folder = home.replace(/\/+$/, '');
  return {
    config,
    program: join(folder, 'bin/pixi'),
    env: {
      PIXI_HOME: folder,
      // the folder of pixi is the operator's; another account has a cache of its own
      PIXI_CACHE_DIR: pixiCacheDir ?? (account ? join(account.account.home, '.cache/pixi') : join(folder, 'cache')),
      RATTLER_AUTH_FILE: join(folder, 'credentials.json'),
      TOKIO_WORKER_THREADS: String(config.TOKIO_WORKER_THREADS ?? 2),
    },
  };
}

/** The name of the one folder in the archive. */
const folderIn = (archive: string) =>
  archive
    .split('/')
    .at(-1)!
    .replace(/\.tar\.gz$/, '');

async function extract(run: ProcedureRun, group: GroupAtWork): Promise<void> {
  const archive = group.archive_path!;
  const top = folderIn(archive);
  const source = join(group.path!, SOURCE);
  await run.host.makeFolder(source);
  // straight to where it stays, so that a half of it has no other place to be left at
  const options = ['--extract', '--gzip', '--strip-components=1', '--file', archive, '--directory', source];
  await run.command(['tar', ...options, '--', top]);
}

const projectFile = (group: GroupAtWork) => join(group.path!, SOURCE, 'pyproject.toml');

/** Only the default environment on the default platform is installed; what the project defines beyond that is left out. */
export function simplifiedProject(text: string, environment: string, platform: string): string {
  const project = parse(text);
  const tool = project['tool'] as TomlTable | undefined;
  const pixi = tool?.['pixi'] as TomlTable | undefined;
  if (!pixi) return text;
  for (const name of ['workspace', 'project']) {
    const table = pixi[name] as TomlTable | undefined;
    if (table) table['platforms'] = [platform];
  }
  const environments = pixi['environments'] as TomlTable | undefined;
  if (environments) {
    if (!(environment in environments))
      throw new StepFailed(`pyproject.toml has no pixi environment named ${environment}.`);
    pixi['environments'] = { [environment]: environments[environment]! };
  }
  delete pixi['tasks'];
  return stringify(project);
}

async function simplify(run: ProcedureRun, group: GroupAtWork, resource: Resource): Promise<void> {
  const { DEFAULT_ENVIRONMENT = 'default', DEFAULT_PLATFORM = 'linux-64' } = configOf(resource);
  const file = projectFile(group);
  try {
    await run.host.writeText(
      file,
      simplifiedProject(await run.host.readText(file), DEFAULT_ENVIRONMENT, DEFAULT_PLATFORM),
    );
  } catch (error) {
    if (error instanceof StepFailed || error instanceof HostAway) throw error;
    throw new StepFailed(`pyproject.toml of the archive cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function installation(group: GroupAtWork, site: InstallSite, frozen: boolean): ScriptCommand[] {
  const { config, program, env } = pixiFor(group, site);
  const solves = String(config.PIXI_CONCURRENT_SOLVES ?? 4);
  const downloads = String(config.PIXI_CONCURRENT_DOWNLOADS ?? 4);
  const limits = ['--concurrent-solves', solves, '--concurrent-downloads', downloads];
  const options = [...limits, ...(frozen ? ['--frozen'] : []), '--manifest-path', projectFile(group)];
  return [{ command: [program, 'install', ...options], env }];
}

/** The program that starts Python inside the environment, from the hook and from where `which` found Python. */
const STARTER = String.raw`printf '#!/bin/bash\nsource %q\nexport PYTHONNOUSERSITE=1\nexec %q "$@"\n' "$1" "$(tail -n 1 "$2")"`;
const FIND = 'import importlib, os, sys; print(os.path.dirname(importlib.import_module(sys.argv[1]).__file__))';

const pythonOf = (group: GroupAtWork) => join(group.path!, SOURCE, 'project_python.sh');
const packageFile = (group: GroupAtWork) => join(group.path!, SOURCE, '_package_folder.txt');

/** Writes the program that starts Python inside the environment, and where the package is in it. */
function interpretation(group: GroupAtWork, site: InstallSite): ScriptCommand[] {
  const { program, env } = pixiFor(group, site);
  const source = join(group.path!, SOURCE);
  const [hook, which] = [join(source, 'activate_project.sh'), join(source, '_python.txt')];
  const manifestPath = ['--manifest-path', projectFile(group)];
  const python = pythonOf(group);
  return [
    { command: [program, 'shell-hook', ...manifestPath], env, output: hook },
    { command: [program, 'run', ...manifestPath, 'which', 'python'], env, output: which },
    { command: ['bash', '-c', STARTER, 'bash', hook, which], output: python },
    { command: ['chmod', '755', python] },
    { command: [python, '-c', FIND, group.pkg_name.replaceAll('-', '_')], output: packageFile(group) },
  ];
}

/** Once all files are there. */
const opening = (group: GroupAtWork): ScriptCommand => ({ command: ['chmod', '-R', '755', join(group.path!, SOURCE)] });

/** Both together, since they may have to wait in a queue. */
async function installAndInterpret(
  run: ProcedureRun,
  group: GroupAtWork,
  site: InstallSite,
  frozen: boolean,
): Promise<void> {
  if (isFar(site.resource) && site.slurm === null) {
    throw new StepFailed('tasks_pixi_config of the resource has no SLURM_CONFIG. Ask an administrator to add it.');
  }
  await runScript(run, site.slurm, [
    { step: 'install', commands: installation(group, site, frozen) },
    { step: 'interpreter', commands: interpretation(group, site) },
    { step: 'bytecode', commands: [{ command: compileCommand(pythonOf(group)) }, opening(group)] },
  ]);
}

async function manifestIn(run: ProcedureRun, packageRoot: string): Promise<Manifest> {
  const file = join(packageRoot, MANIFEST_FILE);
  if ((await run.host.kindOf(file)) !== 'file')
    throw new StepFailed(`The package has no ${MANIFEST_FILE} in ${packageRoot}.`);
  const read = readManifest(await run.host.readText(file));
  if ('problem' in read) throw new StepFailed(`The manifest is not valid. ${read.problem}`);
  return read.manifest;
}

const lockFile = (group: GroupAtWork) => join(group.path!, SOURCE, 'pixi.lock');

export async function buildEnvironment(
  run: ProcedureRun,
  group: GroupAtWork,
  site: InstallSite,
  options: { frozen: boolean },
): Promise<Built> {
  await run.step('extract', () => extract(run, group));
  await run.step('project file', () => simplify(run, group, site.resource));
  await installAndInterpret(run, group, site, options.frozen);
  return run.step('tasks', async () => {
    const packageRoot = lastLine(await run.host.readText(packageFile(group)));
    const manifest = await manifestIn(run, packageRoot);
    await checkExecutables(run, manifest, packageRoot);
    if ((await run.host.kindOf(lockFile(group))) !== 'file') throw new StepFailed('pixi left no pixi.lock.');
    const tasks = tasksOfManifest(manifest, { python: pythonOf(group), packageRoot, version: group.version });
    return { env_info: await run.host.readText(lockFile(group)), tasks };
  });
}

/** The lock file says exactly what was installed. */
export async function rebuildEnvironment(run: ProcedureRun, group: GroupAtWork, site: InstallSite): Promise<void> {
  await run.step('extract', () => extract(run, group));
  await run.step('project file', async () => {
    await simplify(run, group, site.resource);
    await run.host.writeText(lockFile(group), group.env_info!);
  });
  await installAndInterpret(run, group, site, true);
}

export async function removalProblem(run: ProcedureRun, group: GroupAtWork): Promise<string | undefined> {
  if (group.archive_path !== null && (await run.host.kindOf(group.archive_path)) === 'file') return undefined;
  return 'The uploaded archive is gone, so the environment could not be made again.';
}
