/** Several servers share jobs and one of them fails, or their database does: nothing is lost, nothing happens twice. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it, onTestFailed } from 'vitest';

import { patiently } from '../packages/server/src/db/index.ts';
import { until } from '../packages/server/test/support/lab.ts';
import { clientOf, freshDatabase } from '../packages/server/test/support/server.ts';
import { crashDatabase } from './support/crash-database.ts';
import { everyTask, storyOf } from './support/every-task.ts';
import { expectNothingLeft, isOver, submitNew, undisturbed } from './support/faults.ts';
import { type House, openHouse } from './support/house.ts';

const OUTAGE_SECONDS = process.env['LONG'] ? 20 : 5;

const holdersIn = async ({ db }: House) =>
  (await db.selectFrom('background_work').select('leased_by').execute()).map(({ leased_by }) => leased_by ?? '');

const isHeldBy =
  ({ pid }: ChildProcess) =>
  (holder: string) =>
    holder.includes(`:${pid}#`);

const LOCKED = '55P03';

/** Freezes a server between two transactions, as if it had not been heard of for longer than its leases last. */
async function freeze({ db }: House, server: ChildProcess): Promise<void> {
  const ofServer = `%:${server.pid}#%`;
  for (let frozen = false; !frozen;) {
    server.kill('SIGSTOP');
    try {
      await db.transaction().execute(async (trx) => {
        const held = trx.selectFrom('background_work').select('id').where('leased_by', 'like', ofServer);
        await held.forUpdate().noWait().execute();
        const expired = { leased_until: '2026-01-01T00:00:00Z' };
        await trx.updateTable('background_work').set(expired).where('leased_by', 'like', ofServer).execute();
      });
      frozen = true;
    } catch (error) {
      if ((error as { code?: string }).code !== LOCKED) throw error;
      server.kill('SIGCONT');
      await sleep(20);
    }
  }
}

/** A house with two servers at work on four jobs; the victim has most of them. */
async function shareJobs(house: House) {
  const flow = await everyTask(house.lab);
  const expected = await undisturbed(house, flow);
  const other = await house.startAnother();
  const { owner, base } = house.lab;
  const otherClient = clientOf(other.url, await house.tokenOf(other.url, owner.email));
  const datasets = [];
  for (let number = 0; number < 4; number++) datasets.push(await house.lab.dataset());
  const answers = await Promise.all(
    datasets.map((dataset_id, number) =>
      [owner.client, otherClient][number % 2]!.post(
        `${base}/job/submit/`,
        {},
        { query: { workflow_id: flow.id, dataset_id } },
      ),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
  const ids = answers.map(({ body }) => (body as { id: number }).id);
  const servers = [house.server().process, other.running.process] as const;
  await expect
    .poll(async () => (await holdersIn(house)).filter((holder) => servers.some((server) => isHeldBy(server)(holder))))
    .toHaveLength(4);
  await sleep(500);
  const holders = await holdersIn(house);
  const [one, two] = servers.map((server) => holders.filter(isHeldBy(server)).length);
  const [victim, heir] = one! > two! ? servers : ([servers[1], servers[0]] as const);
  expect(Math.max(one!, two!)).toBeGreaterThan(0);

  return {
    victim,
    heir,
    allOver: (timeout: number) =>
      expect
        .poll(async () => Promise.all(ids.map((id) => isOver(house, id))), { timeout })
        .toEqual([true, true, true, true]),
    async expectResults() {
      await expectNothingLeft(house);
      for (const id of ids) expect(await storyOf(house, id)).toEqual(expected.story);
      const accounting = Array.from({ length: 5 }, () => expected.accounting.map(String)).flat();
      expect((await house.lab.accounting()).map(String).sort()).toEqual(accounting.sort());
    },
  };
}

describe('two servers share the jobs', () => {
  it('and when one is killed, the other goes on within seconds', async () => {
    const house = await openHouse({ database: 'given' });
    onTestFailed(() => console.error(house.output()));
    try {
      const { victim, heir, allOver, expectResults } = await shareJobs(house);
      victim.kill('SIGKILL');
      const inherited = async () => (await holdersIn(house)).every(isHeldBy(heir));
      await expect.poll(inherited, { timeout: 8000 }).toBe(true);
      await allOver(60_000);
      if (victim === house.server().process) await house.start();
      await expectResults();
    } finally {
      await house.close();
    }
  }, 120_000);

  it.each([
    ['while the other one works', async () => undefined],
    ['when all is over', async (allOver: (timeout: number) => Promise<void>) => allOver(60_000)],
  ])(
    'and one that was frozen for longer than its leases changes nothing when it wakes %s',
    async (_, wait) => {
      const house = await openHouse({ database: 'given' });
      onTestFailed(() => console.error(house.output()));
      try {
        const { victim, heir, allOver, expectResults } = await shareJobs(house);
        await freeze(house, victim);
        await expect.poll(async () => (await holdersIn(house)).every(isHeldBy(heir)), { timeout: 8000 }).toBe(true);
        await wait(allOver);
        victim.kill('SIGCONT');
        await allOver(60_000);
        // by now it has tried to store what it knew
        await sleep(3000);
        await expectResults();
        expect([victim.exitCode, victim.signalCode]).toEqual([null, null]);
      } finally {
        await house.close();
      }
    },
    120_000,
  );
});

describe('the database', () => {
  it('a connection that breaks between two statements fails its transaction, which is tried again; the process stays', async () => {
    const { db, pool, drop } = await freshDatabase();
    try {
      let attempts = 0;
      const outcome = await patiently(
        () =>
          db.transaction().execute(async (trx) => {
            attempts += 1;
            const asked = trx.selectNoFrom((eb) => eb.fn<number>('pg_backend_pid').as('pid'));
            const { pid } = await asked.executeTakeFirstOrThrow();
            if (attempts === 1) await pool.query('select pg_terminate_backend($1)', [pid]);
            await sleep(200);
            return (await asked.executeTakeFirstOrThrow()).pid === pid;
          }),
        new AbortController().signal,
      );
      expect([attempts, outcome]).toEqual([2, true]);
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
