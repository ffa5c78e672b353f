/** Ends the embedded database under a running service, as a crash would, and brings it back at the same address. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { isProcessAlive } from '../../packages/server/src/db/index.ts';

/** Gives back how to start it again, with the command line it had. */
export async function crashDatabase(data: string): Promise<() => void> {
  const folder = join(data, 'postgres');
  const pid = Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const program = readlinkSync(`/proc/${pid}/exe`);
  const [, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  const { uid, gid } = statSync(folder);
  process.kill(pid, 'SIGQUIT');
  while (isProcessAlive(pid)) await sleep(20);
  return () => {
    // its command line may name the folder by this descriptor
    const descriptor = openSync(folder, 'r');
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
    const options = { uid, gid, cwd: '/', env, detached: true };
    spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'ignore', descriptor] }).unref();
    closeSync(descriptor);
  };
}
