/** How long an environment of the size of fractal-tasks-core takes, with uv and with pip, both with a warm cache. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { localHost } from '../packages/server/src/hosts/index.ts';
import { indexSettings } from '../packages/server/src/tasks/package-index.ts';
import { chooseInstaller, type Installer, pipInstaller } from '../packages/server/src/tasks/procedures/installer.ts';
import { createProcedureRun } from '../packages/server/src/tasks/procedures/procedure-run.ts';

const PACKAGE = 'fractal-tasks-core';

async function build(installer: Installer, folder: string): Promise<number> {
  const venv = join(folder, `venv-${Math.random()}`);
  const start = performance.now();
  await installer.makeEnvironment(venv);
  await installer.install(venv, [PACKAGE]);
  const seconds = (performance.now() - start) / 1000;
  rmSync(venv, { recursive: true, force: true });
  return seconds;
}

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'service-bench-'));
  const python = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
  const nothing = () => Promise.resolve();
  const quiet = createProcedureRun({
    host: localHost,
    name: 'collect',
    steps: [],
    log: '',
    save: nothing,
    remember: nothing,
  });
  try {
    const index = await indexSettings(localHost, python, null);
    const parts = { run: quiet, python, index, cacheDir: join(folder, 'cache') };
    const uv = await chooseInstaller(parts, { uv: null, toolsDir: folder });
    if (uv.name !== 'uv') throw new Error('uv could not be had');
    const pip = pipInstaller(parts);
    const times: Record<string, number> = {};
    for (const installer of [uv, pip]) {
      console.log(`${installer.name}, empty cache   ${(await build(installer, folder)).toFixed(1)} s`);
      times[installer.name] = await build(installer, folder);
      console.log(`${installer.name}, warm cache    ${times[installer.name]!.toFixed(1)} s`);
    }
    console.log(`ratio             ${(times['uv']! / times['pip']!).toFixed(2)}   (promised: at most 0.20)`);
  } finally {
    await quiet.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
