/** What the start of the service has to do with accounts: the one of the setting works, and has folders of its own. */
import { join } from 'node:path';

import type { ResourceType } from '@service/contract';

import type { RunAs } from './run-as.ts';

/** For the first resource and the first administrator. */
const FIRST_FOLDERS = { tasks: 0o2755, projects: 0o2770 };

interface Start {
  name: string;
  backend: ResourceType;
  dataDir: string;
}

/** Fails with `AccountProblem` where the service can't work with the account. */
export async function prepareAccount(runAs: RunAs, { name, backend, dataDir }: Start): Promise<void> {
  if (backend === 'slurm_ssh') return;
  const isLocal = backend === 'local';
  const host = await runAs.host(name, isLocal ? 'jobs' : 'collections');
  if (!isLocal) return;
  for (const [folder, mode] of Object.entries(FIRST_FOLDERS)) await host.makeOwn(join(dataDir, folder), mode);
}
