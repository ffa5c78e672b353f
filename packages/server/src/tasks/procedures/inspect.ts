/** What an environment holds: the frozen list of its packages, and where the manifest of one is. */
import { dirname, isAbsolute, join } from 'node:path';

import { type Manifest, MANIFEST_FILE } from '@service/contract';
import { z } from 'zod';

import { normalisedName } from '../package-index.ts';
import { readManifest } from '../manifest.ts';
import { type ProcedureRun, StepFailed } from './procedure-run.ts';

const FIND = `
import json, sys
from importlib import metadata
distribution = metadata.distribution(sys.argv[1])
files = [str(distribution.locate_file(f)) for f in (distribution.files or []) if f.name == sys.argv[2]]
print(json.dumps({"name": distribution.metadata["Name"], "root": str(distribution.locate_file("")), "manifests": files}))
`;

const Found = z.object({ name: z.string(), root: z.string(), manifests: z.array(z.string()) });

/** All packages with their versions, as the environment can be built again from. */
export async function freeze(run: ProcedureRun, venv: string): Promise<string> {
  return run.command([join(venv, 'bin/python'), '-m', 'pip', 'freeze', '--all', '--disable-pip-version-check'], {
    quiet: true,
  });
}

/** What a package runs when Python starts may print, too. */
function readFound(output: string): z.output<typeof Found> {
  try {
    return Found.parse(JSON.parse(output.trim().split('\n').at(-1)!));
  } catch (error) {
    throw new StepFailed(
      'Python did not say where the files of the package are. Does the package print when it is loaded?',
      { cause: error },
    );
  }
}

/** The manifest of an installed package and the folder that its executables are relative to. */
export async function findManifest(
  run: ProcedureRun,
  venv: string,
  pkgName: string,
): Promise<{ manifest: Manifest; packageRoot: string }> {
  const output = await run.command([join(venv, 'bin/python'), '-I', '-c', FIND, pkgName, MANIFEST_FILE], {
    quiet: true,
  });
  const found = readFound(output);
  if (normalisedName(found.name) !== pkgName) {
    throw new StepFailed(`The installed package is called ${found.name}, and ${pkgName} was asked for.`);
  }
  const [file, ...others] = found.manifests;
  if (file === undefined) {
    throw new StepFailed(`The package ${pkgName} has no ${MANIFEST_FILE}, so it is not a task package.`);
  }
  if (others.length > 0) throw new StepFailed(`The package ${pkgName} has more than one ${MANIFEST_FILE}.`);
  const read = readManifest(await run.host.readText(file));
  if ('problem' in read) throw new StepFailed(`The manifest of ${pkgName} is not valid. ${read.problem}`);
  const guessed = join(found.root, pkgName.replaceAll('-', '_'));
  const packageRoot = (await run.host.kindOf(guessed)) === 'folder' ? guessed : dirname(file);
  return { manifest: read.manifest, packageRoot };
}

/** Every executable that the manifest names must be there. */
export async function checkExecutables(run: ProcedureRun, manifest: Manifest, packageRoot: string): Promise<void> {
  for (const task of manifest.task_list) {
    for (const executable of [task.executable_non_parallel, task.executable_parallel]) {
      if (executable === null) continue;
      const path = isAbsolute(executable) ? executable : join(packageRoot, executable);
      if ((await run.host.kindOf(path)) !== 'file')
        throw new StepFailed(`The task "${task.name}" needs ${path}, which is not there.`);
    }
  }
}
