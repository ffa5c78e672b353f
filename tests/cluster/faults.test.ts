/** The service, the connection, the controller and the nodes fail while jobs run on a real cluster. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFailed, onTestFinished } from 'vitest';

import { until } from '../../packages/server/test/support/lab.ts';
import { LONG } from '../../packages/server/test/support/long.ts';
import { everyTask, storyOf } from '../support/every-task.ts';
import { expectNothingLeft, isOver, submitNew, submitParallel, undisturbed } from '../support/faults.ts';
import type { Deployment } from '../support/deployment.ts';
import { configure, killNode, type Node, squeue, startController, stopController, tidy } from './support/cluster.ts';
import { type ClusterType, openClusterDeployment } from './support/cluster-deployment.ts';
import {
  blindTo,
  failing,
  holdingAnswers,
  killSshConnections,
  losingAnswers,
  startSshd,
  stopSshd,
} from './support/faults.ts';
import { throughSudo } from './support/commands.ts';

const KILLS = LONG ? 9 : 1;
const AWAY_MS = LONG ? 60_000 : 12_000;
/** One of the tests before may still be listed, on a node that is gone. */
const newestRunning = async () =>
  (await squeue()).filter((one) => one.state === 'RUNNING').sort((one, other) => other.job - one.job)[0];

/** The ways to a cluster; what does not depend on them takes both in long runs only. */
const TYPES: ClusterType[] = ['slurm_sudo', 'slurm_ssh'];

const deployments = new Map<ClusterType, Deployment>();
beforeAll(async () => {
  for (const type of TYPES) deployments.set(type, await openClusterDeployment({ type }));
});
afterAll(async () => {
  for (const deployment of deployments.values()) await deployment.close();
});
afterEach(tidy);

const watched = (...some: Deployment[]) =>
  onTestFailed(() => {
    for (const deployment of some) console.error(deployment.output());
  });
const startsOf = ({ lab }: Deployment, url: string) =>
  lab.starts().filter((start) => start.url === lab.urlOf(url)).length;
const gateOf = ({ lab }: Deployment, name: string) => join(lab.root, `gate-${name}`);
const isDone = async ({ lab }: Deployment, { id }: { id: number }) =>
  expect(await lab.end(id, 120)).toMatchObject({ status: 'done' });

// what mostly waits, for both at the same time
describe('through sudo and through SSH', () => {
  /** The same for each of the deployments, at the same time. */
  const forEach = <T>(work: (deployment: Deployment) => Promise<T>) => Promise.all([...deployments.values()].map(work));

  it('killed at random moments, jobs end as if nobody had killed anything', async () => {
    watched(...deployments.values());
    await forEach(async (deployment) => {
      const flow = await everyTask(deployment.lab);
      const expected = await undisturbed(deployment, flow);
      expect(expected.story.status).toBe('done');
      for (let kills = 0; kills < KILLS;) {
        const id = await submitNew(deployment, flow);
        for (; kills < KILLS && !(await isOver(deployment, id)); kills++) {
          await sleep(200 + 3000 * Math.random());
          await deployment.kill();
          await sleep(1000 * Math.random());
          await deployment.start();
        }
        await deployment.lab.end(id, 120);
        await expectNothingLeft(deployment);
        expect(await storyOf(deployment, id)).toEqual(expected.story);
      }
    });
  }, 600_000);

  it.runIf(LONG)(
    'a job that came to be submitted twice all the same runs once, and is followed where it runs',
    async () => {
      watched(...deployments.values());
      const message = 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation';
      // the answer is lost, and the queue does not show the job yet to who looks for its token
      const undoQueue = await blindTo('squeue', '%F|%k');
      const undo = await losingAnswers('sbatch', message);
      const jobs = await forEach(async (deployment) => {
        const plan = { '*': { wait_for: gateOf(deployment, 'twice') } };
        return { deployment, job: await submitParallel(deployment, ['twice'], { plan }) };
      });
      try {
        const haveBegun = () => jobs.every(({ deployment }) => startsOf(deployment, 'twice') === 1);
        await until('the first jobs to run', haveBegun, 30);
      } finally {
        await undo();
      }
      const tokens = async () =>
        (await squeue()).filter((one) => one.comment?.startsWith('service-')).map((one) => one.comment);
      const twice = async () => (await tokens()).length - new Set(await tokens()).size;
      await until('the second jobs', async () => (await twice()) >= jobs.length, 60);
      await undoQueue();
      // longer than late files are waited for: the second jobs are over, the first ones are not
      await sleep(25_000);
      for (const { deployment, job } of jobs) {
        expect(await isOver(deployment, job.id)).toBe(false);
        writeFileSync(gateOf(deployment, 'twice'), '');
      }
      for (const { deployment, job } of jobs) {
        await isDone(deployment, job);
        expect(startsOf(deployment, 'twice')).toBe(1);
      }
    },
    180_000,
  );

  it(`a controller that is away for ${AWAY_MS / 1000} s is waited for`, async () => {
    watched(...deployments.values());
    const running = await forEach(async (deployment) => {
      const plan = { '*': { wait_for: gateOf(deployment, 'controller') } };
      const job = await submitParallel(deployment, ['ctld'], { plan });
      await until('the unit to run', () => startsOf(deployment, 'ctld') === 1, 30);
      return job;
    });
    await stopController();
    const late = await forEach((deployment) => submitParallel(deployment, ['submitted meanwhile'], {}));
    await sleep(AWAY_MS);
    await forEach(async (deployment) => writeFileSync(gateOf(deployment, 'controller'), ''));
    await startController();
    for (const [index, deployment] of [...deployments.values()].entries()) {
      for (const job of [running[index]!, late[index]!]) await isDone(deployment, job);
      expect([startsOf(deployment, 'ctld'), startsOf(deployment, 'submitted meanwhile')]).toEqual([1, 1]);
    }
  }, 240_000);
});

describe.each(TYPES)('%s', (type) => {
  let deployment: Deployment;
  beforeAll(() => {
    deployment = deployments.get(type)!;
  });

  const unitsOf = async ({ dataset, flow }: { dataset: number; flow: { steps: number[] } }) =>
    (await deployment.lab.units(dataset, flow.steps[0]!)).units as {
      status: string;
      cause: string | null;
      message: string | null;
      node: string;
    }[];

  it.runIf(LONG || type === 'slurm_ssh')(
    'killed between sbatch and its answer, the job is found again and submitted once',
    async () => {
      watched(deployment);
      const before = new Set((await squeue()).map(({ id }) => id));
      const held = await holdingAnswers('sbatch');
      let job;
      try {
        job = await submitParallel(deployment, ['once 1', 'once 2'], {
          meta_parallel: { tasks_per_job: 1, parallel_tasks_per_job: 1 },
        });
        await until('sbatch to have submitted', () => held.waiting() === 1, 30);
        await deployment.kill();
      } finally {
        await held.release();
      }
      await deployment.start();
      expect(await deployment.lab.end(job.id, 60)).toMatchObject({ status: 'done' });
      expect([startsOf(deployment, 'once 1'), startsOf(deployment, 'once 2')]).toEqual([1, 1]);
      expect((await squeue()).filter(({ id }) => !before.has(id))).toHaveLength(2);
    },
  );

  it.runIf(LONG || type === 'slurm_sudo')('an sbatch whose answer is lost is not done twice', async () => {
    watched(deployment);
    const undo = await losingAnswers(
      'sbatch',
      'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation',
    );
    let job;
    try {
      job = await submitParallel(deployment, ['lost answer'], {});
      expect(await deployment.lab.end(job.id, 60)).toMatchObject({ status: 'done' });
    } finally {
      await undo();
    }
    expect(startsOf(deployment, 'lost answer')).toBe(1);
  });

  it.runIf(LONG || type === 'slurm_ssh')(
    'a node that fails loses the unit it ran; what had not begun there runs elsewhere',
    async () => {
      watched(deployment);
      const gate = gateOf(deployment, 'node');
      const names = Array.from({ length: 8 }, (_, index) => `node ${index}`);
      const job = await submitParallel(deployment, names, {
        plan: { '*': { wait_for: gate } },
        // a job takes all of a node, and runs its two units one after the other
        meta_parallel: { cpus_per_task: 16, tasks_per_job: 2, parallel_tasks_per_job: 1 },
      });
      await until(
        'a unit on each node',
        () => [0, 2, 4, 6].every((index) => startsOf(deployment, `node ${index}`) === 1),
        40,
      );
      const lines = await squeue();
      const { schedulerNode } = await until('the node of the first unit', async () => {
        const [first] = await unitsOf(job);
        const id = lines.find((line) => line.state === 'RUNNING' && line.index === '0')?.node;
        return first && id ? { schedulerNode: id } : undefined;
      });
      await killNode(schedulerNode as Node);
      writeFileSync(gate, '');
      const ended = await deployment.lab.end(job.id, 150);
      expect(ended).toMatchObject({ status: 'failed', failure: { kind: 'task', num_images: 1 } });
      const units = await unitsOf(job);
      expect(units[0]).toMatchObject({ status: 'failed', cause: 'lost', message: expect.stringMatching(/node/i) });
      expect(units.slice(1).map(({ status }) => status)).toEqual(Array(7).fill('done'));
      expect(names.map((name) => startsOf(deployment, name))).toEqual(Array(8).fill(1));
    },
    240_000,
  );

  it.runIf(LONG || type === 'slurm_sudo')(
    'a job that is cancelled in Slurm has failed, and says who did not do it',
    async () => {
      watched(deployment);
      const job = await submitParallel(deployment, ['cancelled'], { plan: { '*': { sleep: 100 } } });
      await until('the unit to run', () => startsOf(deployment, 'cancelled') === 1, 30);
      const line = await newestRunning();
      await throughSudo('alice', ['scancel', String(line!.job)]);
      expect(await deployment.lab.end(job.id, 60)).toMatchObject({ status: 'failed', failure: { kind: 'task' } });
      expect(await unitsOf(job)).toMatchObject([
        { status: 'failed', cause: 'stopped', message: expect.stringMatching(/cancelled in Slurm/) },
      ]);
    },
  );

  it.runIf(LONG || type === 'slurm_sudo')(
    'a unit over its memory is told apart from its neighbours, and has another attempt where the task asks for it',
    async () => {
      watched(deployment);
      const { lab } = deployment;
      const plan = { [lab.urlOf('greedy')]: { allocate: 250, sleep: 2 }, '*': { sleep: 1 } };
      const meta_parallel = { mem: 100, tasks_per_job: 2, parallel_tasks_per_job: 2 };
      const job = await submitParallel(deployment, ['greedy', 'modest'], { plan, meta_parallel });
      await lab.end(job.id, 60);
      expect(await unitsOf(job)).toMatchObject([{ status: 'failed', cause: 'memory' }, { status: 'done' }]);
      const more = { ...meta_parallel, retry: { times: 2, mem_factor: 2, max_mem: 500 } };
      const again = await submitParallel(deployment, ['greedy', 'modest'], { plan, meta_parallel: more });
      expect(await lab.end(again.id, 90)).toMatchObject({ status: 'done' });
      expect([startsOf(deployment, 'greedy'), startsOf(deployment, 'modest')]).toEqual([4, 2]);
    },
    200_000,
  );

  it('a stopped job is cancelled in Slurm, and its history is settled', async () => {
    watched(deployment);
    const job = await submitParallel(deployment, ['stop 1', 'stop 2'], {
      plan: { '*': { sleep: 100 } },
      meta_parallel: { tasks_per_job: 2, parallel_tasks_per_job: 1 },
    });
    await until('the first unit to run', () => startsOf(deployment, 'stop 1') === 1, 30);
    await deployment.lab.owner.client.post(`/api/v2/job/${job.id}/stop/`);
    expect(await deployment.lab.end(job.id, 60)).toMatchObject({ status: 'failed', failure: { kind: 'stopped' } });
    expect(await unitsOf(job)).toMatchObject([{ cause: 'stopped' }, { cause: 'stopped' }]);
    expect(startsOf(deployment, 'stop 2')).toBe(0);
    await expect
      .poll(async () => (await squeue()).filter((one) => one.state === 'RUNNING'), { timeout: 20_000 })
      .toEqual([]);
  });
});

/** The cluster has an accounting in long runs, and where one is asked for. */
const HAS_ACCOUNTING = LONG || process.env['CLUSTER_ACCOUNTING'] === '1';

describe.each(HAS_ACCOUNTING ? TYPES : TYPES.slice(0, 1))('%s', (type) => {
  let deployment: Deployment;
  beforeAll(() => {
    deployment = deployments.get(type)!;
  });

  const WHICH = LONG ? ['never showed', 'has shown'] : ['never showed'];
  const KNOWS = HAS_ACCOUNTING ? 'knows' : 'is not there';

  it.each(WHICH)(
    `of a job that the queue %s and has forgotten, accounting ${KNOWS}`,
    async (which) => {
      watched(deployment);
      onTestFinished(await configure({ MinJobAge: 2 }));
      const before = deployment.lab.starts().length;
      const show = which === 'never showed' ? await failing('squeue', 'slurm_load_jobs error: busy') : undefined;
      const { id, dataset, flow } = await submitParallel(deployment, ['forgotten'], { plan: { '*': { sleep: 300 } } });
      await until('the unit to run', () => deployment.lab.starts().length === before + 1, 30);
      const line = await newestRunning();
      if (!show) await sleep(3000);
      await deployment.kill();
      await show?.();
      await killNode(line!.node as Node);
      await until('Slurm to forget', async () => (await squeue()).every(({ job }) => job !== line!.job), 90);
      await deployment.start();
      expect(await deployment.lab.end(id, 90)).toMatchObject({ status: 'failed' });
      const message = HAS_ACCOUNTING ? /The node failed/ : /Slurm no longer knows the job/;
      const { units } = await deployment.lab.units(dataset, flow.steps[0]!);
      expect(units).toMatchObject([{ status: 'failed', cause: 'lost', message: expect.stringMatching(message) }]);
      expect(deployment.lab.starts()).toHaveLength(before + 1);
    },
    300_000,
  );
});

describe('slurm_ssh', () => {
  it('a job survives that its connection breaks, and that nobody can log in for a while', async () => {
    const deployment = deployments.get('slurm_ssh')!;
    watched(deployment);
    const before = deployment.lab.starts().length;
    const gate = gateOf(deployment, 'ssh');
    const job = await submitParallel(deployment, ['far 1', 'far 2'], {
      plan: { '*': { wait_for: gate } },
      meta_parallel: { tasks_per_job: 1, parallel_tasks_per_job: 1 },
    });
    await until('both units to run', () => deployment.lab.starts().length === before + 2, 30);
    await killSshConnections();
    await stopSshd();
    writeFileSync(gate, '');
    await sleep(5000);
    await startSshd();
    expect(await deployment.lab.end(job.id, 120)).toMatchObject({ status: 'done' });
    expect(deployment.lab.starts()).toHaveLength(before + 2);
  }, 200_000);
});
