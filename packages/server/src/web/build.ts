/**
 * Builds the web client, or the manual, when there is no build of what its sources are now; one process does it, others that want the same
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
import { CLIENT, type Kind } from './kinds.ts';

const LONGEST_BUILD_MS = 10 * 60_000;

/** The program that builds, if it is installed. */
function programOf({ folder, builder }: Kind): string | undefined {
  try {
    const manifest = createRequire(join(folder, 'package.json')).resolve(`${builder.package}/package.json`);
    return join(dirname(manifest), builder.program);
  } catch {
    return undefined;
  }
}

/** Of what the build says; its errors come last. */
const LONGEST_OUTPUT = 100_000;

async function runBuilder(kind: Kind, program: string, out: string, signal?: AbortSignal): Promise<void> {
  const child = spawn(process.execPath, [program, ...kind.builder.args(out)], {
    cwd: kind.folder,
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
      stripVTControlCharacters(output).split('error during build:').at(-1)!.trim() ||
        `${kind.builder.package} ended with ${code}`,
    );
}

async function build(kind: Kind, program: string, signal?: AbortSignal): Promise<string> {
  const hash = hashOf(kind);
  const ready = buildNamed(kind, hash);
  if (ready !== undefined) return ready;
  const before = currentBuild(kind);
  const unfinished = hash + UNFINISHED;
  await runBuilder(kind, program, join(buildsFolder(kind), unfinished), signal);
  // when something was changed meanwhile, nobody knows what is in it: good for now, but never found again by its name
  const steady = hashOf(kind) === hash;
  const made = publish(kind, unfinished, steady ? hash : `${hash}-${Date.now().toString(36)}`);
  makeCurrent(kind, made);
  // the one before may be in use where its user may not write a mark into it
  tidy(kind, [made, before]);
  return made;
}

/** Whoever may only read the checkout starts by name what it starts. */
function tryToMakeCurrent(kind: Kind, made: string): string {
  try {
    makeCurrent(kind, made);
  } catch {
    // still a build that can be used
  }
  return made;
}

function theBuild(kind: Kind, otherwise: string): string {
  const current = currentBuild(kind);
  if (current === undefined) throw new Error(otherwise);
  return current;
}

export interface BuildOptions {
  /** The web client, unless another kind is given. */
  kind?: Kind;
  /** Another folder than that of the kind. */
  folder?: string;
  /** Told before a build, which takes its time. */
  onBuild?: () => void;
  signal?: AbortSignal;
}

/** Gives back the folder of a build that can be used. Throws when there is none. */
export async function ensureBuilt({ folder, onBuild, signal, ...options }: BuildOptions = {}): Promise<string> {
  const { kind: given = CLIENT } = options;
  const kind = folder === undefined ? given : { ...given, folder };
  if (RELEASE) return theBuild(kind, 'it is not in this release');
  if (!existsSync(join(kind.folder, kind.source))) throw new Error(`it is not in ${kind.folder}`);
  const ready = buildNamed(kind, hashOf(kind));
  if (ready !== undefined) return tryToMakeCurrent(kind, ready);
  const program = programOf(kind);
  if (program === undefined) {
    return theBuild(kind, 'it is not built, and what builds it is not installed');
  }
  onBuild?.();
  const lock = { file: join(kind.folder, kind.lock), longestMs: LONGEST_BUILD_MS };
  return alone(lock, () => build(kind, program, signal), signal);
}
