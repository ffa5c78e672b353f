/**
 * Where the builds of the web client and of the manual are: each in a folder of its own, for the client
 * packages/web/build/<hash of what it is made from>. A folder is there when it is complete, and stays as it is, so a running
 * service keeps the pages it started with whatever is built beside them. `build/package.json` names the current one, for
 * `node packages/web/build`.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { isLeft } from './claim.ts';
import type { Kind } from './kinds.ts';

const NAME = /^[0-9a-f]{16}(-\w+)?$/;
export const UNFINISHED = '.part';

export const buildsFolder = ({ folder }: Kind) => join(folder, 'build');

export function hashOf({ folder, sources }: Kind): string {
  const hash = createHash('sha256');
  for (const file of globSync([...sources], { cwd: folder }).sort()) {
    const path = join(folder, file);
    if (!statSync(path).isFile()) continue;
    const content = readFileSync(path);
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

/** The folder of this name, if it is there. */
export function buildNamed(kind: Kind, name: string): string | undefined {
  const build = join(buildsFolder(kind), name);
  return existsSync(join(build, kind.sign)) ? build : undefined;
}

/** The build that was wanted last, whatever it was made from. */
export function currentBuild(kind: Kind): string | undefined {
  try {
    const { main } = JSON.parse(readFileSync(join(buildsFolder(kind), 'package.json'), 'utf8')) as { main: string };
    return buildNamed(kind, dirname(main));
  } catch {
    return undefined;
  }
}

export function makeCurrent(kind: Kind, build: string): void {
  if (currentBuild(kind) === build) return;
  const pointer = join(buildsFolder(kind), 'package.json');
  writeFileSync(pointer + UNFINISHED, JSON.stringify({ type: 'module', main: `./${basename(build)}/${kind.entry}` }));
  renameSync(pointer + UNFINISHED, pointer);
}

/** Makes what is complete a build. */
export function publish(kind: Kind, unfinished: string, name: string): string {
  const build = join(buildsFolder(kind), name);
  renameSync(join(buildsFolder(kind), unfinished), build);
  return build;
}

/** A web server that runs touches its mark far more often (packages/web/src/lib/server/in-use.ts). */
const LONGEST_SILENCE_MS = 24 * 3600_000;

function isUsed(build: string): boolean {
  const marks = join(build, 'used-by');
  return existsSync(marks) && readdirSync(marks).some((mark) => !isLeft(join(marks, mark), LONGEST_SILENCE_MS));
}

/** Removes what was left unfinished, and builds that nobody uses. To be called while nobody else builds. */
export function tidy(kind: Kind, keep: (string | undefined)[]): void {
  const builds = buildsFolder(kind);
  const kept = keep.map((build) => build && basename(build));
  for (const name of readdirSync(builds)) {
    const isOld = NAME.test(name) && !kept.includes(name) && !isUsed(join(builds, name));
    if (isOld || name.endsWith(UNFINISHED)) rmSync(join(builds, name), { recursive: true, force: true });
  }
}
