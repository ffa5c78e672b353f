/** Files by which processes say what they do with something they share: build it, use it. */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = 200;

const exists = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Whether the process that wrote the file, `host pid`, is gone, or has not touched it for longer than it ever would. */
export function isLeft(file: string, longestMs: number): boolean {
  try {
    const age = Date.now() - statSync(file).mtimeMs;
    const [host, pid] = readFileSync(file, 'utf8').split(' ');
    return age > longestMs || (host === hostname() && !exists(Number(pid)));
  } catch {
    return false;
  }
}

interface Lock {
  file: string;
  /** No work takes longer. */
  longestMs: number;
}

/** Does the work while no other process does it. */
export async function alone<T>({ file, longestMs }: Lock, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  for (;;) {
    try {
      writeFileSync(file, `${hostname()} ${process.pid}`, { flag: 'wx' });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (isLeft(file, longestMs)) rmSync(file, { force: true });
      else await sleep(LOOK_EVERY_MS, undefined, signal ? { signal } : {});
    }
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}
