/** The queue of the caller's cluster, as its own command shows it. */
import type { User } from '@service/contract';

import { usableProfile } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import { refuse } from '../http/index.ts';
import { clusterAddress, type Clusters } from '../slurm/index.ts';

type Scope = 'all' | 'user' | 'accounts';

function optionsOf(scope: Scope, user: User, username: string): string[] {
  if (scope === 'user') return [`--user=${username}`];
  if (scope === 'all' || user.slurm_accounts.length === 0) return [];
  return [`--accounts=${user.slurm_accounts.join(',')}`];
}

export async function clusterQueue(
  { db, clusters }: { db: Database; clusters: Clusters },
  user: User,
  scope: Scope,
): Promise<string> {
  const { resource, profile } = await usableProfile(db, user);
  if (resource.type === 'local') {
    throw refuse(422, 'Jobs run on this machine here, so there is no Slurm queue to show.');
  }
  const address = clusterAddress(resource, profile);
  const answer = await clusters.queueText(address, optionsOf(scope, user, address.username));
  if ('problem' in answer) throw refuse(422, `The queue of the cluster cannot be read: ${answer.problem}`);
  return answer.text;
}
