/** Backup and restore as docs/operate/backup.md tells them, while a job runs: nothing that was there is lost, and nothing runs twice. */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it, onTestFailed } from 'vitest';

import { until } from '../packages/server/test/support/lab.ts';
import { freshDatabase } from '../packages/server/test/support/server.ts';
import { openDeployment, type Site } from './support/deployment.ts';
import { startsIn, submitParallel } from './support/faults.ts';
import { runBlock } from './support/manual-commands.ts';
import { blockOf } from './support/manual-texts.ts';
import { remove, ROOT, startService, temporaryFolder } from './support/processes.ts';

const BACKUP = blockOf('docs/operate/backup.md', 'deploy/backup.sh');
const RESTORE = blockOf('docs/operate/backup.md', 'deploy/restore.sh');

/** The lab is in the data folder, as the first administrator's projects are. */
function siteIn(folder: string): Site {
  const data = join(folder, 'data');
  const root = join(data, 'projects');
  mkdirSync(root, { recursive: true });
  const start: Site['start'] = (args, environment) => startService(args, { environment });
  return { folder, data, root, start, lab: {}, runningJobs: join(data, 'running-jobs') };
}

/** Where /etc/service/service.env has these settings. */
function run(block: typeof BACKUP, backup: string, environment: Record<string, string>) {
  const { SERVICE_DATA_DIR, ...settings } = environment;
  const folder = join(backup, '..');
  const file = join(folder, 'service.env');
  const lines = Object.entries(settings).map(([name, value]) => `${name}='${value}'\n`);
  writeFileSync(file, lines.join(''));
  const { code, out, err } = runBlock(block, {
    folder,
    cwd: ROOT,
    replace: { '/etc/service/service.env': file, '/var/lib/service': SERVICE_DATA_DIR!, '/backup/service': backup },
  });
  return { status: code, said: (out + err).trim() };
}

/** Without tables. */
async function emptyDatabase() {
  const { pool, drop } = await freshDatabase(1);
  await pool.query('drop schema public cascade; create schema public');
  const { rows } = await pool.query<{ name: string }>('select current_database() as name');
  return {
    name: rows[0]!.name,
    jobs: async () => (await pool.query<{ id: number }>('select id from jobs order by id')).rows.map(({ id }) => id),
    drop,
  };
}

it('a backup that is made while a job runs is restored with everything that there was', async () => {
  const folder = temporaryFolder('backup');
  const backup = join(folder, 'backup');
  const site = siteIn(folder);
  const deployment = await openDeployment({ database: 'given', site });
  const restored = await emptyDatabase();
  onTestFailed(() => console.error(deployment.output()));
  try {
    const { lab, db, environment } = deployment;
    // a job that is over, and one whose second unit runs until it is lost
    const before = await submitParallel(deployment, ['x'], { plan: { '*': { print: 'before the backup' } } });
    await lab.end(before.id);
    const { id, dataset, flow } = await submitParallel(deployment, ['a', 'b', 'c'], {
      meta_parallel: { parallel_tasks_per_job: 1 },
      plan: { [lab.urlOf('b')]: { sleep: 600 } },
    });
    const { working_dir } = await lab.job(id);
    await until('the unit that runs', () => startsIn(deployment, working_dir).length === 2, 60);
    const jobs = await db.selectFrom('jobs').select('id').orderBy('id').execute();
    const images = await lab.images(dataset);

    expect(run(BACKUP, backup, environment)).toEqual({ status: 0, said: `The backup in ${backup} is complete.` });
    expect(run(RESTORE, backup, environment)).toMatchObject({
      status: 1,
      said: expect.stringMatching(/is not empty\. Move it/) as string,
    });

    // the machine is lost with everything that ran on it
    await deployment.kill();
    for (const line of deployment.processes()) process.kill(Number.parseInt(line), 'SIGKILL');
    renameSync(site.data, join(folder, 'lost'));
    environment['POSTGRES_DB'] = restored.name;
    expect(run(RESTORE, backup, environment)).toEqual({
      status: 0,
      said: `The backup in ${backup} is restored. Start the service.`,
    });
    expect(run(RESTORE, backup, { ...environment, SERVICE_DATA_DIR: join(folder, 'other') })).toMatchObject({
      status: 1,
      said: expect.stringMatching(/^The database .* is not empty/) as string,
    });

    await deployment.start();
    expect(await lab.end(id, 60)).toMatchObject({ status: 'failed' });
    expect(await lab.job(before.id)).toMatchObject({ status: 'done' });
    expect(await restored.jobs()).toEqual(jobs.map((job) => job.id));
    expect(await lab.images(dataset)).toEqual(images);
    // what was done stays done, what ran is lost, what never began has run; none twice
    const units = await lab.unitsInWords(dataset, flow.steps[0]!);
    expect(units.toSorted()).toEqual(['done:[a]', 'done:[c]', 'failed:[b]']);
    expect(startsIn(deployment, working_dir).map(({ url }) => lab.nameOf(url!))).toEqual(['a', 'b', 'c']);
    expect(existsSync(join(site.data, 'secrets'))).toBe(true);
  } finally {
    await deployment.close();
    await restored.drop();
    remove(folder);
  }
}, 240_000);
