/** This machine. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { commandEnvironment } from './environment.ts';
import {
  type Command,
  type Finished,
  type Host,
  HostTimeout,
  type LaunchOptions,
  type ProcessHandle,
  type RunOptions,
} from './host.ts';
import { feed } from './input.ts';

const PATIENCE_MS = 5000;

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

function run(command: Command, options: RunOptions = {}): Promise<Finished> {
  const [program, ...args] = command;
  const { onOutput, onBytes, input, timeoutMs } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd ?? '/',
      env: { ...commandEnvironment(options), ...options.env, ...options.secrets },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: true,
    });
    const [stdout, stderr] = [child.stdout!, child.stderr!];
    // a character may come in two pieces, which the decoder of the stream puts together
    if (onBytes) stdout.on('data', onBytes);
    else stdout.setEncoding('utf8').on('data', (text: string) => onOutput?.(text, 'stdout'));
    stderr.setEncoding('utf8').on('data', (text: string) => onOutput?.(text, 'stderr'));

    const closed = new AbortController();
    const hangUp = () => child.stdio.forEach((stream) => stream?.destroy());
    /** Ends the command. One that cannot be ended (it may belong to somebody else) is not waited for. */
    const end = () => {
      if (child.pid === undefined) return;
      void endGroup(child.pid);
      const lastly = setTimeout(() => {
        hangUp();
        child.unref();
        reject(new HostTimeout(`${program} was asked to end and did not. It may still run as process ${child.pid}.`));
      }, 2 * PATIENCE_MS);
      closed.signal.addEventListener('abort', () => clearTimeout(lastly));
    };
    /** Nothing more is heard from it; also what cannot be ended ends when it next prints something. */
    const endBecause = (problem: unknown) => {
      end();
      hangUp();
      reject(problem);
    };

    const overTime = new HostTimeout(`${program} took longer than ${(timeoutMs ?? 0) / 1000} s and was ended.`);
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => endBecause(overTime), timeoutMs);
    options.signal?.addEventListener('abort', end, { once: true });
    if (options.signal?.aborted) end();
    child.once('error', reject);
    child.once('close', (code, signal) => {
      closed.abort();
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', end);
      resolve({ code, signal });
    });
    if (input !== undefined) feed(child.stdin!, input, closed.signal).catch(endBecause);
    if (child.pid !== undefined && options.onStart) {
      const told = async (pid: number) => options.onStart!({ pid, started: startOf(pid) });
      // a command that nobody knows of must not go on
      told(child.pid).catch(endBecause);
    }
  });
}

async function launch(command: Command, { cwd, output, onExit }: LaunchOptions): Promise<ProcessHandle> {
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
