/** The service and the processes that keep imports are killed while jobs run: jobs end as if nothing had happened. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, it, onTestFailed } from 'vitest';

import { isAlive } from '../packages/server/test/support/lab.ts';
import { LONG } from '../packages/server/test/support/long.ts';
import { openDeploymentAs, type Runner } from './support/accounts.ts';
import { type Deployment, openDeployment } from './support/deployment.ts';
import { everyTask, storyOf } from './support/every-task.ts';
import { isOver, submitNew } from './support/faults.ts';

const KILLS = LONG ? 30 : 1;

const parents = (deployment: Deployment) =>
  deployment
    .processes()
    .filter((line) => line.includes(' --warm '))
    .map((line) => Number.parseInt(line));

/** Only the processes that keep imports stay. */
async function expectNoUnits(deployment: Deployment): Promise<void> {
  const left = () => ({
    units: deployment.lab.starts().filter(({ pid }) => isAlive(pid)),
    workers: deployment.processes().filter((line) => line.includes('worker.pyz') && !line.includes(' --warm ')),
    runningJobs: deployment.runningJobs(),
  });
  await expect.poll(left, { timeout: 20_000 }).toEqual({ units: [], workers: [], runningJobs: [] });
}

const runners: Runner[] = LONG ? ['the service', 'root', 'sudo'] : ['the service'];

it.each(runners)(
  'at random moments, with tasks run by %s',
  async (runner) => {
    const deployment = await openDeploymentAs(runner, { database: 'given', origin: 'pypi' });
    onTestFailed(() => console.error(deployment.output()));
    try {
      const flow = await everyTask(deployment.lab);
      const first = await submitNew(deployment, flow);
      await deployment.lab.end(first, 60);
      await expectNoUnits(deployment);
      const expected = await storyOf(deployment, first);
      expect(expected.status).toBe('done');
      expect(parents(deployment)).toHaveLength(1);
      for (let kills = 0; kills < KILLS;) {
        const id = await submitNew(deployment, flow);
        for (; kills < KILLS && !(await isOver(deployment, id)); kills++) {
          await sleep(randomInt(50, 1000));
          // also both together, as when a machine is short of memory
          const victims = randomInt(3);
          if (victims !== 0) for (const pid of parents(deployment)) process.kill(pid, 'SIGKILL');
          if (victims === 1) continue;
          await deployment.kill();
          await deployment.start();
        }
        await deployment.lab.end(id, 60);
        await expectNoUnits(deployment);
        expect(await storyOf(deployment, id)).toEqual(expected);
      }
      // the service that was killed last has left none that the next one does not know
      expect(parents(deployment).length).toBeLessThan(2);
    } finally {
      for (const pid of parents(deployment)) process.kill(pid, 'SIGTERM');
      await deployment.close();
    }
  },
  60_000 + KILLS * 15_000,
);

it('those that are left end by themselves when their folder is gone', async () => {
  const deployment = await openDeployment({ database: 'given', origin: 'pypi' });
  const flow = await everyTask(deployment.lab);
  await deployment.lab.end(await submitNew(deployment, flow), 60);
  const left = parents(deployment);
  expect(left).toHaveLength(1);
  await deployment.kill();
  await deployment.close();
  await expect.poll(() => left.filter(isAlive), { timeout: 20_000 }).toEqual([]);
}, 90_000);
