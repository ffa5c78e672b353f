/** This machine. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Finished, Host, LaunchOptions, ProcessHandle, RunOptions } from './host.ts';

const PATIENCE_MS = 5000;

/** Settings of the service are not for the commands it starts: they hold keys and passwords. */
const PRIVATE = /^(SERVICE|FRACTAL|POSTGRES|JWT|OAUTH|COOKIE|DB)_|SECRET|PASSWORD|TOKEN/;

const commandEnvironment = (): Record<string, string> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !PRIVATE.test(name))) as Record<string, string>;

/** When a process began, as the system counts; empty when there is none, or only its remains. */
function startOf(pid: number): string {
  try {
    // the name of a program may hold spaces and brackets, so count from behind it
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? '' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

function signalled(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Signals a process and everything it started, which share its group. */
const signalGroup = (pid: number, signal: NodeJS.Signals) => signalled(-pid, signal);

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

async function launch(
  command: readonly [string, ...string[]],
  { cwd, output, onExit }: LaunchOptions,
): Promise<ProcessHandle> {
  const [program, ...args] = command;
  const file = await open(output, 'a');
  try {
    const child = spawn(program, args, {
      cwd,
      env: commandEnvironment(),
      stdio: ['ignore', file.fd, file.fd],
      detached: true,
    });
    if (onExit) child.once('exit', onExit);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
    return { pid: child.pid!, started: startOf(child.pid!) };
  } finally {
    await file.close();
  }
}

const isRunning = ({ pid, started }: ProcessHandle) => started !== '' && startOf(pid) === started;

async function endLeftOver(handle: ProcessHandle): Promise<boolean> {
  if (!isRunning(handle)) return false;
  await endGroup(handle.pid);
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
  launch,
  isAlive: (handle) => Promise.resolve(isRunning(handle)),
  signal: (handle, signal) => Promise.resolve(isRunning(handle) && signalled(handle.pid, signal)),
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
