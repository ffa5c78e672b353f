import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';

import { type Database, isPassing, openDatabase, type OpenDatabase } from '../../src/db/index.ts';
import { dependsOnValues, ONE_PLAN } from '../../src/db/named-statements.ts';
import { freshDatabase } from '../support/server.ts';

const opened: OpenDatabase[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

/** One connection, so that what it keeps can be looked at. */
async function open({ named = true } = {}): Promise<OpenDatabase> {
  const { pool } = await freshDatabase(1);
  const { host, port, user, password, database } = pool.options;
  const connection = { host: host!, port: port!, user, password: password as string, database: database! };
  const one = openDatabase(connection, { connections: 1, named });
  opened.push(one);
  await one.pool.query('create table things (id integer primary key, name text)');
  await one.pool.query("insert into things select n, 'thing ' || n from generate_series(1, 100) n");
  return one;
}

const names = async ({ pool }: OpenDatabase) =>
  (
    await pool.query<{ statement: string; plans: number }>(
      'select statement, (generic_plans + custom_plans)::int as plans from pg_prepared_statements order by statement',
    )
  ).rows;

const thing = async (db: Database, id: number) =>
  (await sql<{ id: number; name: string }>`select * from things where id = ${id}`.execute(db)).rows[0];

async function repeated(times: number, work: (round: number) => Promise<unknown>): Promise<void> {
  for (let round = 1; round <= times; round++) await work(round);
}

describe('a statement that comes again', () => {
  it('has a name from its third use on, and is planned once for all values in the end', async () => {
    const one = await open();
    await repeated(2, (round) => thing(one.db, round));
    expect(await names(one)).toEqual([]);
    await repeated(20, async (round) =>
      expect(await thing(one.db, round)).toEqual({ id: round, name: `thing ${round}` }),
    );
    expect(await names(one)).toEqual([{ statement: 'select * from things where id = $1', plans: 20 }]);
    const { rows } = await one.pool.query<{ generic: number }>(
      'select generic_plans::int as generic from pg_prepared_statements',
    );
    expect(rows[0]!.generic).toBeGreaterThan(10);
  });

  it('has none where a pooler may give it to another connection, whoever names it', async () => {
    const one = await open({ named: false });
    await repeated(5, (round) => thing(one.db, round));
    const named = { name: 'mine', text: 'select name from things where id = $1' };
    await repeated(5, (id) => one.pool.query({ ...named, values: [id] }));
    expect(await names(one)).toEqual([]);
  });

  it('is asked again when its connection is lost', async () => {
    const one = await open();
    await repeated(5, (round) => thing(one.db, round));
    await one.pool.query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined);
    await repeated(5, async (round) => expect((await thing(one.db, round))!.id).toBe(round));
    expect(await names(one)).toHaveLength(1);
  });
});

describe('a table that is changed while connections keep plans for it', () => {
  it('fails no request', async () => {
    const one = await open();
    await repeated(8, (round) => thing(one.db, round));
    await one.pool.query("alter table things add column colour text not null default 'red'");
    expect(await thing(one.db, 1)).toEqual({ id: 1, name: 'thing 1', colour: 'red' });
    await repeated(5, async (round) => expect(await thing(one.db, round)).toHaveProperty('colour', 'red'));
    expect(await names(one)).toHaveLength(1);
  });

  it('undoes a transaction, which goes well when it is tried again', async () => {
    const one = await open();
    await repeated(8, (round) => thing(one.db, round));
    await one.pool.query('alter table things add column size integer');
    const work = () =>
      one.db.transaction().execute(async (trx) => {
        await sql`insert into things (id, name) values (${1000}, ${'new'})`.execute(trx);
        return sql<{ id: number }>`select * from things where id = ${1000}`.execute(trx);
      });
    const failure = await work().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(isPassing(failure)).toBe(true);
    expect((await work()).rows).toEqual([{ id: 1000, name: 'new', size: null }]);
  });
});

describe('the memory of the database', () => {
  it('is not filled by texts that differ', async () => {
    const one = await open();
    for (let column = 0; column < 700; column++) {
      const text = sql<{ id: number }>`select id, ${sql.lit(column)} as column from things where id = ${7}`;
      await repeated(3, async () => expect((await text.execute(one.db)).rows[0]!.id).toBe(7));
    }
    expect((await names(one)).length).toBeLessThanOrEqual(300);
    await repeated(5, async (round) => expect((await thing(one.db, round))!.id).toBe(round));
    expect((await names(one)).map((row) => row.statement)).toContain('select * from things where id = $1');
  });
});

describe('a plan that depends on values', () => {
  it.each([
    'select * from images where images.tags && array(select image_attribute_tag($1, $2, value))',
    'select * from images where images.tags @> array[image_type_tag($1, $2, true)]',
    'select * from "images" where "dataset_id" = $1 order by "position" limit $2 offset $3',
    'select * from projects where name ilike $1',
    'select * from images where zarr_url = any($1)',
    'select unnest($1::text[])',
    'select * from images where zarr_url = any($12::text[])',
    'select * from jobs where id in ($1, $2)',
    `select ${'1 + '.repeat(4000)} $1`,
  ])('is made for them: %s', (text) => expect(dependsOnValues(text)).toBe(true));

  it.each([
    'select * from "users" where "id" = $1',
    'insert into images (dataset_id) values ($1)',
    'select * from jobs where id in ($1)',
    'select * from tasks where id = any($1::int[])',
    `${ONE_PLAN} select * from images where images.tags && array(select image_attribute_tag($1, $2, value))`,
  ])('is not: %s', (text) => expect(dependsOnValues(text)).toBe(false));
});
