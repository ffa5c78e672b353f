/** `servicectl start`: the HTTP server alone. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

import { run } from '../run.ts';
import { loadSettings } from '../workplace.ts';

interface Options {
  host?: string;
  port?: number;
  reload?: true;
}

/** Node watches the files of the child and starts it again when one changes. */
function startAgainOnChange(): Promise<void> {
  const folder = join(import.meta.dirname, '..');
  const args = process.argv.slice(2).filter((argument) => argument !== '--reload');
  const child = spawn(process.execPath, [`--watch-path=${folder}`, join(folder, 'cli/main.ts'), ...args], {
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
