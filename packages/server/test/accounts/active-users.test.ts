import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createActiveUsers } from '../../src/accounts/active-users.ts';
import type { OpenDatabase } from '../../src/db/index.ts';
import { freshDatabase } from '../support/server.ts';

let database: OpenDatabase & { drop(): Promise<void> };

beforeAll(async () => {
  database = await freshDatabase(5);
  await database.pool.query(
    `insert into users (id, email, hashed_password, is_active, project_dirs)
     select n, n || '@example.org', '', n <> 3, '{/p}' from generate_series(1, 5) n`,
  );
});
afterAll(() => database.drop());

/** The database's own pool, whose questions are counted, and can be held up on their way. */
function watched(before: (question: number) => Promise<unknown> = () => Promise.resolve()) {
  let questions = 0;
  const query = async (statement: pg.QueryConfig) => {
    await before(++questions);
    return database.pool.query(statement);
  };
  return { pool: { query: query as pg.Pool['query'] }, questions: () => questions };
}

const emailOf = async (find: ReturnType<typeof createActiveUsers>, id: number) => (await find(id))?.user.email;

describe('accounts of requests', () => {
  it('that come at the same time are asked for with one question, each for itself', async () => {
    const { pool, questions } = watched();
    const find = createActiveUsers(pool);
    const emails = await Promise.all([1, 2, 3, 4, 1, 99, 2 ** 40].map((id) => emailOf(find, id)));
    expect(emails).toEqual([
      '1@example.org',
      '2@example.org',
      undefined,
      '4@example.org',
      '1@example.org',
      undefined,
      undefined,
    ]);
    expect(questions()).toBe(1);
  });

  it('are never taken from a question that was asked before', async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const { pool, questions } = watched((question) => (question === 1 ? Promise.resolve() : held));
    const find = createActiveUsers(pool);
    expect(await emailOf(find, 5)).toBe('5@example.org');
    const second = emailOf(find, 5);
    while (questions() < 2) await sleep(1);
    await database.pool.query('update users set is_active = false where id = 5');
    const third = emailOf(find, 5);
    letGo();
    expect(await Promise.all([second, third])).toEqual([undefined, undefined]);
    expect(questions()).toBe(3);
  });

  it('are asked for beside a question that hangs', async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const { pool } = watched((question) => (question === 1 ? held : Promise.resolve()));
    const find = createActiveUsers(pool);
    const hanging = emailOf(find, 1);
    await sleep(5);
    expect(await emailOf(find, 2)).toBe('2@example.org');
    letGo();
    expect(await hanging).toBe('1@example.org');
  });

  it('fail with their question, and the next one is asked', async () => {
    const { pool } = watched((question) =>
      question === 1 ? Promise.reject(new Error('the database is away')) : Promise.resolve(),
    );
    const find = createActiveUsers(pool);
    const failed = await Promise.allSettled([find(1), find(2)]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await emailOf(find, 1)).toBe('1@example.org');
  });
});
