/** A pixi project with two tasks, packed as people upload it, and the program that stands in for pixi (pixi-stand-in). */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const LOCK = 'version: 6 # brought along\n';
export const PROJECT = `
[project]
name = "mock-pixi-tasks"
version = "1.2.3"

[tool.pixi.workspace]
channels = ["conda-forge"]
platforms = ["linux-64", "osx-arm64"]

[tool.pixi.environments]
default = ["base"]
test = ["test"]

[tool.pixi.tasks]
hello = "echo hello"
`;
const MANIFEST = {
  manifest_version: '2',
  task_list: [
    { name: 'Make', executable_non_parallel: 'make.py', executable_parallel: 'tasks/work.py' },
    { name: 'Look', executable_parallel: 'tasks/work.py' },
  ],
};
const SCRIPT =
  'import os, sys, mock_pixi_tasks\nprint(mock_pixi_tasks.NAME, os.environ["PYTHONNOUSERSITE"], os.environ["CONDA_PREFIX"], *sys.argv[1:])\n';
export const PACKAGE = 'src/mock_pixi_tasks';

export type Files = Record<string, string | null>;
const FILES: Files = {
  'pyproject.toml': PROJECT,
  'pixi.lock': LOCK,
  [`${PACKAGE}/__init__.py`]: 'NAME = "mock"\n',
  [`${PACKAGE}/__FRACTAL_MANIFEST__.json`]: JSON.stringify(MANIFEST),
  [`${PACKAGE}/make.py`]: SCRIPT,
  [`${PACKAGE}/tasks/work.py`]: SCRIPT,
};

interface Packed {
  /** Files by their path; null leaves one out. */
  changes?: Files;
  /** The one folder in it, as `git archive` makes them: named like the file. */
  top?: string;
}

/** Packs the project into the folder, and gives back the path of the archive. */
export function packProject(folder: string, filename: string, { changes = {}, top }: Packed = {}): string {
  const name = top ?? filename.replace(/\.tar\.gz$/, '');
  for (const [path, text] of Object.entries({ ...FILES, ...changes })) {
    if (text === null) continue;
    mkdirSync(dirname(join(folder, name, path)), { recursive: true });
    writeFileSync(join(folder, name, path), text);
  }
  execFileSync('tar', ['czf', join(folder, 'archive'), '-C', folder, name]);
  return join(folder, 'archive');
}

/** Gives back the folder that a resource names as this version of pixi. */
export function putPixi(folder: string, version: string): string {
  const home = join(folder, 'pixi', version);
  mkdirSync(join(home, 'bin'), { recursive: true });
  // a copy: another account may not reach this checkout
  copyFileSync(join(import.meta.dirname, 'pixi-stand-in'), join(home, 'bin/pixi'));
  return home;
}
