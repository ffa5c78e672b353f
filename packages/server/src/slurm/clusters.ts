/** All clusters that the service knows, and what their users share: one connection and one reading of the queue. */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Profile, Resource } from '@service/contract';

import { capture, type Commands, localHost, type SshHosts, sudoCommands } from '../hosts/index.ts';
import { type SlurmClient, sshClient, sudoClient } from './client.ts';
import { ask, createSharedQueue, createSlurmQueue, WHOLE_LISTS } from './queue.ts';

/** How a cluster is reached, and as whom. */
export interface ClusterAddress {
  type: 'slurm_sudo' | 'slurm_ssh';
  username: string;
  /** The login node and the key for it, through SSH. */
  host: string | null;
  ssh_key_path: string | null;
  /** The interpreter that runs the worker on the nodes. */
  python: string;
  /** Seconds between two looks at the queue. */
  poll_interval: number;
}

type ClusterResource = Pick<Resource, 'type' | 'host' | 'jobs_slurm_python_worker' | 'jobs_poll_interval'>;
type ClusterProfile = Pick<Profile, 'username' | 'ssh_key_path'>;

export const clusterAddress = (resource: ClusterResource, profile: ClusterProfile): ClusterAddress => ({
  type: resource.type as ClusterAddress['type'],
  username: profile.username!,
  host: resource.host,
  ssh_key_path: profile.ssh_key_path,
  python: resource.jobs_slurm_python_worker!,
  poll_interval: resource.jobs_poll_interval,
});

export interface Clusters {
  /** The same for all who ask with the same account. */
  client(address: ClusterAddress): SlurmClient;
  /** Why the cluster cannot be used now; undefined when it can. */
  problem(address: ClusterAddress): Promise<string | undefined>;
  /** The queue as people read it, with more options of `squeue`. */
  queueText(address: ClusterAddress, options: string[]): Promise<{ text: string } | { problem: string }>;
  /** What a job of the person has written there so far; undefined when it is not there, or the cluster does not answer. */
  readFile<T>(
    address: ClusterAddress,
    path: string,
    read: (content: AsyncIterable<Buffer>) => Promise<T>,
  ): Promise<T | undefined>;
}

const LONGEST_ANSWER_MS = 30_000;
/** Who looks at a page does not wait for a cluster that is away. */
const LONGEST_LOOK_MS = 10_000;
/** A controller with much to do may hang up at once, and answers a moment later; one that is away takes its time. */
const [AT_ONCE_MS, MOMENT_MS] = [2000, 500];
/** Of a file that somebody looks at. */
const LARGEST_LOOK = 64 * 2 ** 20;
const TABLE = '%.12i %.9P %.24j %.14u %.14a %.11T %.12M %.6D %.4C %.10m %R';

/** Made once for each key. */
function remembered<T>(make: (address: ClusterAddress) => T, keyOf: (address: ClusterAddress) => string) {
  const known = new Map<string, T>();
  return (address: ClusterAddress): T => {
    const key = keyOf(address);
    if (!known.has(key)) known.set(key, make(address));
    return known.get(key)!;
  };
}

/** Asks once for all who ask the same at a time: commands on a login node are few, and jobs need them. */
function together<T>() {
  const under = new Map<string, Promise<T>>();
  return (key: string, ask: () => Promise<T>): Promise<T> => {
    const asked = under.get(key) ?? ask().finally(() => under.delete(key));
    under.set(key, asked);
    return asked;
  };
}

/** A name that is no account's is told when something is to be run: then there is somebody to tell. */
const asPerson = (username: string): Commands => ({
  run: async (command, options) => sudoCommands(username).run(command, options),
});

export function createClusters(ssh: SshHosts): Clusters {
  const hostOf = ({ host, username, ssh_key_path }: ClusterAddress) =>
    ssh.host({ host: host!, username, keyPath: ssh_key_path! });
  /** Who may look at the queue: through sudo, that is the service itself. */
  const viewer = (address: ClusterAddress): Commands => (address.type === 'slurm_ssh' ? hostOf(address) : localHost);
  const account = ({ type, host, username, ssh_key_path }: ClusterAddress) =>
    JSON.stringify([type, host, username, ssh_key_path]);

  // through sudo, the service's own account reads the queue of everybody
  const sharedQueue = remembered(
    (address) => createSharedQueue(viewer(address)),
    (address) => (address.type === 'slurm_sudo' ? 'here' : account(address)),
  );
  const client = remembered((address): SlurmClient => {
    const { type, username } = address;
    const shared = sharedQueue(address);
    if (type === 'slurm_ssh') {
      return sshClient({ host: hostOf(address), queue: createSlurmQueue({ shared, username }) });
    }
    const commands = asPerson(username);
    return sudoClient({ commands, queue: createSlurmQueue({ shared, username, person: commands }) });
  }, account);

  const askForText = together<{ text: string } | { problem: string }>();
  /** Asks a second time and never a third, unlike `untilAnswered`: somebody waits for it who can look again. */
  async function readQueue(
    address: ClusterAddress,
    options: string[],
  ): Promise<{ text: string } | { problem: string }> {
    const asking = { timeoutMs: LONGEST_ANSWER_MS, env: WHOLE_LISTS };
    const look = () => ask(viewer(address), ['squeue', ...options, `--format=${TABLE}`], asking);
    try {
      const begun = Date.now();
      const answer = await look();
      if ('text' in answer || !answer.passing || Date.now() - begun > AT_ONCE_MS) return answer;
      await sleep(MOMENT_MS);
      return await look();
    } catch (error) {
      return { problem: (error as Error).message };
    }
  }

  const askForProblem = together<string | undefined>();
  async function findProblem(address: ClusterAddress): Promise<string | undefined> {
    try {
      const { code, stderr } = await capture(viewer(address), ['true'], { timeoutMs: LONGEST_ANSWER_MS });
      return code === 0 ? undefined : stderr.trim();
    } catch (error) {
      return (error as Error).message;
    }
  }

  return {
    client,
    problem: (address) => askForProblem(account(address), () => findProblem(address)),
    queueText: (address, options) =>
      askForText(JSON.stringify([account(address), options]), () => readQueue(address, options)),
    // not through `files`: to these a missing file is as an empty one, and what is silent is waited for much longer
    async readFile(address, path, read) {
      const content = new PassThrough();
      const wanted = read(content);
      let [size, whole] = [0, true];
      const onBytes = async (chunk: Buffer) => {
        size += chunk.length;
        whole = size <= LARGEST_LOOK;
        if (!whole) throw new Error(`${path} is too long to be read whole.`);
        if (!content.write(chunk)) await once(content, 'drain');
      };
      const told = await client(address)
        .commands.run(['cat', '--', path], { onBytes, timeoutMs: LONGEST_LOOK_MS })
        .catch(() => undefined)
        .finally(() => content.end(whole ? '' : `\n[The log is longer. All of it is at ${path}]\n`));
      const found = await wanted;
      return told?.code === 0 || !whole ? found : undefined;
    },
  };
}
