/** `servicectl start`: the HTTP server alone. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

import { programIn } from '../program.ts';
import { run } from '../run.ts';
import { SettingsError } from '../settings/index.ts';
import { RELEASE } from '../version.ts';
import { loadSettings } from '../workplace.ts';

interface Options {
  host?: string;
  port?: number;
  reload?: true;
}

/** Node watches the files of the child and starts it again when one changes. */
function startAgainOnChange(): Promise<void> {
  if (RELEASE) throw new SettingsError('--reload is for a checkout. Nothing changes in a release: start without it.');
  const folder = join(import.meta.dirname, '..');
  const args = process.argv.slice(2).filter((argument) => argument !== '--reload');
  const child = spawn(process.execPath, [`--watch-path=${folder}`, programIn(folder, 'cli/main'), ...args], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.on('exit', () => resolve()));
}

export async function start({ host, port, reload }: Options): Promise<void> {
  if (reload) return startAgainOnChange();
  const settings = loadSettings({ SERVICE_HOST: host, SERVICE_PORT: port === undefined ? undefined : String(port) });
  await run(settings, {
    setUp: false,
    web: false,
    onReady: ({ address }) => console.log(`The service answers at ${address}`),
  });
}
