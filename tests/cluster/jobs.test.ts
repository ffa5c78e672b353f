/** Jobs on a real Slurm cluster, through sudo and through SSH: what they leave, and what they cost. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';

import { until } from '../../packages/server/test/support/lab.ts';
import { LONG } from '../../packages/server/test/support/long.ts';
import { everyTask, storyOf, zipOf } from '../support/every-task.ts';
import { submit, submitNew, submitParallel } from '../support/faults.ts';
import { type Deployment, openDeployment } from '../support/deployment.ts';
import { type ClusterType, openClusterDeployment } from './support/cluster-deployment.ts';
import { now, sshCommands, sudoCommands } from './support/counters.ts';
import { squeue } from './support/cluster.ts';
import { stale } from './support/faults.ts';
import { must } from './support/commands.ts';

type Story = Awaited<ReturnType<typeof storyOf>>;

const PATIENCE = { timeout: 20_000 };
/** The ways to a cluster; what does not depend on them takes both in long runs only. */
const TYPES: ClusterType[] = ['slurm_sudo', 'slurm_ssh'];
const UNITS = LONG ? 1000 : 60;

/** The same everywhere: images by their names, and files without those of the scheduler. */
const comparable = ({ images, history, files, starts }: Story, root: string) =>
  JSON.parse(
    JSON.stringify({
      images,
      history: history.map(({ logfile: _, ...row }) => row),
      files: files!.filter((name) => !name.includes('-slurm-')),
      starts,
    })
      .replaceAll(root, '')
      // how many units share a job is another question
      .replaceAll(/par-\d{6}-/g, 'par-'),
  ) as object;

let expected: object;
beforeAll(async () => {
  const deployment = await openDeployment({ database: 'given' });
  try {
    const id = await submitNew(deployment, await everyTask(deployment.lab));
    await deployment.lab.end(id, 60);
    await until('the zip of the job', () => zipOf(deployment, id));
    expected = comparable(await storyOf(deployment, id), deployment.lab.root);
  } finally {
    await deployment.close();
  }
});

/** A deployment and two jobs that take minutes: they go on beside all the others. */
async function openWithLongJobs(type: ClusterType) {
  const deployment = await openClusterDeployment({ type });
  // Slurm counts minutes
  const slow = await submitParallel(deployment, ['slow', 'quick', 'late'], {
    meta_parallel: { time: '00:01:00', tasks_per_job: 3, parallel_tasks_per_job: 1 },
    plan: { [deployment.lab.urlOf('slow')]: { print: 'on my way', sleep: 300 }, '*': {} },
  });
  // the longer a task takes, the less often the service looks: after a while, longer than it waits for files that come late
  const ends = Array.from({ length: 14 }, (_, index) => 80 + 4 * index);
  const spread = await submitParallel(deployment, ends.map(String), {
    meta_parallel: { tasks_per_job: 1, parallel_tasks_per_job: 1 },
    plan: Object.fromEntries(ends.map((end) => [deployment.lab.urlOf(String(end)), { sleep: end }])),
  });
  return { deployment, slow, spread };
}

const opened = new Map<ClusterType, Awaited<ReturnType<typeof openWithLongJobs>>>();
beforeAll(async () => {
  for (const type of TYPES) opened.set(type, await openWithLongJobs(type));
});
afterAll(async () => {
  for (const { deployment } of opened.values()) await deployment.close();
});

describe.each(TYPES)('%s', (type) => {
  let deployment: Deployment;
  beforeAll(() => {
    ({ deployment } = opened.get(type)!);
  });

  it('runs a workflow with every task type, with the same outcome as on one machine', async () => {
    onTestFailed(() => console.error(deployment.output()));
    const id = await submitNew(deployment, await everyTask(deployment.lab));
    const job = await deployment.lab.end(id, 100);
    expect([job.status, job.log]).toEqual(['done', job.log]);
    await until('the zip of the job', () => zipOf(deployment, id));
    const story = await storyOf(deployment, id);
    expect(comparable(story, deployment.lab.root)).toEqual(expected);
    const ofCorrection = story.files!.filter((name) => name.startsWith('1_correct/') && name.includes('-slurm-'));
    expect(ofCorrection).toEqual([
      '1_correct/par-000000-slurm-ID.err',
      '1_correct/par-000000-slurm-ID.out',
      '1_correct/par-000000-slurm-submit.sh',
      '1_correct/par-000001-slurm-ID.err',
      '1_correct/par-000001-slurm-ID.out',
    ]);
    const records = await deployment.db
      .selectFrom('accounting_records_slurm')
      .select(['slurm_job_ids', 'user_id', 'resource_id'])
      .where('fractal_job_id', '=', id)
      .execute();
    // two phases of two tasks and one of four others
    expect(records).toHaveLength(8);
    for (const { slurm_job_ids, ...record } of records) {
      expect(slurm_job_ids).toEqual([expect.any(Number)]);
      expect(record).toEqual({ user_id: deployment.lab.owner.id, resource_id: deployment.lab.resource_id });
    }
    const units = await deployment.db
      .selectFrom('history_units')
      .innerJoin('history_runs', 'history_runs.id', 'history_units.history_run_id')
      .select(['node', 'scheduler_job_id', 'memory_limit_bytes'])
      .where('job_id', '=', id)
      .execute();
    for (const unit of units) {
      expect(unit).toEqual({
        node: expect.stringMatching(/./),
        scheduler_job_id: expect.any(Number),
        memory_limit_bytes: 100 * 2 ** 20,
      });
    }
    expect(job.executor_error_log).toBeNull();
  });

  it('a unit runs as the person, in the folder of its task, with its own CPUs and the cache folder', async () => {
    const { lab } = deployment;
    const { id, dataset, flow } = await submitParallel(deployment, ['a'], {
      plan: { '*': { environ: true } },
      meta_parallel: { cpus_per_task: 2 },
    });
    const job = await lab.end(id);
    expect([job.status, job.log]).toEqual(['done', job.log]);
    const { units } = await lab.units(dataset, flow.steps[0]!);
    const log = readFileSync((units as { logfile: string }[])[0]!.logfile, 'utf8');
    const { environ, cwd } = JSON.parse(log.trim()) as { environ: Record<string, string>; cwd: string };
    expect(environ).toMatchObject({
      LOGNAME: 'alice',
      SLURM_CPUS_PER_TASK: '2',
      FRACTAL_CACHE_DIR: join(lab.root, 'fractal/.fractal_cache'),
    });
    expect(cwd.startsWith(job.working_dir_user as string)).toBe(true);
    expect(Object.keys(environ).filter((name) => /POSTGRES|JWT|SERVICE_/.test(name))).toEqual([]);
  });

  it.runIf(LONG || type === 'slurm_ssh')(
    `${UNITS} units cost at most 30 commands on the cluster, whatever the number of units in a job`,
    async () => {
      onTestFailed(() => console.error(deployment.output()));
      const { lab } = deployment;
      // sixteen at a time, for the sake of what else runs on this machine
      for (const [tasks_per_job, parallel_tasks_per_job, cpus_per_task] of [
        [1, 1, 4],
        [50, 4, 1],
      ]) {
        const images = Array.from({ length: UNITS }, (_, index) => `image ${index}`);
        const since = now();
        const flow = await lab.workflow([
          { type: 'parallel', meta_parallel: { tasks_per_job, parallel_tasks_per_job, cpus_per_task, mem: 10 } },
        ]);
        const dataset = await lab.dataset(images);
        const id = await submit(deployment, flow, dataset);
        const job = await lab.end(id, 400);
        expect([job.status, job.log]).toEqual(['done', job.log]);
        const commands = type === 'slurm_sudo' ? sudoCommands(since) : sshCommands(since);
        // jobs of other tests run beside this one: what names a folder of theirs is not its own
        const counted = commands.filter(
          ({ command }) =>
            !/\bsqueue\b/.test(command) && [...command.matchAll(/_job_0*(\d+)_/g)].every(([, of]) => Number(of) === id),
        );
        console.log(
          `${type}, ${tasks_per_job} units a job: ${counted.length} commands, ${commands.length} with the queue`,
        );
        expect(counted.length).toBeLessThanOrEqual(30);
        expect(
          new Set(
            lab
              .starts()
              .filter((start) => start.url?.includes('image '))
              .map(({ out }) => out),
          ).size,
        ).toBe(lab.starts().filter((start) => start.url?.includes('image ')).length);
      }
    },
    900_000,
  );

  it('a result that the file system shows some seconds late is waited for', async () => {
    const { lab } = deployment;
    const gate = join(lab.root, `late-${type}`);
    const { id } = await submitParallel(deployment, ['b'], { plan: { '*': { wait_for: gate } } });
    const { working_dir_user } = await lab.job(id);
    await expect
      .poll(() => lab.starts().some(({ out }) => out.startsWith(working_dir_user as string)), PATIENCE)
      .toBe(true);
    const undo = await stale(lab.root, type === 'slurm_ssh' ? 'ssh' : deployment.server().process.pid!);
    writeFileSync(gate, '');
    setTimeout(() => void undo(), 4000);
    const job = await lab.end(id, 60);
    expect([job.status, job.log]).toEqual(['done', job.log]);
  });

  it('the queue is shown, and says why a job waits', async () => {
    const { lab } = deployment;
    const { client } = lab.owner;
    const { id } = await submitParallel(deployment, ['c'], { meta_parallel: { extra_lines: ['#SBATCH --hold'] } });
    const queue = async () => (await client.get(`${lab.base}/job/${id}/queue/`)).body as object;
    const held = { state: 'waiting', jobs_ahead: null, reason: expect.stringMatching(/on hold.*JobHeldUser/) };
    await expect.poll(queue, PATIENCE).toEqual(held);
    const { status, text } = await client.get('/api/v2/job/squeue/', { query: { scope: 'user' } });
    expect([status, text]).toEqual([200, expect.stringMatching(/JOBID(.|\n)*alice(.|\n)*JobHeldUser/)]);
    const [line] = (await squeue()).filter((one) => one.reason === 'JobHeldUser' && one.state === 'PENDING');
    await must(['scontrol', 'release', String(line!.job)]);
    expect(await lab.end(id, 60)).toMatchObject({ status: 'done' });
    expect(await queue()).toEqual({ state: 'ended', jobs_ahead: null, reason: null });
  });

  it('the log of a unit is read while it runs', async () => {
    const { lab } = deployment;
    const { id, dataset, flow } = await submitParallel(deployment, ['talker'], {
      plan: { '*': { print: 'half of it is done', sleep: 300 } },
    });
    const logOf = async () => {
      const path = `${lab.base}/status/unit-log/`;
      const { run, units } = await lab.units(dataset, flow.steps[0]!);
      const [unit] = units as { id: number }[];
      if (!run || !unit) return '';
      const query = {
        dataset_id: dataset,
        workflowtask_id: flow.steps[0]!,
        history_run_id: run.id,
        history_unit_id: unit.id,
      };
      return (await lab.owner.client.get(path, { query })).body as string;
    };
    await expect.poll(logOf, PATIENCE).toContain('half of it is done');
    await lab.owner.client.post(`/api/v2/job/${id}/stop/`);
    await lab.end(id, 60);
    expect(await logOf()).toContain('half of it is done');
  });

  it.runIf(LONG || type === 'slurm_sudo')(
    'with several nodes, each has a worker with a part of the units',
    async () => {
      const { lab } = deployment;
      const { id, dataset, flow } = await submitParallel(deployment, ['m 1', 'm 2', 'm 3', 'm 4'], {
        meta_parallel: { nodes: 2, tasks_per_job: 4, parallel_tasks_per_job: 1 },
      });
      expect(await lab.end(id, 60)).toMatchObject({ status: 'done' });
      const { units } = await lab.units(dataset, flow.steps[0]!);
      expect(new Set((units as { node: string }[]).map(({ node }) => node)).size).toBe(2);
      expect(lab.starts().filter(({ url }) => url?.includes('/m '))).toHaveLength(4);
    },
  );

  it.runIf(LONG || type === 'slurm_ssh')(
    'jobs that end before their worker begins say why, all with few commands',
    async () => {
      onTestFailed(() => console.error(deployment.output()));
      const { lab, db } = deployment;
      const setPython = (path: string) =>
        db.updateTable('resources').set({ jobs_slurm_python_worker: path }).where('id', '=', lab.resource_id).execute();
      await setPython('/nowhere/python3');
      const since = now();
      const images = Array.from({ length: 20 }, (_, index) => `never ${index}`);
      const job = await submitParallel(deployment, images, {
        meta_parallel: { tasks_per_job: 1, parallel_tasks_per_job: 1 },
      });
      await setPython('/usr/bin/python3');
      const { status, executor_error_log } = await lab.end(job.id, 90);
      expect([status, executor_error_log]).toEqual(['failed', expect.stringContaining('/nowhere/python3')]);
      const { units } = await lab.units(job.dataset, job.flow.steps[0]!);
      for (const unit of units as object[]) {
        expect(unit).toMatchObject({
          status: 'failed',
          cause: 'start',
          message: expect.stringContaining('/nowhere/python3'),
        });
      }
      const commands = type === 'slurm_sudo' ? sudoCommands(since) : sshCommands(since);
      expect(commands.filter(({ command }) => !/\bsqueue\b|\bsacct\b/.test(command)).length).toBeLessThanOrEqual(30);
    },
    150_000,
  );
});

describe.each(TYPES)('%s', (type) => {
  it('a unit over its time has failed and says so; those after it in the same job run all the same', async () => {
    const {
      deployment: { lab },
      slow,
    } = opened.get(type)!;
    const job = await lab.end(slow.id, 150);
    expect([job.status, job.failure]).toEqual(['failed', expect.objectContaining({ kind: 'task', num_images: 1 })]);
    const { units } = await lab.units(slow.dataset, slow.flow.steps[0]!);
    expect(units).toMatchObject([
      { status: 'failed', cause: 'time_limit', message: expect.stringMatching(/time limit(.|\n)*on my way/) },
      { status: 'done', cause: null },
      { status: 'done', cause: null },
    ]);
    expect(lab.starts().filter(({ url }) => url === lab.urlOf('late'))).toHaveLength(1);
  }, 200_000);

  it('nothing is taken for lost that ended long before the service looked', async () => {
    const { deployment, spread } = opened.get(type)!;
    const job = await deployment.lab.end(spread.id, 150);
    expect([job.status, job.log]).toEqual(['done', job.log]);
  }, 200_000);
});
