/** Jobs that attack the service through what it reads of them, beside honest ones, on a real cluster. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';

import { LONG } from '../../packages/server/test/support/long.ts';
import { attacks, besideHostileJobs, expectUnharmed, watchingMemory } from '../support/hostile.ts';
import type { Deployment } from '../support/deployment.ts';
import { type ClusterType, openClusterDeployment } from './support/cluster-deployment.ts';
import { CHECKOUT, folderOf, must } from './support/commands.ts';

/** The jobs do the same however the cluster is reached: through sudo in long runs only. */
const TYPES: ClusterType[] = LONG ? ['slurm_sudo', 'slurm_ssh'] : ['slurm_ssh'];
const watching = () => watchingMemory(CHECKOUT, join(folderOf('svcuser', 0o777), 'held'));
const NOT_OURS = expect.stringContaining('not written by the service and left out');

describe.each(TYPES)('%s', (type) => {
  let deployment: Deployment;
  let pid: number;
  beforeAll(async () => {
    deployment = await openClusterDeployment({ type, settings: watching() });
    pid = deployment.server().process.pid!;
  });
  afterAll(() => deployment.close());

  it('hostile jobs end, honest ones beside them end as they should, and the service goes on', async () => {
    onTestFailed(() => console.error(deployment.output()));
    const gate = join(deployment.lab.root, 'gate');
    const open = () => {
      writeFileSync(gate, '');
      chmodSync(gate, 0o644);
    };
    const meta_parallel = { tasks_per_job: 4, parallel_tasks_per_job: 4, mem: 100 };
    const { honest, hostile } = await besideHostileJobs(deployment, attacks, {
      meta_parallel,
      seconds: 110,
      gate,
      open,
    });
    expect(honest.map(({ status }) => status)).toEqual(['done', 'done']);
    expect(Object.keys(hostile)).toEqual(attacks);
    expect(hostile).toMatchObject({ forged: { status: 'done', log: NOT_OURS }, deep: { status: 'failed' } });
    await expectUnharmed(deployment, pid);
  }, 300_000);
});

describe('a login shell that prints without end', () => {
  it('fails what is asked of this account, in words, and nothing else', async () => {
    const home = (await must(['sh', '-c', 'eval echo ~alice'])).trim();
    const deployment = await openClusterDeployment({ type: 'slurm_ssh', settings: watching() });
    const pid = deployment.server().process.pid!;
    try {
      writeFileSync(join(home, '.bashrc'), 'yes "hello from my shell"\n');
      const flow = await deployment.lab.workflow([{ type: 'parallel', plan: { '*': {} } }]);
      const { status, text } = await deployment.lab.submit(flow, await deployment.lab.dataset(['a']));
      expect(status).toBe(422);
      expect(text).toContain('its login scripts print without end');
      await expectUnharmed(deployment, pid);
    } finally {
      await must(['rm', '-f', join(home, '.bashrc')]);
      await deployment.close();
    }
  });
});
