/**
 * Task groups that are installed with pixi, from an archive of a project. pixi itself is installed by the operator, in the
 * folders that the resource names.
 */
import { join } from 'node:path';
import { parse, stringify, type TomlTable } from 'smol-toml';

import { type Manifest, MANIFEST_FILE, type PixiConfig, type Resource } from '@service/contract';
import type { z } from 'zod';

import { readManifest, tasksOfManifest } from '../manifest.ts';
import type { GroupAtWork } from '../store/lifecycle.ts';
import { checkExecutables } from './inspect.ts';
import type { Built, Place } from './pip.ts';
import { type Run, StepFailed } from './run.ts';

export const SOURCE = 'source_dir';
export const ENVIRONMENT_STEPS = ['extract', 'project file', 'install', 'interpreter', 'tasks'];
export const REBUILD_STEPS = ['extract', 'project file', 'install', 'interpreter'];

type Config = z.output<typeof PixiConfig>;

const configOf = (resource: Resource) => resource.tasks_pixi_config as unknown as Config;

/** pixi with its environment, for one version folder. */
function pixiFor(group: GroupAtWork, resource: Resource) {
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
      PIXI_CACHE_DIR: join(folder, 'cache'),
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

async function extract(run: Run, group: GroupAtWork): Promise<void> {
  const archive = group.archive_path!;
  const top = folderIn(archive);
  const source = join(group.path!, SOURCE);
  await run.host.makeFolder(source);
  // straight to where it stays, so that a half of it has no other place to be left at
  const options = ['--extract', '--gzip', '--strip-components=1', '--file', archive, '--directory', source];
  await run.command(['tar', ...options, '--', top]);
}

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

async function simplify(run: Run, group: GroupAtWork, resource: Resource): Promise<void> {
  const { DEFAULT_ENVIRONMENT = 'default', DEFAULT_PLATFORM = 'linux-64' } = configOf(resource);
  const file = join(group.path!, SOURCE, 'pyproject.toml');
  try {
    await run.host.writeText(
      file,
      simplifiedProject(await run.host.readText(file), DEFAULT_ENVIRONMENT, DEFAULT_PLATFORM),
    );
  } catch (error) {
    if (error instanceof StepFailed) throw error;
    throw new StepFailed(`pyproject.toml of the archive cannot be read: ${(error as Error).message}`);
  }
}

async function install(run: Run, group: GroupAtWork, resource: Resource, frozen: boolean): Promise<void> {
  const { config, program, env } = pixiFor(group, resource);
  await run.command(
    [
      program,
      'install',
      '--concurrent-solves',
      String(config.PIXI_CONCURRENT_SOLVES ?? 4),
      '--concurrent-downloads',
      String(config.PIXI_CONCURRENT_DOWNLOADS ?? 4),
      ...(frozen ? ['--frozen'] : []),
      '--manifest-path',
      join(group.path!, SOURCE, 'pyproject.toml'),
    ],
    { env },
  );
}

const quoted = (path: string) => `'${path.replaceAll("'", `'\\''`)}'`;

/** Writes the program that starts Python inside the environment, and finds the package in it. */
async function makeInterpreter(
  run: Run,
  group: GroupAtWork,
  resource: Resource,
): Promise<{ python: string; packageRoot: string }> {
  const { program, env } = pixiFor(group, resource);
  const source = join(group.path!, SOURCE);
  const manifestPath = ['--manifest-path', join(source, 'pyproject.toml')];
  const hook = await run.command([program, 'shell-hook', ...manifestPath], { env, quiet: true });
  await run.host.writeText(join(source, 'activate_project.sh'), hook);
  const inner = (await run.command([program, 'run', ...manifestPath, 'which', 'python'], { env, quiet: true }))
    .trim()
    .split('\n')
    .at(-1)!;
  const python = join(source, 'project_python.sh');
  const script = `#!/bin/bash\nsource ${quoted(join(source, 'activate_project.sh'))}\nexport PYTHONNOUSERSITE=1\nexec ${quoted(inner)} "$@"\n`;
  await run.host.writeText(python, script, 0o755);
  const find = 'import importlib, os, sys; print(os.path.dirname(importlib.import_module(sys.argv[1]).__file__))';
  const found = await run.command([python, '-c', find, group.pkg_name.replaceAll('-', '_')], { quiet: true });
  await run.command(['chmod', '-R', '755', source]);
  return { python, packageRoot: found.trim().split('\n').at(-1)! };
}

async function manifestIn(run: Run, packageRoot: string): Promise<Manifest> {
  const file = join(packageRoot, MANIFEST_FILE);
  if ((await run.host.kindOf(file)) !== 'file')
    throw new StepFailed(`The package has no ${MANIFEST_FILE} in ${packageRoot}.`);
  const read = readManifest(await run.host.readText(file));
  if ('problem' in read) throw new StepFailed(`The manifest is not valid. ${read.problem}`);
  return read.manifest;
}

const lockFile = (group: GroupAtWork) => join(group.path!, SOURCE, 'pixi.lock');

export async function buildEnvironment(
  run: Run,
  group: GroupAtWork,
  { resource }: Place,
  options: { frozen: boolean },
): Promise<Built> {
  await run.step('extract', () => extract(run, group));
  await run.step('project file', () => simplify(run, group, resource));
  await run.step('install', () => install(run, group, resource, options.frozen));
  const { python, packageRoot } = await run.step('interpreter', () => makeInterpreter(run, group, resource));
  return run.step('tasks', async () => {
    const manifest = await manifestIn(run, packageRoot);
    await checkExecutables(run, manifest, packageRoot);
    if ((await run.host.kindOf(lockFile(group))) !== 'file') throw new StepFailed('pixi left no pixi.lock.');
    const tasks = tasksOfManifest(manifest, { python, packageRoot, version: group.version });
    return { env_info: await run.host.readText(lockFile(group)), tasks };
  });
}

/** The lock file says exactly what was installed. */
export async function rebuildEnvironment(run: Run, group: GroupAtWork, { resource }: Place): Promise<void> {
  await run.step('extract', () => extract(run, group));
  await run.step('project file', async () => {
    await simplify(run, group, resource);
    await run.host.writeText(lockFile(group), group.env_info!);
  });
  await run.step('install', () => install(run, group, resource, true));
  await run.step('interpreter', () => makeInterpreter(run, group, resource));
}

export async function removalProblem(run: Run, group: GroupAtWork): Promise<string | undefined> {
  if (group.archive_path !== null && (await run.host.kindOf(group.archive_path)) === 'file') return undefined;
  return 'The uploaded archive is not there any more, so the environment could not be made again.';
}
