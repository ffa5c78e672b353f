/** Runners for the jobs of all people on all clusters; a person's journals on a cluster are followed by one command. */
import type { ClusterAddress, Clusters, SlurmClient } from '../../slurm/index.ts';
import type { Runner } from '../runner.ts';
import { createFollower, type JournalFollower } from './journal-follower.ts';
import { createSlurmRunner } from './runner.ts';

const LEAST_POLL_MS = 1000;
const LATE_FILE_MS = 20_000;

export interface SlurmRunners {
  at(address: ClusterAddress): Runner;
  close(): void;
}

export function createSlurmRunners(clusters: Clusters): SlurmRunners {
  const followers = new Map<SlurmClient, JournalFollower>();

  function followerOf(client: SlurmClient): JournalFollower {
    const follower = followers.get(client) ?? createFollower(client.commands);
    followers.set(client, follower);
    return follower;
  }

  return {
    at(address) {
      const client = clusters.client(address);
      return createSlurmRunner({
        ...client,
        python: address.python,
        pollMs: Math.max(LEAST_POLL_MS, 1000 * address.poll_interval),
        lateFileMs: LATE_FILE_MS,
        ...(client.isFar && { follower: followerOf(client) }),
      });
    },
    close: () => followers.forEach((follower) => follower.close()),
  };
}
