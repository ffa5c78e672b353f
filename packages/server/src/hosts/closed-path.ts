/** Paths on which the service can act with its own rights: nobody else can put something else in the way. */
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';

import { unlessGone } from './reading.ts';

const OF_GROUP = 0o020;
const OF_OTHERS = 0o002;
const STICKY = 0o1000;
const ROOT = 0;

/** `/a/b` → `/`, `/a`, `/a/b`. */
function wayTo(path: string): string[] {
  const names = path.split(sep).filter(Boolean);
  return [sep, ...names.map((_, index) => sep + names.slice(0, index + 1).join(sep))];
}

/** Others may make something there. */
function isOpen({ mode, gid }: { mode: number; gid: number }): boolean {
  const hasGroup = (mode & OF_GROUP) !== 0 && gid !== ROOT && gid !== process.getgid?.();
  return hasGroup || (mode & OF_OTHERS) !== 0;
}

async function isClosedWay(path: string): Promise<boolean> {
  let othersMayMakeIt = false;
  for (const place of wayTo(path)) {
    const about = await unlessGone(lstat(place));
    if (!about) return !othersMayMakeIt;
    if (about.uid !== ROOT && about.uid !== process.getuid?.()) return false;
    othersMayMakeIt = about.isDirectory() && isOpen(about);
    // with the sticky bit, others exchange only what is theirs
    if (othersMayMakeIt && (about.mode & STICKY) === 0) return false;
  }
  return true;
}

/** Where a path leads, also when its last folders are not there yet. Undefined when a link on it leads to nothing. */
async function whereItLeads(path: string): Promise<string | undefined> {
  const real = await unlessGone(realpath(path));
  if (real !== undefined) return real;
  if (await unlessGone(lstat(path))) return undefined;
  const folder = await whereItLeads(dirname(path));
  return folder && join(folder, basename(path));
}

/** Whether the service and root alone can make, move or exchange anything on the way to a path, and the path itself. */
export async function isClosedPath(path: string): Promise<boolean> {
  const asked = resolve(path);
  if (!(await isClosedWay(asked))) return false;
  const real = await whereItLeads(asked);
  return real === asked || (real !== undefined && isClosedWay(real));
}
