/**
 * All clusters that the service knows, and what their users share: one connection, one reading of the queue and one
 * command that follows journals for each account.
 */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';

import type { Profile, Resource } from '@service/contract';

import { capture, type Commands, localHost, type SshHosts, sudoCommands } from '../../hosts/index.ts';
import type { Runner } from '../runner.ts';
import { type Cluster, sshCluster, sudoCluster } from './cluster.ts';
import { createFollower, type Follower } from './follow.ts';
import { createSharedQueue, createSlurmQueue, type SlurmQueue } from './queue.ts';
import { createSlurmRunner } from './runner.ts';

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

export const clusterAddress = (resource: Resource, profile: Profile): ClusterAddress => ({
  type: resource.type as ClusterAddress['type'],
  username: profile.username!,
  host: resource.host,
  ssh_key_path: profile.ssh_key_path,
  python: resource.jobs_slurm_python_worker!,
  poll_interval: resource.jobs_poll_interval,
});

export interface Clusters {
  runner(address: ClusterAddress): Runner;
  queue(address: ClusterAddress): SlurmQueue;
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
  close(): void;
}

const LEAST_POLL_MS = 1000;
const LONGEST_ANSWER_MS = 30_000;
/** Who looks at a page does not wait for a cluster that is away. */
const LONGEST_LOOK_MS = 10_000;
/** Of a file that somebody looks at. */
const LARGEST_LOOK = 64 * 2 ** 20;
const TABLE = '%.12i %.9P %.24j %.14u %.14a %.11T %.12M %.6D %.4C %.10m %R';

/** Made once for each key. */
function remembered<T>(make: (address: ClusterAddress) => T, keyOf: (address: ClusterAddress) => string) {
  const known = new Map<string, T>();
  return {
    get(address: ClusterAddress): T {
      const key = keyOf(address);
      if (!known.has(key)) known.set(key, make(address));
      return known.get(key)!;
    },
    all: () => [...known.values()],
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
  const readers = remembered(
    (address) => createSharedQueue(viewer(address)),
    (address) => (address.type === 'slurm_sudo' ? 'here' : account(address)),
  );
  const queues = remembered((address): SlurmQueue => {
    const { type, username } = address;
    const person = type === 'slurm_sudo' ? { person: asPerson(username) } : {};
    return createSlurmQueue({ shared: readers.get(address), username, ...person });
  }, account);
  const followers = remembered((address): Follower => createFollower(hostOf(address)), account);

  function clusterOf(address: ClusterAddress): Cluster {
    const { type, python, poll_interval, username } = address;
    const common = { python, pollMs: Math.max(LEAST_POLL_MS, 1000 * poll_interval), queue: queues.get(address) };
    if (type === 'slurm_sudo') return sudoCluster({ ...common, commands: asPerson(username) });
    return sshCluster({ ...common, host: hostOf(address), follower: followers.get(address) });
  }

  return {
    runner: (address) => createSlurmRunner(clusterOf(address)),
    queue: (address) => queues.get(address),
    async problem(address) {
      try {
        const { code, stderr } = await capture(viewer(address), ['true'], { timeoutMs: LONGEST_ANSWER_MS });
        return code === 0 ? undefined : stderr.trim();
      } catch (error) {
        return (error as Error).message;
      }
    },
    async queueText(address, options) {
      try {
        const command = ['squeue', ...options, `--format=${TABLE}`] as const;
        const { code, stdout, stderr } = await capture(viewer(address), command, { timeoutMs: LONGEST_ANSWER_MS });
        return code === 0 ? { text: stdout.toString('utf8') } : { problem: stderr.trim() };
      } catch (error) {
        return { problem: (error as Error).message };
      }
    },
    async readFile(address, path, read) {
      const content = new PassThrough();
      const wanted = read(content);
      const person = address.type === 'slurm_ssh' ? hostOf(address) : asPerson(address.username);
      let [size, whole] = [0, true];
      const onBytes = async (chunk: Buffer) => {
        size += chunk.length;
        whole = size <= LARGEST_LOOK;
        if (!whole) throw new Error(`${path} is too long to be read whole.`);
        if (!content.write(chunk)) await once(content, 'drain');
      };
      const told = await person
        .run(['cat', '--', path], { onBytes, timeoutMs: LONGEST_LOOK_MS })
        .catch(() => undefined)
        .finally(() => content.end(whole ? '' : `\n[The log is longer. All of it is at ${path}]\n`));
      const found = await wanted;
      return told?.code === 0 || !whole ? found : undefined;
    },
    close: () => followers.all().forEach((follower) => follower.close()),
  };
}
