/**
 * Slurm as one person uses it: through sudo on this machine, or through SSH on a login node.
 *
 * | What             | through sudo                                  | through SSH                |
 * | ---------------- | --------------------------------------------- | -------------------------- |
 * | commands         | `sudo -u <user>`: mkdir, sbatch, scancel, cat | the account of the profile |
 * | queue            | the service's own account                     | the account of the profile |
 * | files of jobs    | are read, many with one `cat`                 | are read by a shell        |
 * | folders for jobs | are read where the service wrote them         | are sent as one stream     |
 */
import { isSlurmAway } from '../engine/slurm/refusals.ts';
import { capture, type Commands, type SshHost } from '../hosts/index.ts';
import type { Asked } from './away.ts';
import { catReader, type FileReader, shellReader } from './file-reader.ts';
import type { SlurmQueue } from './queue.ts';

export interface SlurmClient {
  /** As the person. */
  commands: Commands;
  queue: SlurmQueue;
  /** How what the person's jobs wrote is read. */
  files: FileReader;
  /** True where commands may be any, and one may stay for long. */
  isFar: boolean;
  /** Where the nodes read a folder of this machine; `there` is its path below the folders of the job. */
  sharedPath(folder: string, there: string): string;
  /** Makes it readable there. */
  share(folder: string, there: string): Promise<void>;
}

interface SudoParts {
  queue: SlurmQueue;
  commands: Commands;
}

export const sudoClient = ({ queue, commands }: SudoParts): SlurmClient => ({
  commands,
  queue,
  files: catReader(commands),
  isFar: false,
  sharedPath: (folder) => folder,
  share: () => Promise.resolve(),
});

interface SshParts {
  queue: SlurmQueue;
  host: SshHost;
}

export const sshClient = ({ queue, host }: SshParts): SlurmClient => ({
  commands: host,
  queue,
  files: shellReader(host),
  isFar: true,
  sharedPath: (_, there) => there,
  async share(folder, there) {
    // it appears when it is whole, so that one that is there is complete
    if ((await host.kindOf(there)) === undefined) await host.sendFolder(folder, there);
  },
});

const LONGEST_SCANCEL_MS = 120_000;

/** Asks Slurm to end jobs, without waiting for that. Of those that it doesn't know any more it complains; that is an answer. */
export async function cancel(
  { commands }: Pick<SlurmClient, 'commands'>,
  ids: readonly number[],
): Promise<Asked<undefined>> {
  if (ids.length === 0) return { answer: undefined };
  const { stderr } = await capture(commands, ['scancel', ...ids.map(String)], { timeoutMs: LONGEST_SCANCEL_MS });
  return isSlurmAway(stderr) ? { silence: stderr.trim() } : { answer: undefined };
}
