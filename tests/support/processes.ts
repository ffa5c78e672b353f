/** Real processes of the service, started as people start them, each with a data folder of its own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'node_modules/.bin');
const SOURCES = 'packages/server/bin';

/**
 * The programs of the service, below this checkout: those that `scripts/test.sh` has bundled, which begin in a third of the time.
 * They are the sources where a test runs by itself, in long runs, and where something else is loaded with them.
 */
export const program = (name: 'start' | 'servicectl', environment: Record<string, string> = {}): string =>
  join((!environment['NODE_OPTIONS'] && process.env['BUNDLED_PROGRAMS']) || SOURCES, `${name}.cjs`);

/** In another checkout, its sources. */
const startIn = ({ folder = ROOT, environment }: ProcessOptions) =>
  folder === ROOT ? program('start', environment) : `${SOURCES}/start.cjs`;

/** Removed when the test file is over, if nobody did before. */
export { temporaryFolder } from '../../packages/server/test/support/file-end.ts';

export const remove = (folder: string) => rmSync(folder, { recursive: true, force: true });

/** The environment without what would set the service up otherwise. */
export function cleanEnvironment(extra: Record<string, string> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(SERVICE|FRACTAL|POSTGRES|JWT|OAUTH|DB_|LOG_CONFIG|VITEST|NODE_ENV)/.test(name),
  );
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...extra };
}

export interface Running {
  process: ChildProcess;
  output(): string;
  /** Resolves when the output matches, rejects when the process ends before. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
  ended: Promise<number | NodeJS.Signals>;
}

export interface ProcessOptions {
  environment?: Record<string, string>;
  folder?: string;
}

export function startCommand(command: string, args: string[], options: ProcessOptions = {}): Running {
  const child = spawn(command, args, { cwd: options.folder ?? ROOT, env: cleanEnvironment(options.environment) });
  let text = '';
  const listeners = new Set<() => void>();
  const hear = (chunk: Buffer) => {
    text += chunk.toString();
    for (const listener of listeners) listener();
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal!)),
  );
  return {
    process: child,
    output: () => text,
    ended,
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(text);
          if (!match) return;
          listeners.delete(look);
          resolve(match);
        };
        listeners.add(look);
        look();
        void ended.then((how) => reject(new Error(`ended with ${how} before it said ${String(pattern)}:\n${text}`)));
      }),
  };
}

/**
 * `npm start` without npm around it, so that signals reach the service itself. Pages are left out unless they are asked
 * for: few tests look at them, and none should wait for them to be built.
 */
export const startService = (args: string[], options: ProcessOptions = {}) =>
  startCommand(join(BIN, 'node'), [startIn(options), ...args], {
    ...options,
    environment: { SERVICE_WEB_CLIENT: 'false', ...options.environment },
  });

export function servicectl(args: string[], options: ProcessOptions & { input?: string } = {}) {
  const done = spawnSync(join(BIN, 'node'), [join(ROOT, program('servicectl', options.environment)), ...args], {
    cwd: options.folder ?? ROOT,
    env: cleanEnvironment(options.environment),
    encoding: 'utf8',
    input: options.input ?? '',
    // a server that starts where it should refuse ends all the same
    timeout: 60_000,
  });
  return { code: done.status, out: done.stdout, err: done.stderr };
}
