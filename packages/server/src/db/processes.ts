/** What the operating system knows about the processes of a database. */
import { readdirSync, readlinkSync, realpathSync } from 'node:fs';

import { HAS_PROC, hasEnded, startOf } from '../processes.ts';

/** True for a process that runs; one that has ended and only waits to be collected is dead. */
export function isProcessAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !hasEnded(pid);
}

/** The processes whose working directory is this folder. */
export function processesIn(folder: string): number[] {
  const real = realpathSync(folder);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === real;
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** A database writes down when it began while it starts. */
const LONGEST_START_SECONDS = 10;

/**
 * Whose the number in the pid file of a database is: the database's own, or by now that of `another` process; or of another one
 * while something of the database is `left`. Where the system does not say which process is in which folder, its beginning tells.
 */
export function ownerOf(folder: string, pid: number, startedSeconds: number): 'database' | 'another' | 'left' {
  if (!HAS_PROC)
    return Math.abs(Number(startOf(pid)) - startedSeconds) <= LONGEST_START_SECONDS ? 'database' : 'another';
  const inside = processesIn(folder);
  if (inside.includes(pid)) return 'database';
  return inside.length === 0 ? 'another' : 'left';
}
