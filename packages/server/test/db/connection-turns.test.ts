/** Connections are for everybody, whatever one person asks for. */
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';

import { databaseFailure, forPerson } from '../../src/db/index.ts';
import { createConnectionTurns } from '../../src/db/connection-turns.ts';
import { freshDatabase } from '../support/server.ts';
import { until } from '../support/until.ts';

const [ANNA, BEN, CARL] = [1, 2, 3];
const CONNECTIONS = 10;

describe('of ten connections', () => {
  const ends: (() => void)[] = [];
  afterEach(() => ends.splice(0).forEach((end) => end()));

  /** Takes turns for a person; tells who has one. */
  function turnsFor(turns: ReturnType<typeof createConnectionTurns>, person: number | undefined, count: number) {
    const got: (() => void)[] = [];
    const take = async () => {
      const end = await turns.take();
      got.push(end);
      ends.push(end);
    };
    for (let one = 0; one < count; one++) void (person === undefined ? take() : forPerson(person, take));
    return got;
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('one person has at most six, and the next comes when one of them ends', async () => {
    const turns = createConnectionTurns(CONNECTIONS, 60_000);
    const anna = turnsFor(turns, ANNA, 100);
    await settled();
    expect(anna).toHaveLength(6);
    ends.splice(ends.indexOf(anna[0]!), 1);
    anna[0]!();
    await settled();
    expect(anna).toHaveLength(7);
  });

  it('the service is next, then who has fewest', async () => {
    const turns = createConnectionTurns(CONNECTIONS, 60_000);
    const anna = turnsFor(turns, ANNA, 100);
    const ben = turnsFor(turns, BEN, 100);
    const service = turnsFor(turns, undefined, 1);
    await settled();
    expect([anna.length, ben.length, service.length]).toEqual([6, 4, 0]);
    const afterEnd = async (of: (() => void)[], at: number) => {
      const [end] = ends.splice(ends.indexOf(of[at]!), 1);
      end!();
      await settled();
      return [anna.length, ben.length, service.length];
    };
    expect(await afterEnd(ben, 0)).toEqual([6, 4, 1]);
    // Anna has five, Ben three
    expect(await afterEnd(anna, 0)).toEqual([6, 5, 1]);
    // Anna has four, Ben as well, who had a turn last
    expect(await afterEnd(anna, 1)).toEqual([7, 5, 1]);
  });

  it('the service is next also before who has none', async () => {
    const turns = createConnectionTurns(CONNECTIONS, 60_000);
    const anna = turnsFor(turns, ANNA, 6);
    const ben = turnsFor(turns, BEN, 4);
    const carl = turnsFor(turns, CARL, 1);
    const service = turnsFor(turns, undefined, 1);
    await settled();
    expect([anna.length, ben.length, carl.length, service.length]).toEqual([6, 4, 0, 0]);
    ends.splice(ends.indexOf(anna[0]!), 1)[0]!();
    await settled();
    expect([carl.length, service.length]).toEqual([0, 1]);
    ends.splice(ends.indexOf(ben[0]!), 1)[0]!();
    await settled();
    expect(carl).toHaveLength(1);
  });

  it('who waits for too long is told that the database is busy, and takes no turn later', async () => {
    const turns = createConnectionTurns(1, 50);
    const end = await turns.take();
    const late = await turns.take().catch((error: unknown) => error);
    expect(databaseFailure(late)).toBe('away');
    end();
    (await turns.take())();
  });
});

it('while all that a person asks for waits for a lock, others and the service are answered', async () => {
  const { db, pool } = await freshDatabase(CONNECTIONS);
  const holder = await pool.connect();
  await holder.query('select pg_advisory_lock(1)');
  const waiting = Array.from({ length: 30 }, () =>
    forPerson(ANNA, () => sql`select pg_advisory_xact_lock(1)`.execute(db)),
  );
  // of this database: other tests wait for locks of the same number in theirs
  const blocked = async () => {
    const { rows } = await holder.query<{ count: number }>(
      `select count(*)::int as count from pg_locks join pg_database on pg_database.oid = pg_locks.database
       where datname = current_database() and locktype = 'advisory' and not granted`,
    );
    return rows[0]!.count;
  };
  await until('six of them to wait', async () => (await blocked()) === 6);
  const one = sql<{ one: number }>`select 1 as one`;
  for (let round = 0; round < 20; round++) {
    expect((await forPerson(BEN, () => one.execute(db))).rows).toEqual([{ one: 1 }]);
    expect((await one.execute(db)).rows).toEqual([{ one: 1 }]);
  }
  expect(await blocked()).toBe(6);
  await holder.query('select pg_advisory_unlock(1)');
  holder.release();
  await Promise.all(waiting);
});
