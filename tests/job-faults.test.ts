/** The service, its workers and its disk fail while jobs run: jobs end as if nothing had happened, or say what did. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';

import { until } from '../packages/server/test/support/lab.ts';
import { LONG } from '../packages/server/test/support/long.ts';
import { everyTask, storyOf, zipOf } from './support/every-task.ts';
import {
  expectNothingLeft,
  isOver,
  startsIn,
  submit,
  submitNew,
  submitParallel,
  undisturbed,
} from './support/faults.ts';
import { openDeploymentAs, type Runner } from './support/accounts.ts';
import type { Deployment } from './support/deployment.ts';

const KILLS = LONG ? 30 : 1;
const SEED = Number(process.env['FAULTS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** The same numbers for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** tests/accounts.test.ts has the other accounts in every run, and the tests below the given database. */
const OTHERS: ['embedded' | 'given', Runner][] = [
  ['given', 'the service'],
  ['given', 'sudo'],
  ['embedded', 'root'],
];

describe('killed at random moments', () => {
  const kinds: ['embedded' | 'given', Runner][] = [['embedded', 'the service'], ...(LONG ? OTHERS : [])];
  it.each(kinds)(
    'on the %s database, with tasks run by %s, jobs end as if nobody had killed anything',
    async (database, runner) => {
      const deployment = await openDeploymentAs(runner, { database });
      onTestFailed(() => console.error(`Run it again with FAULTS_SEED=${SEED}\n${deployment.output()}`));
      try {
        const random = randomNumbers(SEED);
        const moment = () => sleep(50 + 1450 * random());
        const flow = await everyTask(deployment.lab);
        const expected = await undisturbed(deployment, flow);
        expect(expected.story.status).toBe('done');
        let jobs = 1;
        for (let kills = 0; kills < KILLS; jobs++) {
          const id = await submitNew(deployment, flow);
          for (; kills < KILLS && !(await isOver(deployment, id)); kills++) {
            await moment();
            await deployment.kill();
            if (random() < 0.2) {
              deployment.launch();
              await moment();
              await deployment.kill();
            }
            await deployment.start();
          }
          await deployment.lab.end(id, 60);
          await expectNothingLeft(deployment);
          expect(await storyOf(deployment, id)).toEqual(expected.story);
        }
        const accounting = Array.from({ length: jobs }, () => expected.accounting).flat();
        expect(await deployment.lab.accounting()).toEqual(accounting);
      } finally {
        await deployment.close();
      }
    },
    60_000 + KILLS * 15_000,
  );
});

const runners: Runner[] = LONG ? ['the service', 'root', 'sudo'] : ['the service'];

describe.each(runners)('one service, with tasks run by %s', (runner) => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeploymentAs(runner, { database: 'given' });
  });
  afterAll(() => deployment.close());

  it('a stop that was asked for counts, though the service is killed before it heard', async () => {
    const { id } = await submitParallel(deployment, ['a', 'b'], { plan: { '*': { sleep: 600, spawn: 600 } } });
    const { working_dir } = await deployment.lab.job(id);
    await until('two units', () => startsIn(deployment, working_dir).length === 2);
    const stopped = await deployment.lab.owner.client.get(`${deployment.lab.base}/job/${id}/stop/`);
    await deployment.kill();
    expect(stopped.status).toBe(202);
    await deployment.start();
    expect(await deployment.lab.end(id)).toMatchObject({ status: 'failed', failure: { kind: 'stopped' } });
    await expectNothingLeft(deployment);
    expect((await storyOf(deployment, id)).history).toMatchObject([
      { run_status: 'failed', status: 'failed', cause: 'stopped' },
      { run_status: 'failed', status: 'failed', cause: 'stopped' },
    ]);
  });

  it.each([
    ['a worker that is killed', async (worker: number) => void process.kill(worker, 'SIGKILL')],
    [
      'a machine that loses power',
      async () => {
        await deployment.kill();
        for (const line of deployment.processes()) process.kill(Number.parseInt(line), 'SIGKILL');
        await deployment.start();
      },
    ],
  ])('%s loses the units that ran; the others run, none twice', async (_, fail) => {
    const wait = { sleep: 600 };
    const { id } = await submitParallel(deployment, ['a', 'b', 'c', 'd', 'e'], {
      meta_parallel: { parallel_tasks_per_job: 2 },
      plan: { [deployment.lab.urlOf('b')]: wait, [deployment.lab.urlOf('c')]: wait },
    });
    const { working_dir } = await deployment.lab.job(id);
    await until('the units that wait', () => startsIn(deployment, working_dir).length === 3);
    const [worker, ...more] = deployment.processes().filter((line) => line.includes('worker.pyz'));
    expect(more).toEqual([]);
    await fail(Number.parseInt(worker!));
    const job = await deployment.lab.end(id);
    expect(job).toMatchObject({ status: 'failed', failure: { kind: 'task', num_images: 2 } });
    await expectNothingLeft(deployment);
    const { history, starts } = await storyOf(deployment, id);
    expect(history.map(({ status, cause }) => [status, cause])).toEqual([
      ['done', null],
      ['failed', 'lost'],
      ['failed', 'lost'],
      ['done', null],
      ['done', null],
    ]);
    expect(starts).toHaveLength(5);
    expect(new Set(starts).size).toBe(5);
  });

  it('SIGTERM ends the service though units run, and the next start goes on with the job', async () => {
    const flow = await everyTask(deployment.lab);
    const expected = await undisturbed(deployment, flow);
    const id = await submitNew(deployment, flow);
    // a unit that waits for the file could be waited for without end
    const release = join(deployment.folder, 'released');
    const waiting = await submitParallel(deployment, ['a'], { plan: { '*': { wait_for: release } } });
    for (let restart = 0; restart < (LONG ? 2 : 1); restart++) {
      await sleep(400);
      expect(await deployment.stop()).toBe(0);
      await deployment.start();
    }
    writeFileSync(release, '');
    await deployment.lab.end(id, 60);
    expect(await deployment.lab.end(waiting.id, 60)).toMatchObject({ status: 'done' });
    await expectNothingLeft(deployment);
    expect(await storyOf(deployment, id)).toEqual(expected.story);
  });

  it('a job whose zip was not made before the service was killed gets it at the next start', async () => {
    const release = join(deployment.folder, 'release');
    const { id } = await submitParallel(deployment, ['a'], { plan: { '*': { wait_for: release } } });
    const { working_dir } = await deployment.lab.job(id);
    await until('the unit', () => startsIn(deployment, working_dir).length === 1);
    // takes a second or more to zip
    writeFileSync(join(working_dir, 'large'), randomBytes(32 * 2 ** 20));
    writeFileSync(release, '');
    await until('the end of the job', () => isOver(deployment, id));
    await deployment.kill();
    expect(existsSync(`${working_dir}.zip`)).toBe(false);
    await deployment.start();
    await expectNothingLeft(deployment);
    expect(await zipOf(deployment, id)).toEqual(expect.arrayContaining(['large', 'workflow.log']));
    expect(existsSync(working_dir)).toBe(false);
    expect((await deployment.lab.job(id)).status).toBe('done');
  });

  it.each([
    ['jobs', () => deployment.lab.folders.jobs],
    ['the service', () => join(deployment.data, 'running-jobs')],
  ])('a full disk below the folder of %s fails the job with that cause, and the next job runs', async (_, folderOf) => {
    const folder = folderOf();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
    try {
      const filler = join(folder, 'filler');
      writeFileSync(filler, Buffer.alloc(statfsSync(folder).bavail * statfsSync(folder).bsize));
      const full = await submitParallel(deployment, ['a', 'b'], {});
      const failed = await deployment.lab.end(full.id);
      expect(failed).toMatchObject({ status: 'failed', failure: { message: expect.stringMatching(/no space left/i) } });
      expect(failed.log).toMatch(/no space left/i);
      expect(failed.log).toContain(`${full.id}`);

      rmSync(filler);
      await expectNothingLeft(deployment);
      const next = await submit(deployment, full.flow, full.dataset);
      expect(await deployment.lab.end(next)).toMatchObject({ status: 'done', failure: null });
      await expectNothingLeft(deployment);
    } finally {
      execFileSync('umount', [folder]);
    }
  });
});
