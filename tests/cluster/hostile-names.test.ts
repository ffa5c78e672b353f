/** Names that mean something to a shell, to Slurm or to tar stay names, all the way to a node of a real cluster and back. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { oneIn } from '../../packages/server/test/support/long.ts';
import { submitParallel } from '../support/faults.ts';
import { type ClusterType, openClusterDeployment } from './support/cluster-deployment.ts';
import { now, sudoCommands } from './support/counters.ts';

const FOLDER = `it's $(touch pwned) \`touch pwned\` "x" %j;touch pwned&# [a]*`;

/** Not by readdir: folders of a job that has ended go away meanwhile. */
const filesNamed = (name: string, folders: string[]): string =>
  spawnSync('find', [...folders, '-ignore_readdir_race', '-name', name], { encoding: 'utf8' }).stdout;

it('a user name that is none fails the job, and never reaches sudo', async () => {
  const deployment = await openClusterDeployment({ type: 'slurm_sudo' });
  try {
    const { lab, db } = deployment;
    await db.updateTable('profiles').set({ username: '#0' }).where('id', '=', lab.profile_id).execute();
    const since = now();
    const { id } = await submitParallel(deployment, ['a'], {});
    const job = await lab.end(id, 30);
    expect([job.status, job.log]).toEqual(['failed', expect.stringContaining('not the name of an account')]);
    expect(sudoCommands(since)).toEqual([]);
  } finally {
    await deployment.close();
  }
});

it.each(oneIn<ClusterType>(2, ['slurm_sudo', 'slurm_ssh'], 1))('%s', async (type) => {
  const deployment = await openClusterDeployment({ type });
  try {
    const { lab, db } = deployment;
    const person = join(lab.root, FOLDER);
    mkdirSync(person);
    chmodSync(person, 0o777);
    // the API refuses such folders; a database that was taken over may have them
    await db
      .updateTable('users')
      .set({ project_dirs: [person, lab.root] })
      .where('id', '=', lab.owner.id)
      .execute();
    const service = { jobs_local_dir: join(deployment.folder, FOLDER) };
    await db.updateTable('resources').set(service).where('id', '=', lab.resource_id).execute();
    if (type === 'slurm_ssh') {
      await db.updateTable('profiles').set({ jobs_remote_dir: person }).where('id', '=', lab.profile_id).execute();
    }
    const { id, dataset, flow } = await submitParallel(
      deployment,
      ['$(touch pwned) image', `-rf "b' %a\n#SBATCH --hold`],
      {
        name: '$(touch pwned); #SBATCH --hold `touch pwned` "x"',
        plan: { '*': { print: 'ran' } },
        meta_parallel: { tasks_per_job: 1, parallel_tasks_per_job: 1 },
      },
    );
    const job = await lab.end(id, 60);
    expect([job.status, job.log]).toEqual(['done', job.log]);
    expect(await lab.unitsInWords(dataset, flow.steps[0]!)).toHaveLength(2);
    expect((job.working_dir_user as string).startsWith(person)).toBe(true);
    expect(filesNamed('pwned', [lab.root, deployment.folder])).toBe('');
  } finally {
    await deployment.close();
  }
});
