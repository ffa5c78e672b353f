import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { builtOnce, timeText } from '../../src/db/index.ts';
import { freshDatabase } from '../support/server.ts';

let database: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  database = await freshDatabase();
  await database.pool.query(`insert into user_groups (name) select 'group ' || n from generate_series(1, 3) n`);
});
afterAll(() => database.drop());

interface Asked {
  name?: string | undefined;
  most?: number | undefined;
}

/** Counts how often it is put together. */
function groups() {
  const built: Asked[] = [];
  const find = builtOnce((db, asked: Asked) => {
    built.push(asked);
    let query = db.selectFrom('user_groups').select('name').where('name', 'like', 'group %').orderBy('name');
    if (asked.name !== undefined) query = query.where('name', '=', asked.name);
    return asked.most === undefined ? query : query.limit(asked.most);
  });
  const names = async (asked: Asked) => (await find(database.db, asked)).map(({ name }) => name);
  return { names, built };
}

describe('a statement that is built once', () => {
  it('is run with the values of each time', async () => {
    const { names, built } = groups();
    expect(await names({ name: 'group 1' })).toEqual(['group 1']);
    expect(await names({ name: 'group 2' })).toEqual(['group 2']);
    expect(await names({ name: 'group 4' })).toEqual([]);
    expect(built).toHaveLength(1);
  });

  it('is another one where other values are given', async () => {
    const { names, built } = groups();
    expect(await names({})).toHaveLength(3);
    expect(await names({ name: undefined, most: 2 })).toEqual(['group 1', 'group 2']);
    expect(await names({ most: 1 })).toEqual(['group 1']);
    expect(await names({ name: 'group 3', most: 1 })).toEqual(['group 3']);
    expect(built).toHaveLength(3);
  });

  it('takes part in a transaction', async () => {
    const { names } = groups();
    await names({});
    const find = builtOnce((db, { id }: { id: number }) => db.deleteFrom('user_groups').where('id', '>', id));
    const undone = database.db.transaction().execute(async (trx) => {
      await find(trx, { id: 0 });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await names({})).toHaveLength(3);
  });

  it('cannot depend on what a value is', async () => {
    const find = builtOnce((db, { id }: { id: number }) =>
      db
        .selectFrom('user_groups')
        .select('name')
        .where('id', '=', id > 1 ? id : 1),
    );
    await expect(find(database.db, { id: 2 })).rejects.toThrow('depends on the value of id');
  });
});

describe('a time in a JSON text', () => {
  it.each(['2026-01-31 12:00:00', '2026-01-31 12:00:00.5', '2026-01-31 12:00:00.000001', '0999-12-31 23:59:59.999999'])(
    'is written as it is in a row: %s',
    async (time) => {
      const { rows } = await sql<{ row: string; text: string }>`
        select time as row, ${timeText(sql<string>`time`)} as text from (select ${time}::timestamptz as time) as one`.execute(
        database.db,
      );
      expect(rows[0]!.text).toBe(rows[0]!.row);
    },
  );

  it('is null where there is none', async () => {
    const { rows } = await sql<{
      text: string | null;
    }>`select ${timeText(sql<string | null>`null::timestamptz`)} as text`.execute(database.db);
    expect(rows).toEqual([{ text: null }]);
  });
});
