/** Jobs of this machine that attack the service through what it reads of them, beside honest ones. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest';

import { attacks, attackStep, besideHostileJobs, expectUnharmed, watchingMemory } from './support/hostile.ts';
import { submitParallel } from './support/faults.ts';
import { type Deployment, openDeployment } from './support/deployment.ts';
import { ROOT, temporaryFolder } from './support/processes.ts';

let deployment: Deployment;
let pid: number;
beforeAll(async () => {
  const watching = watchingMemory(ROOT, join(temporaryFolder('hostile-job'), 'held'));
  deployment = await openDeployment({ database: 'given', settings: { SERVICE_MAX_NUM_THREADS: '24', ...watching } });
  pid = deployment.server().process.pid!;
});
afterAll(() => deployment.close());

it('hostile jobs end, honest ones beside them end as they should, and the service goes on', async () => {
  onTestFailed(() => console.error(deployment.output()));
  const gate = join(deployment.lab.root, 'gate');
  const open = () => writeFileSync(gate, '');
  const { honest, hostile } = await besideHostileJobs(deployment, attacks, { seconds: 90, gate, open });
  expect(honest.map(({ status }) => status)).toEqual(['done', 'done']);
  expect(hostile).toMatchObject({
    forged: { status: 'done', log: expect.stringContaining('not written by the service and left out') },
    endless: { status: 'failed', log: expect.stringContaining('something that is no line of the service') },
    sparse: { status: 'failed', log: expect.stringContaining('something that is no line of the service') },
    flood: { status: 'failed', log: expect.stringContaining('lines that the service did not write') },
    log: { status: 'done' },
    pipe: { status: 'failed', log: expect.stringContaining('is gone, or is no longer a file') },
    device: { status: 'failed', log: expect.stringContaining('it is not a file') },
    deep: { status: 'failed', log: expect.stringContaining('nested more than 1000 levels deep') },
  });
  await expectUnharmed(deployment, pid);
});

it('what they leave can be downloaded, without holes of gigabytes', async () => {
  onTestFailed(() => console.error(deployment.output()));
  const { id } = await submitParallel(deployment, ['a', 'b'], {
    plan: { [deployment.lab.urlOf('a')]: attackStep('log'), '*': { print: 'b' } },
  });
  const job = await deployment.lab.end(id, 60);
  expect(job.status).toBe('done');
  const { status, text } = await deployment.lab.owner.client.get(`${deployment.lab.base}/job/${id}/download/`);
  expect([status, text.length < 2 ** 20]).toEqual([200, true]);
  await expectUnharmed(deployment, pid);
});
