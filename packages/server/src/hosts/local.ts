/** This machine. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Finished, Host, ProcessHandle, RunOptions } from './host.ts';

const PATIENCE_MS = 5000;

/** Settings of the service are not for the commands it starts: they hold keys and passwords. */
const PRIVATE = /^(SERVICE|FRACTAL|POSTGRES|JWT|OAUTH|COOKIE|DB)_|SECRET|PASSWORD|TOKEN/;

const commandEnvironment = (): Record<string, string> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !PRIVATE.test(name))) as Record<string, string>;

/** When a process began, as the system counts; empty when there is none. */
function startOf(pid: number): string {
  try {
    // the name of a program may hold spaces and brackets, so count from behind it
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/** Signals a process and everything it started, which share its group. */
function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

async function endGroup(pid: number): Promise<void> {
  signalGroup(pid, 'SIGTERM');
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline && signalGroup(pid, 0 as unknown as NodeJS.Signals)) await sleep(50);
  signalGroup(pid, 'SIGKILL');
}

function run(command: readonly [string, ...string[]], options: RunOptions = {}): Promise<Finished> {
  const [program, ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd ?? '/',
      env: { ...commandEnvironment(), ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const from of ['stdout', 'stderr'] as const) {
      // a character may come in two pieces, which the decoder of the stream puts together
      child[from].setEncoding('utf8').on('data', (text: string) => options.onOutput?.(text, from));
    }
    const abort = () => void (child.pid !== undefined && endGroup(child.pid));
    options.signal?.addEventListener('abort', abort, { once: true });
    if (options.signal?.aborted) abort();
    child.once('error', reject);
    child.once('close', (code, signal) => {
      options.signal?.removeEventListener('abort', abort);
      resolve({ code, signal });
    });
    if (child.pid !== undefined && options.onStart) {
      const told = async (pid: number) => options.onStart!({ pid, started: startOf(pid) });
      // a command that nobody knows of must not go on
      told(child.pid).catch((error: unknown) => {
        abort();
        reject(error);
      });
    }
  });
}

async function endLeftOver({ pid, started }: ProcessHandle): Promise<boolean> {
  if (startOf(pid) !== started || started === '') return false;
  await endGroup(pid);
  return true;
}

async function kindOf(path: string): Promise<'file' | 'folder' | undefined> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

export const localHost: Host = {
  run,
  endLeftOver,
  kindOf,
  readText: (path) => readFile(path, 'utf8'),
  async writeText(path, text, mode) {
    await writeFile(path, text, { flush: true });
    if (mode !== undefined) await chmod(path, mode);
  },
  bring: (localPath, path) => copyFile(localPath, path),
  makeFolder: async (path) => void (await mkdir(path, { recursive: true })),
  rename: (from, to) => rename(from, to),
  remove: (path) => rm(path, { recursive: true, force: true, maxRetries: 3 }),
};
