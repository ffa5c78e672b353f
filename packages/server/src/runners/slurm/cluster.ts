/**
 * A cluster as one person uses it: through sudo on this machine, or through SSH on a login node.
 *
 * | What          | through sudo                                     | through SSH                                     |
 * | ------------- | ------------------------------------------------ | ----------------------------------------------- |
 * | commands      | `sudo -u <user>`: mkdir, sbatch, scancel, cat    | the account of the profile                      |
 * | queue         | the service's own account                        | the account of the profile                      |
 * | files of jobs | are read where the service wrote them            | are sent as one stream                          |
 * | results       | are read by and by, many with one `cat`          | come as they are written, through one command   |
 */
import type { Commands, SshHost } from '../../hosts/index.ts';
import { catReader, type FileReader, shellReader } from './fetch.ts';
import type { Follower } from './follow.ts';
import type { SlurmQueue } from './queue.ts';

export interface Cluster {
  /** As the person. */
  commands: Commands;
  queue: SlurmQueue;
  /** The interpreter that runs the worker on the nodes. */
  python: string;
  /** The longest time between two looks at the queue. */
  pollMs: number;
  /** How long a file that must be there is waited for: shared file systems take their time. */
  patienceMs: number;
  /** Where the nodes read a folder of this machine; `there` is its place below the folders of the job. */
  placeOf(folder: string, there: string): string;
  /** Makes it readable there. */
  bring(folder: string, there: string): Promise<void>;
  /** How what the person's jobs wrote is read. */
  files: FileReader;
  /** Where journals can be followed; else they are read. */
  follower?: Follower;
}

interface Common {
  queue: SlurmQueue;
  python: string;
  pollMs: number;
  patienceMs?: number;
}

const PATIENCE_MS = 20_000;

export const sudoCluster = ({ commands, ...rest }: Common & { commands: Commands }): Cluster => ({
  patienceMs: PATIENCE_MS,
  ...rest,
  commands,
  files: catReader(commands),
  placeOf: (folder) => folder,
  bring: () => Promise.resolve(),
});

export const sshCluster = ({ host, follower, ...rest }: Common & { host: SshHost; follower: Follower }): Cluster => ({
  patienceMs: PATIENCE_MS,
  ...rest,
  commands: host,
  files: shellReader(host),
  follower,
  placeOf: (_, there) => there,
  async bring(folder, there) {
    // it appears when it is whole, so that one that is there is complete
    if ((await host.kindOf(there)) === undefined) await host.sendFolder(folder, there);
  },
});
