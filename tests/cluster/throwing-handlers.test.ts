/** A service whose handlers throw, while it uses a cluster behind SSH: those of the connection, too, and it goes on. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest';

import { until } from '../../packages/server/test/support/lab.ts';
import { LONG } from '../../packages/server/test/support/long.ts';
import { submitParallel } from '../support/faults.ts';
import type { Deployment } from '../support/deployment.ts';
import { ON_A_CLUSTER, throwing, throwingFile } from '../support/throwing.ts';
import { openClusterDeployment } from './support/cluster-deployment.ts';
import { killSshConnections } from './support/faults.ts';
import { CHECKOUT, folderOf } from './support/commands.ts';

const FILE = join(folderOf('svcuser', 0o777), 'thrown');
const thrown = throwingFile(FILE);
let deployment: Deployment;
beforeAll(async () => {
  // requests arrive, and jobs come far enough that there is something to do
  const settings = throwing(CHECKOUT, FILE, { rooms: '^(hosts|slurm|runners)/', every: 12 });
  deployment = await openClusterDeployment({ type: 'slurm_ssh', settings });
});
afterAll(() => deployment.close());

const plan = (seconds: number) => ({ '*': { print: 'text', sleep: seconds } });

/** A job that is stopped while it runs. */
async function stopJob(): Promise<void> {
  const { id } = await submitParallel(deployment, ['a'], { plan: plan(30) });
  await sleep(1000);
  await deployment.lab.owner.client.get(`${deployment.lab.base}/job/${id}/stop/`);
}

it.runIf(LONG)(
  'goes on, and jobs run as before when the handlers throw no more',
  async () => {
    onTestFailed(() => console.error(deployment.output()));
    const { process } = deployment.server();
    thrown.begin();
    await until(
      'handlers of all sources that throw',
      async () => {
        // what is asked through a connection whose handlers throw is asked again
        await Promise.allSettled([submitParallel(deployment, ['b', 'c'], { plan: plan(0.5) }), stopJob()]);
        if (thrown.missing(['hosts/ssh/connect.ts', 'hosts/ssh/connection.ts']).length > 0) await killSshConnections();
        await sleep(2000);
        expect([(await fetch(`${deployment.url}/api/alive/`)).status, process.exitCode]).toEqual([200, null]);
        return thrown.missing(ON_A_CLUSTER).length === 0;
      },
      100,
    ).finally(() => console.log(`not reached: ${thrown.missing(ON_A_CLUSTER).join(', ') || 'none'}`));
    console.log(`handlers threw in ${thrown.places().join(', ')}`);
    thrown.end();
    const { id } = await submitParallel(deployment, ['d'], { plan: plan(0) });
    const job = await deployment.lab.end(id, 60);
    expect([job.status, process.exitCode]).toEqual(['done', null]);
  },
  240_000,
);
