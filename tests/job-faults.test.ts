/** The service, its database, its workers and its disk fail while jobs run: jobs end as if nothing had happened, or say what did. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';

import { patiently } from '../packages/server/src/db/index.ts';
import { type Flow, type TaskSpec, until } from '../packages/server/test/support/lab.ts';
import { clientOf, freshDatabase } from '../packages/server/test/support/server.ts';
import { crashDatabase } from './support/crash-database.ts';
import { everyTask, storyOf, zipOf } from './support/every-task.ts';
import { type House, openHouse } from './support/house.ts';

const LONG = Boolean(process.env['LONG']);
const KILLS = LONG ? 30 : 4;
const OUTAGE_SECONDS = LONG ? 20 : 5;
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

async function submit({ lab }: House, flow: Flow, dataset: number): Promise<number> {
  const { status, text, body } = await lab.submit(flow, dataset);
  expect([status, text]).toEqual([202, text]);
  return (body as { id: number }).id;
}

const submitNew = async (house: House, flow: Flow) => submit(house, flow, await house.lab.dataset());

/** A job with one parallel task on these images. */
async function submitParallel(house: House, images: string[], spec: Omit<TaskSpec, 'type'>) {
  const flow = await house.lab.workflow([{ type: 'parallel', ...spec }]);
  const dataset = await house.lab.dataset(images);
  return { flow, dataset, id: await submit(house, flow, dataset) };
}

async function isOver({ db }: House, id: number): Promise<boolean> {
  const { status } = await db.selectFrom('jobs').select('status').where('id', '=', id).executeTakeFirstOrThrow();
  return status !== 'submitted';
}

/** Nothing is left of jobs that are over but their folders and zips. */
async function expectNothingLeft(house: House): Promise<void> {
  const left = async () => ({
    processes: house.processes(),
    runningJobs: house.runningJobs(),
    work: await house.db.selectFrom('background_work').select(['subject_id', 'leased_by']).execute(),
  });
  await expect.poll(left, { timeout: 20_000 }).toEqual({ processes: [], runningJobs: [], work: [] });
}

/** A job that nobody disturbs, and what it adds to the accounting. */
async function undisturbed(house: House, flow: Flow) {
  const id = await submitNew(house, flow);
  await house.lab.end(id, 60);
  await expectNothingLeft(house);
  return { story: await storyOf(house, id), accounting: await house.lab.accounting() };
}

const startsIn = (house: House, working_dir: string) =>
  house.lab.starts().filter(({ out }) => out.startsWith(working_dir));

describe('killed at random moments', () => {
  it.each(['embedded', 'given'] as const)(
    `${KILLS} times on the %s database, jobs end as if nobody had killed anything`,
    async (database) => {
      const house = await openHouse({ database });
      onTestFailed(() => console.error(`Run it again with FAULTS_SEED=${SEED}\n${house.output()}`));
      try {
        const random = randomNumbers(SEED);
        const moment = () => sleep(50 + 1450 * random());
        const flow = await everyTask(house.lab);
        const expected = await undisturbed(house, flow);
        expect(expected.story.status).toBe('done');
        let jobs = 1;
        for (let kills = 0; kills < KILLS; jobs++) {
          const id = await submitNew(house, flow);
          for (; kills < KILLS && !(await isOver(house, id)); kills++) {
            await moment();
            await house.kill();
            if (random() < 0.2) {
              house.launch();
              await moment();
              await house.kill();
            }
            await house.start();
          }
          await house.lab.end(id, 60);
          await expectNothingLeft(house);
          expect(await storyOf(house, id)).toEqual(expected.story);
        }
        const accounting = Array.from({ length: jobs }, () => expected.accounting).flat();
        expect(await house.lab.accounting()).toEqual(accounting);
      } finally {
        await house.close();
      }
    },
    60_000 + KILLS * 15_000,
  );
});

describe('one service', () => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse({ database: 'given' });
  });
  afterAll(() => house.close());

  it('a stop that was asked for counts, though the service is killed before it heard', async () => {
    const { id } = await submitParallel(house, ['a', 'b'], { plan: { '*': { sleep: 600, spawn: 600 } } });
    const { working_dir } = await house.lab.job(id);
    await until('two units', () => startsIn(house, working_dir).length === 2);
    const stopped = await house.lab.owner.client.get(`${house.lab.base}/job/${id}/stop/`);
    await house.kill();
    expect(stopped.status).toBe(202);
    await house.start();
    expect(await house.lab.end(id)).toMatchObject({ status: 'failed', failure: { kind: 'stopped' } });
    await expectNothingLeft(house);
    expect((await storyOf(house, id)).history).toMatchObject([
      { run_status: 'failed', status: 'failed', cause: 'stopped' },
      { run_status: 'failed', status: 'failed', cause: 'stopped' },
    ]);
  });

  it('a worker that is killed loses the units that ran; the others run, none twice', async () => {
    const wait = { sleep: 600 };
    const { id } = await submitParallel(house, ['a', 'b', 'c', 'd', 'e'], {
      meta_parallel: { parallel_tasks_per_job: 2 },
      plan: { [house.lab.urlOf('b')]: wait, [house.lab.urlOf('c')]: wait },
    });
    const { working_dir } = await house.lab.job(id);
    await until('the units that wait', () => startsIn(house, working_dir).length === 3);
    const [worker, ...more] = house.processes().filter((line) => line.includes('worker.py'));
    expect(more).toEqual([]);
    process.kill(Number.parseInt(worker!), 'SIGKILL');
    const job = await house.lab.end(id);
    expect(job).toMatchObject({ status: 'failed', failure: { kind: 'task', num_images: 2 } });
    await expectNothingLeft(house);
    const { history, starts } = await storyOf(house, id);
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

  it('SIGTERM ends the service at once though units run, and the next start goes on with the job', async () => {
    const flow = await everyTask(house.lab);
    const expected = await undisturbed(house, flow);
    const id = await submitNew(house, flow);
    for (let restart = 0; restart < 3; restart++) {
      await sleep(400);
      const asked = Date.now();
      expect(await house.stop()).toBe(0);
      expect(Date.now() - asked).toBeLessThan(3000);
      await house.start();
    }
    await house.lab.end(id, 60);
    await expectNothingLeft(house);
    expect(await storyOf(house, id)).toEqual(expected.story);
  });

  it('a job whose zip was not made before the service was killed gets it at the next start', async () => {
    const release = join(house.folder, 'release');
    const { id } = await submitParallel(house, ['a'], { plan: { '*': { wait_for: release } } });
    const { working_dir } = await house.lab.job(id);
    await until('the unit', () => startsIn(house, working_dir).length === 1);
    // takes a second or more to zip
    writeFileSync(join(working_dir, 'large'), randomBytes(32 * 2 ** 20));
    writeFileSync(release, '');
    await until('the end of the job', () => isOver(house, id));
    await house.kill();
    expect(existsSync(`${working_dir}.zip`)).toBe(false);
    await house.start();
    await expectNothingLeft(house);
    expect(await zipOf(house, id)).toEqual(expect.arrayContaining(['large', 'workflow.log']));
    expect(existsSync(working_dir)).toBe(false);
    expect((await house.lab.job(id)).status).toBe('done');
  });

  it('a full disk fails the job with that cause, and the service runs the next one', async () => {
    const { jobs } = house.lab.folders;
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', jobs]);
    try {
      const filler = join(jobs, 'filler');
      writeFileSync(filler, Buffer.alloc(statfsSync(jobs).bavail * statfsSync(jobs).bsize));
      const full = await submitParallel(house, ['a', 'b'], {});
      const failed = await house.lab.end(full.id);
      expect(failed).toMatchObject({ status: 'failed', failure: { message: expect.stringMatching(/no space left/i) } });
      expect(failed.log).toMatch(/no space left/i);
      await expectNothingLeft(house);

      rmSync(filler);
      const next = await submit(house, full.flow, full.dataset);
      expect(await house.lab.end(next)).toMatchObject({ status: 'done', failure: null });
      await expectNothingLeft(house);
    } finally {
      execFileSync('umount', [jobs]);
    }
  });
});

describe('several parts', () => {
  it('two servers share the jobs, and when one is killed the other goes on within seconds', async () => {
    const house = await openHouse({ database: 'given' });
    onTestFailed(() => console.error(house.output()));
    try {
      const flow = await everyTask(house.lab);
      const expected = await undisturbed(house, flow);
      const other = await house.startAnother();
      const { owner, base } = house.lab;
      const otherClient = clientOf(other.url, await house.tokenOf(other.url, owner.email));
      const ids: number[] = [];
      for (const client of [owner.client, otherClient, owner.client, otherClient]) {
        const query = { workflow_id: flow.id, dataset_id: await house.lab.dataset() };
        const { status, body } = await client.post(`${base}/job/submit/`, {}, { query });
        expect(status).toBe(202);
        ids.push((body as { id: number }).id);
      }
      await sleep(700);
      const held = await house.db.selectFrom('background_work').select('leased_by').execute();
      const holds = (pid: number) => held.filter(({ leased_by }) => leased_by?.includes(`:${pid}#`)).length;
      const [one, two] = [house.server().process, other.running.process];
      expect(holds(one.pid!) + holds(two.pid!)).toBe(4);
      const [victim, heir] = holds(one.pid!) > holds(two.pid!) ? [one, two] : [two, one];
      victim.kill('SIGKILL');
      const inherited = async () => {
        const rows = await house.db.selectFrom('background_work').select('leased_by').execute();
        return rows.every(({ leased_by }) => leased_by?.includes(`:${heir.pid}#`));
      };
      await expect.poll(inherited, { timeout: 8000 }).toBe(true);
      await expect
        .poll(async () => Promise.all(ids.map((id) => isOver(house, id))), { timeout: 60_000 })
        .toEqual([true, true, true, true]);
      if (victim === one) await house.start();
      await expectNothingLeft(house);
      for (const id of ids) expect(await storyOf(house, id)).toEqual(expected.story);
      const accounting = (await house.lab.accounting()).map(String).sort();
      expect(accounting).toEqual(
        Array.from({ length: 5 }, () => expected.accounting.map(String))
          .flat()
          .sort(),
      );
    } finally {
      await house.close();
    }
  }, 120_000);

  it('a connection that breaks between two statements fails its transaction, which is tried again; the process stays', async () => {
    const { db, pool, drop } = await freshDatabase();
    try {
      let attempts = 0;
      const outcome = await patiently(
        () =>
          db.transaction().execute(async (trx) => {
            attempts += 1;
            const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
            if (attempts === 1) await pool.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
            await sleep(200);
            return (await sql<{ two: number }>`select 2 as two`.execute(trx)).rows;
          }),
        new AbortController().signal,
      );
      expect([attempts, outcome]).toEqual([2, [{ two: 2 }]]);
    } finally {
      await drop();
    }
  });

  it(`the database is away for ${OUTAGE_SECONDS} s: the service stays, and the job ends as if it had not been`, async () => {
    const house = await openHouse({ database: 'embedded' });
    onTestFailed(() => console.error(house.output()));
    try {
      const flow = await everyTask(house.lab);
      const expected = await undisturbed(house, flow);
      const id = await submitNew(house, flow);
      await sleep(700);
      expect(await isOver(house, id)).toBe(false);
      const bringBack = await crashDatabase(house.data);
      await sleep(OUTAGE_SECONDS * 1000);
      bringBack();
      await until('the database', () =>
        isOver(house, id).then(
          () => true,
          () => false,
        ),
      );
      expect(house.server().process.exitCode).toBe(null);
      await house.lab.end(id, 60);
      await expectNothingLeft(house);
      expect(await storyOf(house, id)).toEqual(expected.story);
      expect(await house.lab.accounting()).toEqual([...expected.accounting, ...expected.accounting]);
    } finally {
      await house.close();
    }
  }, 120_000);
});
