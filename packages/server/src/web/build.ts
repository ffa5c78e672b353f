/**
 * The build of the web client: made when it is missing or older than its sources, by one process at a time. Where there is
 * nothing to build it with, as in an installation without development dependencies, a build that is there is good enough.
 */
import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';

export const WEB = join(import.meta.dirname, '../../../web');

/** Folders too: their time tells that a file is gone. */
const SOURCES = [
  'src',
  'src/**',
  '*.{ts,json}',
  '../contract/src/**',
  '../demo-tasks/**/*.{py,json,toml}',
  '../../docs/guide/**',
];
const LOOK_EVERY_MS = 200;
const LONGEST_BUILD_MS = 10 * 60_000;

export const placeOf = (folder = WEB) => join(folder, 'build');
const entryOf = (folder: string) => join(placeOf(folder), 'handler.js');

export type State = 'fresh' | 'stale' | 'missing';

export function stateOf(folder = WEB): State {
  const built = statSync(entryOf(folder), { throwIfNoEntry: false })?.mtimeMs;
  if (built === undefined) return 'missing';
  const isOlder = (file: string) => (statSync(join(folder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0) <= built;
  return globSync(SOURCES, { cwd: folder }).every(isOlder) ? 'fresh' : 'stale';
}

/** Vite, if it is installed. */
function builder(folder: string): string | undefined {
  try {
    return join(dirname(createRequire(join(folder, 'package.json')).resolve('vite/package.json')), 'bin/vite.js');
  } catch {
    return undefined;
  }
}

const exists = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** A lock whose holder is gone, or has had more time than any build takes. */
function isLeft(lock: string): boolean {
  try {
    const age = Date.now() - statSync(lock).mtimeMs;
    const [host, pid] = readFileSync(lock, 'utf8').split(' ');
    return age > LONGEST_BUILD_MS || (host === hostname() && !exists(Number(pid)));
  } catch {
    return false;
  }
}

/** Does the work while no other process does it. */
export async function alone<T>(lock: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  mkdirSync(dirname(lock), { recursive: true });
  for (;;) {
    try {
      writeFileSync(lock, `${hostname()} ${process.pid}`, { flag: 'wx' });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (isLeft(lock)) rmSync(lock, { force: true });
      else await sleep(LOOK_EVERY_MS, undefined, signal ? { signal } : {});
    }
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

async function build(folder: string, vite: string, signal?: AbortSignal): Promise<void> {
  const began = new Date();
  const child = spawn(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    // with another value, as in tests, it would be a build for development
    env: { ...process.env, NODE_ENV: 'production' },
    ...(signal ? { signal } : {}),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  if (code !== 0)
    throw new Error(
      stripVTControlCharacters(output).split('error during build:').at(-1)!.trim() || `vite ended with ${code}`,
    );
  // what was changed in the meantime may not be in it
  utimesSync(entryOf(folder), began, began);
}

export interface BuildOptions {
  /** The package of the client. */
  folder?: string;
  /** Told before a build, which takes its time. */
  onBuild?: () => void;
  signal?: AbortSignal;
  /** Something to do with the build while no other process can replace it. */
  then?: () => void;
}

/** Gives back the folder of a build that can be used. Throws when there is none. */
export async function ensureBuilt({ folder = WEB, onBuild, signal, then }: BuildOptions = {}): Promise<string> {
  const place = placeOf(folder);
  if (stateOf(folder) === 'fresh' && then === undefined) return place;
  if (!existsSync(join(folder, 'package.json'))) throw new Error(`it is not in ${folder}`);
  const vite = builder(folder);
  if (vite === undefined) {
    if (!existsSync(entryOf(folder))) throw new Error('it is not built, and what builds it is not installed');
    then?.();
    return place;
  }
  if (stateOf(folder) !== 'fresh') onBuild?.();
  const work = async () => {
    if (stateOf(folder) !== 'fresh') await build(folder, vite, signal);
    then?.();
  };
  await alone(join(folder, '.svelte-kit/build.lock'), work, signal);
  return place;
}
