import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { Logger } from '../../src/logging/index.ts';
import {
  addWork,
  fenced,
  type Handler,
  LeaseLost,
  MOST_ATTEMPTS,
  type Queue,
  startQueue,
  type WorkContext,
} from '../../src/queue/index.ts';
import { freshDatabase } from '../support/server.ts';
import { until } from '../support/until.ts';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let queues: Queue[] = [];
let errors: string[] = [];
let dead: number;

const log: Logger = {
  enabled: () => true,
  debug: () => undefined,
  info: () => undefined,
  warning: () => undefined,
  error: (message) => void errors.push(message),
};

beforeAll(async () => {
  database = await freshDatabase();
  const ended = spawn('true');
  await once(ended, 'exit');
  dead = ended.pid!;
});
afterEach(async () => {
  await Promise.all(queues.map((queue) => queue.stop()));
  [queues, errors] = [[], []];
  await database.db.deleteFrom('background_work').execute();
});
afterAll(() => database.drop());

function start(handler: Handler, options: { slots?: number; retrySeconds?: number; kind?: string } = {}): Queue {
  const { slots = 2, retrySeconds, kind = 'test' } = options;
  const retry = retrySeconds === undefined ? {} : { retrySeconds };
  const queue = startQueue({ db: database.db, log, handlers: { [kind]: handler }, slots, ...retry });
  queues.push(queue);
  return queue;
}

/**
 * A queue of 'test', and before it one of 'other' that nobody wakes. Both look as often, so that without being woken the
 * later one would come to its work later, too.
 */
async function startAfterAnother(done: string[]): Promise<Queue> {
  start(async (id) => void done.push(`other ${id}`), { kind: 'other' });
  await sleep(100);
  const queue = start(async (id) => void done.push(`test ${id}`));
  await sleep(100);
  return queue;
}

const left = () => database.db.selectFrom('background_work').selectAll().orderBy('id').execute();

describe('adding work', () => {
  it('is undone with its transaction', async () => {
    const undone = database.db.transaction().execute(async (trx) => {
      await addWork(trx, 'test', 1);
      throw new Error('undo');
    });
    await expect(undone).rejects.toThrow('undo');
    expect(await left()).toEqual([]);
  });

  it('waits for the end of its transaction', async () => {
    const done: number[] = [];
    const queue = start(async (id) => void done.push(id));
    await database.db.transaction().execute(async (trx) => {
      await addWork(trx, 'test', 1);
      queue.wake();
      await sleep(100);
      expect(done).toEqual([]);
    });
    queue.wake();
    await until(() => done.length === 1);
  });

  it('a second time changes nothing', async () => {
    await addWork(database.db, 'test', 1);
    await addWork(database.db, 'test', 1);
    await addWork(database.db, 'other', 1);
    expect(await left()).toHaveLength(2);
  });

  it('of another kind is left to others', async () => {
    await addWork(database.db, 'other', 1);
    await addWork(database.db, 'test', 2);
    const done: number[] = [];
    start(async (id) => void done.push(id));
    await until(async () => (await left()).length === 1);
    expect([done, (await left())[0]!.kind]).toEqual([[2], 'other']);
  });
});

describe('doing work', () => {
  it('happens once for each, oldest first, with two queues on one database', async () => {
    for (let id = 1; id <= 60; id++) await addWork(database.db, 'test', id);
    const done: number[] = [];
    const handler: Handler = async (id) => {
      await sleep(5);
      done.push(id);
    };
    start(handler, { slots: 4 });
    start(handler, { slots: 4 });
    await until(async () => (await left()).length === 0);
    expect(done).toHaveLength(60);
    expect(new Set(done).size).toBe(60);
    expect(Math.max(...done.slice(0, 10))).toBeLessThan(30);
  });

  it('never takes more at a time than there are slots', async () => {
    for (let id = 1; id <= 10; id++) await addWork(database.db, 'test', id);
    let [now, most] = [0, 0];
    start(
      async () => {
        most = Math.max(most, ++now);
        // one at a time is taken: the first ones stay until all slots have something
        while (most < 3) await sleep(5);
        await sleep(10);
        now--;
      },
      { slots: 3 },
    );
    await until(async () => (await left()).length === 0);
    expect(most).toBe(3);
  });

  it('begins at once when woken, and on its own after a while', async () => {
    const done: string[] = [];
    const queue = await startAfterAnother(done);
    await addWork(database.db, 'other', 1);
    await addWork(database.db, 'test', 1);
    queue.wake();
    await until(() => done.length === 2);
    expect(done).toEqual(['test 1', 'other 1']);
  });

  it('that fails is tried again later, with its number, and given up in the end', async () => {
    await addWork(database.db, 'test', 7);
    const attempts: Pick<WorkContext, 'attempt' | 'last'>[] = [];
    const queue = start(
      async (_, { attempt, last }) => {
        attempts.push({ attempt, last });
        throw new Error('broken');
      },
      { retrySeconds: 0 },
    );
    await until(async () => {
      queue.wake();
      return (await left()).length === 0;
    });
    expect(MOST_ATTEMPTS).toBe(5);
    expect(attempts).toEqual([1, 2, 3, 4, 5].map((attempt) => ({ attempt, last: attempt === 5 })));
    expect(errors).toEqual([1, 2, 3, 4, 5].map((attempt) => `Background work test 7 failed, attempt ${attempt}`));
  });

  it('that fails waits before it is tried again, and holds up nobody', async () => {
    await addWork(database.db, 'test', 1);
    await addWork(database.db, 'test', 2);
    const begun: number[] = [];
    const queue = start(
      async (id) => {
        begun.push(id);
        if (id === 1) throw new Error('broken');
      },
      { slots: 1 },
    );
    await until(async () => begun.length === 2 && (await left()).length === 1);
    queue.wake();
    await sleep(200);
    expect(begun).toEqual([1, 2]);
    expect(await left()).toMatchObject([{ subject_id: 1, leased_by: null, attempts: 1 }]);
  });

  it('goes on to its end when the queue is stopped, which takes no more', async () => {
    await addWork(database.db, 'test', 1);
    await addWork(database.db, 'test', 2);
    let [begun, ended] = [0, 0];
    const queue = start(
      async () => {
        begun++;
        await sleep(200);
        ended++;
      },
      { slots: 1 },
    );
    await until(() => begun === 1);
    await queue.stop();
    await until(async () => (await left()).length === 1);
    await sleep(50);
    expect([begun, ended, (await left())[0]!.subject_id]).toEqual([1, 1, 2]);
  });
});

describe('a queue', () => {
  it('misses no call that comes while it looks', async () => {
    const done: string[] = [];
    const queue = await startAfterAnother(done);
    await addWork(database.db, 'other', 1);
    for (let id = 1; id <= 20; id++) {
      await addWork(database.db, 'test', id);
      queue.wake();
    }
    await until(() => done.length === 21);
    expect(done.at(-1)).toBe('other 1');
  });

  it.each([0, 1, 3, 10, 30])('stops, also %d ms after its start', async (ms) => {
    const done: number[] = [];
    const queue = start(async (id) => void done.push(id));
    await sleep(ms);
    await queue.stop();
    await addWork(database.db, 'test', 1);
    queue.wake();
    await sleep(50);
    expect([done, (await left()).length]).toEqual([[], 1]);
  });
});

describe('work that another process has taken', () => {
  const PROCESS = { pid: 12_345, started: '678' };
  const take = () => database.pool.query(`update background_work set leased_by = 'another:1#y'`);

  it('takes nothing more from the first one: neither what it writes, nor its process, nor its end', async () => {
    await addWork(database.db, 'test', 1);
    const refused: unknown[] = [];
    let ended = false;
    start(async (_, { lease, remember }) => {
      const write = () => fenced(database.db, lease, (trx) => addWork(trx, 'of test', 1));
      await write();
      await database.pool.query(`delete from background_work where kind = 'of test'`);
      await take();
      refused.push(
        await write().catch((error: unknown) => error),
        await remember(PROCESS).catch((error: unknown) => error),
      );
      ended = true;
    });
    await until(() => ended);
    expect(refused).toEqual([expect.any(LeaseLost), expect.any(LeaseLost)]);
    expect(await left()).toMatchObject([{ kind: 'test', leased_by: 'another:1#y', process: null }]);
  });

  it('is not taken while the first one writes', async () => {
    await addWork(database.db, 'test', 1);
    const order: string[] = [];
    let taken: Promise<unknown> | undefined;
    start(async (_, { lease }) => {
      await fenced(database.db, lease, async () => {
        taken = take().then(() => order.push('taken'));
        await sleep(100);
        order.push('written');
      });
      await taken;
    });
    await until(() => order.length === 2);
    expect(order).toEqual(['written', 'taken']);
  });
});

describe('work of a process that is no more', () => {
  const PROCESS = { pid: 12_345, started: '678' };

  /** Work that somebody took and holds for an hour. */
  const insertTaken = (subject_id: number, leased_by: string, seconds = 3600) =>
    database.pool.query(
      `insert into background_work (kind, subject_id, attempts, leased_by, leased_until, process)
       values ('test', $1, 1, $2, now() + make_interval(secs => $3), $4)`,
      [subject_id, leased_by, seconds, JSON.stringify(PROCESS)],
    );

  it('is taken over at once on the same machine, by one of two, with what the dead one left running', async () => {
    for (let id = 1; id <= 20; id++) await insertTaken(id, `${hostname()}:${dead}#x`);
    const taken: (Pick<WorkContext, 'attempt' | 'leftOver'> & { id: number })[] = [];
    const handler: Handler = async (id, { attempt, leftOver }) => {
      taken.push({ id, attempt, leftOver });
      await sleep(5);
    };
    // the leases would last an hour, so that nothing but the takeover can end this
    for (let count = 0; count < 2; count++) start(handler, { slots: 10 });
    await until(async () => (await left()).length === 0);
    taken.sort((one, other) => one.id - other.id);
    expect(taken).toEqual(Array.from({ length: 20 }, (_, index) => ({ id: index + 1, attempt: 2, leftOver: PROCESS })));
  });

  it('is not given back again when somebody has taken it meanwhile', async () => {
    const { holdersOfWork, releaseWork } = await import('../../src/queue/store.ts');
    await insertTaken(1, `${hostname()}:${dead}#x`);
    const seen = await holdersOfWork(database.db);
    await database.pool.query(`update background_work set leased_by = 'another:1#y'`);
    await releaseWork(database.db, seen);
    expect((await left())[0]).toMatchObject({ leased_by: 'another:1#y', leased_until: expect.anything() });
  });

  it('is left alone while its process lives, or on another machine until its time is over', async () => {
    await insertTaken(1, `${hostname()}:${process.ppid}#other`);
    await insertTaken(2, `elsewhere:${dead}#x`);
    await insertTaken(3, `elsewhere:${dead}#x`, -1);
    const taken: number[] = [];
    start(async (id) => void taken.push(id));
    await until(async () => (await left()).length === 2);
    await sleep(100);
    expect([taken, (await left()).map((work) => work.attempts)]).toEqual([[3], [1, 1]]);
  });

  it('tells the next attempt which process to end', async () => {
    await addWork(database.db, 'test', 1);
    const seen: unknown[] = [];
    const queue = start(
      async (_, { attempt, leftOver, remember }) => {
        seen.push(leftOver);
        if (attempt === 1) await remember(PROCESS);
        if (attempt === 2) await remember(null);
        if (attempt < 3) throw new Error('broken');
      },
      { retrySeconds: 0 },
    );
    await until(async () => {
      queue.wake();
      return (await left()).length === 0;
    });
    expect(seen).toEqual([null, PROCESS, null]);
  });
});
