/** Who works with a folder: a worker with a batch, a warm parent with its environment. The lock says it, the system proves it. */
import { join } from 'node:path';

import { type Host, type ProcessHandle, readEnd } from '../hosts/index.ts';
import { endsWithWord } from '../processes.ts';

const LONGEST_LOCK = 100;

/** Who last held the lock of a folder, as it says. */
export async function lockHolder(folder: string): Promise<ProcessHandle | undefined> {
  const text = (await readEnd(join(folder, 'lock'), LONGEST_LOCK).catch(() => undefined))?.toString('utf8') ?? '';
  const [, pid, started] = /^(\d{1,10}) (\d{1,20})$/.exec(text) ?? [];
  return started === undefined ? undefined : { pid: Number(pid), started };
}

/** The command line ends with the folder; what is written about it may name any process. */
export const worksWith = (folder: string, { pid }: ProcessHandle): Promise<boolean> => endsWithWord(pid, folder);

export async function livingHolder(host: Host, folder: string): Promise<ProcessHandle | undefined> {
  const holder = await lockHolder(folder);
  return holder && (await host.isAlive(holder)) && (await worksWith(folder, holder)) ? holder : undefined;
}
