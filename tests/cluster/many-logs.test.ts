/** One person asks for the logs of a running job without end, and lets each take as long as possible: others do not wait. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, relative } from 'node:path';

import { expect, it } from 'vitest';

import { LONG } from '../../packages/server/test/support/long.ts';
import { submitParallel } from '../support/faults.ts';
import { type ClusterType, openClusterDeployment } from './support/cluster-deployment.ts';
import { must } from './support/commands.ts';

const MANY = 200;
const PATIENCE = { timeout: 30_000 };

/** Programs that read this file now. */
const readersOf = (path: string) =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => /^(\/usr\/bin\/|\/bin\/)?cat -- /.test(line) && line.includes(path)).length;

it.runIf(LONG).each<ClusterType>(['slurm_sudo', 'slurm_ssh'])('%s', async (type) => {
  const deployment = await openClusterDeployment({ type });
  try {
    const { lab, db } = deployment;
    const { id, dataset, flow } = await submitParallel(deployment, ['talker'], {
      plan: { '*': { print: 'half of it is done', sleep: 300 } },
    });
    const ask = async () => {
      const { run, units } = await lab.units(dataset, flow.steps[0]!);
      const [unit] = units as { id: number; logfile: string }[];
      if (!run || !unit) return undefined;
      const query = {
        ...{ dataset_id: dataset, workflowtask_id: flow.steps[0]! },
        ...{ history_run_id: run.id, history_unit_id: unit.id },
      };
      const read = () => lab.owner.client.get(`${lab.base}/status/unit-log/`, { query });
      return { read, logfile: unit.logfile };
    };
    await expect.poll(async () => (await (await ask())?.read())?.text, PATIENCE).toContain('half of it is done');
    const { read, logfile } = (await ask())!;
    const job = await db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const path = join(job.working_dir_user!, relative(job.working_dir!, logfile));
    // whose log it is can make it a file that never ends
    rmSync(path);
    await must(['mkfifo', '--mode=0666', path]);

    let most = 0;
    const counting = setInterval(() => (most = Math.max(most, readersOf(path))), 200);
    const asked = Promise.all(Array.from({ length: MANY }, () => read()));
    const began = Date.now();
    const other = await submitParallel(deployment, ['honest'], {});
    expect(await lab.end(other.id, 60)).toMatchObject({ status: 'done' });
    expect(Date.now() - began).toBeLessThan(60_000);
    const answers = await asked;
    clearInterval(counting);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(3);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(MANY - 32);
    expect(refused[0]!.body.detail).toContain('32 logs');
    // who waited too long for a turn is told so
    expect(answers.filter(({ status }) => ![200, 429, 503].includes(status))).toEqual([]);
    await lab.owner.client.post(`/api/v2/job/${id}/stop/`);
    await lab.end(id, 60);
  } finally {
    await deployment.close();
  }
});
