/** Several servers share jobs and one of them fails, or their database does: nothing is lost, nothing happens twice. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it, onTestFailed } from 'vitest';

import { retryWhileAway } from '../packages/server/src/db/index.ts';
import { until } from '../packages/server/test/support/lab.ts';
import { LONG } from '../packages/server/test/support/long.ts';
import { clientOf, freshDatabase } from '../packages/server/test/support/server.ts';
import { crashDatabase } from './support/crash-database.ts';
import { everyTask, storyOf } from './support/every-task.ts';
import { expectNothingLeft, isOver, submitNew, undisturbed } from './support/faults.ts';
import { type Deployment, openDeployment } from './support/deployment.ts';

const OUTAGE_SECONDS = LONG ? 20 : 5;

const holdersIn = async ({ db }: Deployment) =>
  (await db.selectFrom('background_work').select('leased_by').execute()).map(({ leased_by }) => leased_by ?? '');

const isHeldBy =
  ({ pid }: ChildProcess) =>
  (holder: string) =>
    holder.includes(`:${pid}#`);

const LOCKED = '55P03';

/** Freezes a server between two transactions, as if it had not been heard of for longer than its leases last. */
async function freeze({ db }: Deployment, server: ChildProcess): Promise<void> {
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

/** A deployment with two servers at work on four jobs; the victim has most of them. */
async function shareJobs(deployment: Deployment) {
  const flow = await everyTask(deployment.lab);
  const expected = await undisturbed(deployment, flow);
  const other = await deployment.startAnother();
  const { owner, base } = deployment.lab;
  const otherClient = clientOf(other.url, await deployment.tokenOf(other.url, owner.email));
  const datasets = [];
  for (let number = 0; number < 4; number++) datasets.push(await deployment.lab.dataset());
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
  const servers = [deployment.server().process, other.running.process] as const;
  await expect
    .poll(async () =>
      (await holdersIn(deployment)).filter((holder) => servers.some((server) => isHeldBy(server)(holder))),
    )
    .toHaveLength(4);
  await sleep(500);
  const holders = await holdersIn(deployment);
  const [one, two] = servers.map((server) => holders.filter(isHeldBy(server)).length);
  const [victim, heir] = one! > two! ? servers : ([servers[1], servers[0]] as const);
  expect(Math.max(one!, two!)).toBeGreaterThan(0);

  return {
    victim,
    heir,
    allOver: (timeout: number) =>
      expect
        .poll(async () => Promise.all(ids.map((id) => isOver(deployment, id))), { timeout })
        .toEqual([true, true, true, true]),
    async expectResults() {
      await expectNothingLeft(deployment);
      for (const id of ids) expect(await storyOf(deployment, id)).toEqual(expected.story);
      const accounting = Array.from({ length: 5 }, () => expected.accounting.map(String)).flat();
      expect((await deployment.lab.accounting()).map(String).sort()).toEqual(accounting.sort());
    },
  };
}

describe('two servers share the jobs', () => {
  it('and when one is killed, the other goes on within seconds', async () => {
    const deployment = await openDeployment({ database: 'given' });
    onTestFailed(() => console.error(deployment.output()));
    try {
      const { victim, heir, allOver, expectResults } = await shareJobs(deployment);
      victim.kill('SIGKILL');
      // before its lease runs out, which takes twenty seconds at least
      const inherited = async () => (await holdersIn(deployment)).every(isHeldBy(heir));
      await expect.poll(inherited, { timeout: 15_000 }).toBe(true);
      await allOver(60_000);
      if (victim === deployment.server().process) await deployment.start();
      await expectResults();
    } finally {
      await deployment.close();
    }
  }, 120_000);

  const wakes: [when: string, wait: (allOver: (timeout: number) => Promise<void>) => Promise<void>][] = [
    ['while the other one works', async () => undefined],
    ['when all is over', (allOver) => allOver(60_000)],
  ];
  it.runIf(LONG).each(wakes)(
    'and one that was frozen for longer than its leases changes nothing when it wakes %s',
    async (_, wait) => {
      const deployment = await openDeployment({ database: 'given' });
      onTestFailed(() => console.error(deployment.output()));
      try {
        const { victim, heir, allOver, expectResults } = await shareJobs(deployment);
        await freeze(deployment, victim);
        await expect
          .poll(async () => (await holdersIn(deployment)).every(isHeldBy(heir)), { timeout: 15_000 })
          .toBe(true);
        await wait(allOver);
        victim.kill('SIGCONT');
        await allOver(60_000);
        // by now it has tried to store what it knew
        await sleep(3000);
        await expectResults();
        expect([victim.exitCode, victim.signalCode]).toEqual([null, null]);
      } finally {
        await deployment.close();
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
      const outcome = await retryWhileAway(
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
    const deployment = await openDeployment({ database: 'embedded' });
    onTestFailed(() => console.error(deployment.output()));
    try {
      const flow = await everyTask(deployment.lab);
      const expected = await undisturbed(deployment, flow);
      const id = await submitNew(deployment, flow);
      await sleep(700);
      expect(await isOver(deployment, id)).toBe(false);
      const bringBack = await crashDatabase(deployment.data);
      await sleep(OUTAGE_SECONDS * 1000);
      bringBack();
      await until('the database', () =>
        isOver(deployment, id).then(
          () => true,
          () => false,
        ),
      );
      expect(deployment.server().process.exitCode).toBe(null);
      await deployment.lab.end(id, 60);
      await expectNothingLeft(deployment);
      expect(await storyOf(deployment, id)).toEqual(expected.story);
      expect(await deployment.lab.accounting()).toEqual([...expected.accounting, ...expected.accounting]);
    } finally {
      await deployment.close();
    }
  }, 120_000);
});
