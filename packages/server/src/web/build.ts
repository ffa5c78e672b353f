/**
 * Builds the web client when there is no build of what its sources are now; one process does it, others that want the same
 * wait for it. Where there is nothing to build it with, as in an installation without development dependencies, the current
 * build is good enough, whatever it was made from.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import { guarded, ignored } from '../guard.ts';
import { RELEASE } from '../version.ts';
import { buildNamed, buildsFolder, currentBuild, hashOf, makeCurrent, publish, tidy, UNFINISHED } from './builds.ts';
import { alone } from './claim.ts';

export const WEB = join(import.meta.dirname, '../../../web');

const LONGEST_BUILD_MS = 10 * 60_000;

/** Vite, if it is installed. */
function builder(folder: string): string | undefined {
  try {
    return join(dirname(createRequire(join(folder, 'package.json')).resolve('vite/package.json')), 'bin/vite.js');
  } catch {
    return undefined;
  }
}

/** Of what the build says; its errors come last. */
const LONGEST_OUTPUT = 100_000;

async function runVite(vite: string, folder: string, out: string, signal?: AbortSignal): Promise<void> {
  const child = spawn(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    // with another value, as in tests, it would be a build for development
    env: { ...process.env, NODE_ENV: 'production', WEB_BUILD_FOLDER: out },
    ...(signal ? { signal } : {}),
  });
  let output = '';
  const keep = (chunk: Buffer) => (output = (output + chunk.toString()).slice(-LONGEST_OUTPUT));
  for (const stream of [child.stdout, child.stderr]) stream.on('data', guarded(keep, ignored));
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  if (code !== 0)
    throw new Error(
      stripVTControlCharacters(output).split('error during build:').at(-1)!.trim() || `vite ended with ${code}`,
    );
}

async function build(folder: string, vite: string, signal?: AbortSignal): Promise<string> {
  const hash = hashOf(folder);
  const ready = buildNamed(folder, hash);
  if (ready !== undefined) return ready;
  const before = currentBuild(folder);
  const unfinished = hash + UNFINISHED;
  await runVite(vite, folder, join(buildsFolder(folder), unfinished), signal);
  // when something was changed meanwhile, nobody knows what is in it: good for now, but never found again by its name
  const steady = hashOf(folder) === hash;
  const made = publish(folder, unfinished, steady ? hash : `${hash}-${Date.now().toString(36)}`);
  makeCurrent(folder, made);
  // the one before may be in use where its user may not write a mark into it
  tidy(folder, [made, before]);
  return made;
}

/** Whoever may only read the checkout starts by name what it starts. */
function tryToMakeCurrent(folder: string, made: string): string {
  try {
    makeCurrent(folder, made);
  } catch {
    // still a build that can be used
  }
  return made;
}

function theBuild(folder: string, otherwise: string): string {
  const current = currentBuild(folder);
  if (current === undefined) throw new Error(otherwise);
  return current;
}

export interface BuildOptions {
  /** The package of the client. */
  folder?: string;
  /** Told before a build, which takes its time. */
  onBuild?: () => void;
  signal?: AbortSignal;
}

/** Gives back the folder of a build that can be used. Throws when there is none. */
export async function ensureBuilt({ folder = WEB, onBuild, signal }: BuildOptions = {}): Promise<string> {
  if (!existsSync(join(folder, 'package.json'))) throw new Error(`it is not in ${folder}`);
  if (RELEASE) return theBuild(folder, 'it is not in this release');
  const ready = buildNamed(folder, hashOf(folder));
  if (ready !== undefined) return tryToMakeCurrent(folder, ready);
  const vite = builder(folder);
  if (vite === undefined) {
    return theBuild(folder, 'it is not built, and what builds it is not installed');
  }
  onBuild?.();
  const lock = { file: join(folder, '.svelte-kit/build.lock'), longestMs: LONGEST_BUILD_MS };
  return alone(lock, () => build(folder, vite, signal), signal);
}
