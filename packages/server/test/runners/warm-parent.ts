/** Warm parents with real processes, and what they tell. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../support/until.ts';
import { newFolder, whenDone, workerFile, type Running } from './batch.ts';

interface WarmParentOptions {
  python: string;
  /** Imported ahead. */
  scripts?: string[];
  environment?: Record<string, string>;
  working_folder?: string;
  idle_seconds?: number;
  lease_seconds?: number;
}

interface State {
  pid: number;
  batches: number;
  memory_bytes: number;
  scripts: Record<string, string>;
}

/** Without settings that change how Python buffers or warns. */
export const PLAIN = { PATH: process.env['PATH'], HOME: process.env['HOME'] };

export function makeWarmParent({ python, ...options }: WarmParentOptions) {
  const folder = newFolder();
  const lease = join(newFolder(), 'lease');
  writeFileSync(lease, '');
  const rules = {
    interpreter: python,
    environment: options.environment ?? {},
    working_folder: options.working_folder ?? '/',
    idle_seconds: options.idle_seconds ?? 60,
    lease,
    lease_seconds: options.lease_seconds ?? 60,
  };
  writeFileSync(join(folder, 'warm.json'), JSON.stringify(rules));
  const ahead = (scripts: string[]) => writeFileSync(join(folder, 'ahead.json'), JSON.stringify({ scripts }));
  ahead(options.scripts ?? []);
  const state = (): State | undefined => {
    try {
      return JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as State;
    } catch {
      return undefined;
    }
  };
  return {
    folder,
    state,
    ahead,
    /** As if no service had touched it for long. */
    endLease: () => utimesSync(lease, 1, 1),
    async start(environment: NodeJS.ProcessEnv = PLAIN): Promise<Running> {
      const parent = spawn(python, ['-I', '-S', workerFile(), '--warm', folder], {
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: environment,
      });
      let stderr = '';
      parent.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
      // its last words may come after its end; nothing else holds the pipe
      const closed = new Promise((resolve) => parent.once('close', resolve));
      const done = whenDone(parent, () => stderr).then(async ({ code }) => {
        await closed;
        return { code, stderr };
      });
      const running = { process: parent, done };
      await until(() => existsSync(join(folder, 'socket')) || parent.exitCode !== null);
      return running;
    },
    /** What became of the imports for a script. */
    settled: (script: string) =>
      until(() => {
        const word = state()?.scripts[script];
        return word !== 'importing' && word;
      }),
  };
}
