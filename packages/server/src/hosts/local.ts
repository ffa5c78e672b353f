/** This machine. */
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { guarded, ignored } from '../guard.ts';
import { startOf } from '../processes.ts';
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
import { handOn } from './output.ts';
import { bytesBetween, collect, openRegular } from './reading.ts';

const PATIENCE_MS = 5000;
/** Of a file that is read as a text. */
const LONGEST_TEXT = 32 * 2 ** 20;

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

/** As whom a command runs that root starts. No groups but this one are kept. */
export interface Identity {
  uid: number;
  gid: number;
  /** The whole environment of its commands; the options add to it. */
  environment(options: { installs?: boolean }): Record<string, string>;
}

const idsOf = (identity: Identity | undefined) => (identity ? { uid: identity.uid, gid: identity.gid } : {});
const environmentOf = (identity: Identity | undefined, options: { installs?: boolean }) =>
  identity ? identity.environment(options) : commandEnvironment(options);

export function runAs(identity: Identity | undefined, command: Command, options: RunOptions = {}): Promise<Finished> {
  const [program, ...args] = command;
  const { onOutput, onBytes, input, timeoutMs } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd ?? '/',
      env: { ...environmentOf(identity, options), ...options.env, ...options.secrets },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: true,
      ...idsOf(identity),
    });
    const [stdout, stderr] = [child.stdout!, child.stderr!];
    const closed = new AbortController();
    const hangUp = () => child.stdio.forEach((stream) => stream?.destroy());
    /** Ends the command. One that cannot be ended (it may belong to somebody else) is not waited for. */
    const end = () => {
      if (child.pid === undefined) return;
      void endGroup(child.pid);
      const still = new HostTimeout(program, `was asked to end and did not. It may still run as process ${child.pid}.`);
      const giveUp = () => {
        hangUp();
        child.unref();
        reject(still);
      };
      const lastly = setTimeout(guarded(giveUp, reject), 2 * PATIENCE_MS);
      closed.signal.addEventListener(
        'abort',
        guarded(() => clearTimeout(lastly), reject),
      );
    };
    /** Nothing more is heard from it; also what cannot be ended ends when it next prints something. */
    const endBecause = (problem: unknown) => {
      end();
      hangUp();
      reject(problem);
    };

    const overTime = new HostTimeout(program, `took longer than ${(timeoutMs ?? 0) / 1000} s and was ended.`);
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(
            guarded(() => endBecause(overTime), reject),
            timeoutMs,
          );
    const guardedEnd = guarded(end, reject);
    options.signal?.addEventListener('abort', guardedEnd, { once: true });
    if (options.signal?.aborted) end();
    child.once('error', reject);
    // a character may come in two pieces, which the decoder of the stream puts together
    const say = (from: 'stdout' | 'stderr') => (text: string) => onOutput?.(text, from);
    const allTaken = [
      onBytes ? handOn(stdout, onBytes, endBecause) : handOn(stdout.setEncoding('utf8'), say('stdout'), endBecause),
      handOn(stderr.setEncoding('utf8'), say('stderr'), endBecause),
    ];
    const onClose = async (code: number | null, signal: NodeJS.Signals | null) => {
      for (const taken of allTaken) await taken();
      closed.abort();
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', guardedEnd);
      resolve({ code, signal });
    };
    child.once('close', guarded(onClose, reject));
    if (input !== undefined) feed(child.stdin!, input, closed.signal).catch(endBecause);
    if (child.pid !== undefined && options.onStart) {
      const told = async (pid: number) => options.onStart!({ pid, started: startOf(pid) });
      // a command that nobody knows of must not go on
      told(child.pid).catch(endBecause);
    }
  });
}

interface Launched extends LaunchOptions {
  /** What it reads; without it, nothing. */
  input?: string;
}

export async function launchAs(
  identity: Identity | undefined,
  command: Command,
  { cwd, output, onExit, input }: Launched,
): Promise<ProcessHandle> {
  const [program, ...args] = command;
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
  // what earlier commands left there may be a pipe, whose opening would wait for a reader
  const file = await open(output, O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_WRONLY, 0o644);
  try {
    const child = spawn(program, args, {
      cwd,
      env: environmentOf(identity, {}),
      stdio: [input === undefined ? 'ignore' : 'pipe', file.fd, file.fd],
      detached: true,
      ...idsOf(identity),
    });
    child.stdin?.on('error', ignored);
    child.stdin?.end(input);
    if (onExit) child.once('exit', guarded(onExit, ignored));
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

export const isRunning = ({ pid, started }: ProcessHandle) => started !== '' && startOf(pid) === started;

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

async function readText(path: string): Promise<string> {
  // installers may link to files in their caches
  const file = await openRegular(path, { links: true });
  if (!file) throw new Error(`There is no file ${path}.`);
  try {
    if (file.size > LONGEST_TEXT) throw new Error(`${path} is too large: it has ${file.size} bytes.`);
    return (await collect(bytesBetween(file.handle, 0, file.size))).toString('utf8');
  } finally {
    await file.handle.close();
  }
}

export const localHost: Host = {
  run: (command, options) => runAs(undefined, command, options),
  launch: (command, options) => launchAs(undefined, command, options),
  isAlive: (handle) => Promise.resolve(isRunning(handle)),
  signal: (handle, signal) => Promise.resolve(isRunning(handle) && signalled(handle.pid, signal)),
  endLeftOver,
  kindOf,
  readText,
  async writeText(path, text, mode) {
    await writeFile(path, text, { flush: true });
    if (mode !== undefined) await chmod(path, mode);
  },
  bring: (localPath, path) => copyFile(localPath, path),
  makeFolder: async (path) => void (await mkdir(path, { recursive: true })),
  rename: (from, to) => rename(from, to),
  remove: (path) => rm(path, { recursive: true, force: true, maxRetries: 3 }),
};
