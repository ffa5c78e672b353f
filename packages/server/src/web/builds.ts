/**
 * Where the builds of the web client are: each in a folder of its own, packages/web/build/<hash of what it is made from>.
 * A folder is there when it is complete, and stays as it is, so a running service keeps the pages it started with whatever
 * is built beside them. `build/package.json` names the current one, for `node packages/web/build`.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { isLeft } from './claim.ts';

const SOURCES = [
  'src/**',
  '*.{ts,json}',
  '../contract/src/**',
  '../demo-tasks/**/*.{py,json,toml}',
  '../../docs/guide/**',
  // other libraries, another build
  '../../package-lock.json',
];
const NAME = /^[0-9a-f]{16}(-\w+)?$/;
export const UNFINISHED = '.part';

export const buildsFolder = (folder: string) => join(folder, 'build');

export function hashOf(folder: string): string {
  const hash = createHash('sha256');
  for (const file of globSync(SOURCES, { cwd: folder }).sort()) {
    const path = join(folder, file);
    if (!statSync(path).isFile()) continue;
    const content = readFileSync(path);
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

/** The folder of this name, if it is there. */
export function buildNamed(folder: string, name: string): string | undefined {
  const build = join(buildsFolder(folder), name);
  return existsSync(join(build, 'handler.js')) ? build : undefined;
}

/** The build that was wanted last, whatever it was made from. */
export function currentBuild(folder: string): string | undefined {
  try {
    const { main } = JSON.parse(readFileSync(join(buildsFolder(folder), 'package.json'), 'utf8')) as { main: string };
    return buildNamed(folder, dirname(main));
  } catch {
    return undefined;
  }
}

export function makeCurrent(folder: string, build: string): void {
  if (currentBuild(folder) === build) return;
  const pointer = join(buildsFolder(folder), 'package.json');
  writeFileSync(pointer + UNFINISHED, JSON.stringify({ type: 'module', main: `./${basename(build)}/index.js` }));
  renameSync(pointer + UNFINISHED, pointer);
}

/** Makes what is complete a build. */
export function publish(folder: string, unfinished: string, name: string): string {
  const build = join(buildsFolder(folder), name);
  renameSync(join(buildsFolder(folder), unfinished), build);
  return build;
}

/** A web server that runs touches its mark far more often (packages/web/src/lib/server/in-use.ts). */
const LONGEST_SILENCE_MS = 24 * 3600_000;

function isUsed(build: string): boolean {
  const marks = join(build, 'used-by');
  return existsSync(marks) && readdirSync(marks).some((mark) => !isLeft(join(marks, mark), LONGEST_SILENCE_MS));
}

/** Removes what was left unfinished, and builds that nobody uses. To be called while nobody else builds. */
export function tidy(folder: string, keep: (string | undefined)[]): void {
  const builds = buildsFolder(folder);
  const kept = keep.map((build) => build && basename(build));
  for (const name of readdirSync(builds)) {
    const isOld = NAME.test(name) && !kept.includes(name) && !isUsed(join(builds, name));
    if (isOld || name.endsWith(UNFINISHED)) rmSync(join(builds, name), { recursive: true, force: true });
  }
}
