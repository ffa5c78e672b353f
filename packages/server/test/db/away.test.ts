/** What an error of the database means, and what those who asked are told. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';

import { sql } from 'kysely';
import { expect, it } from 'vitest';

import { databaseFailure, type DatabaseFailure, isPassing, openDatabase } from '../../src/db/index.ts';
import { createApp } from '../../src/http/app.ts';
import { freshDatabase } from '../support/server.ts';

const failureOf = async (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => [databaseFailure(error), isPassing(error)],
  );

it('a database that is not there is away, by its port, its name or its socket', async () => {
  const to = async (host: string, port: number) => {
    const open = openDatabase({ host, port, user: 'x', database: 'x', password: 'x' }, { connections: 1 });
    const failure = await failureOf(open.pool.query('select 1'));
    await open.close();
    return failure;
  };
  expect(await to('127.0.0.1', 1)).toEqual(['away', true]);
  expect(await to('/nowhere', 5432)).toEqual(['away', true]);
  expect(await to('database.invalid', 5432)).toEqual(['away', true]);
});

it('one that lets go of the connection is away', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.end())).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const open = openDatabase({ host: '127.0.0.1', port, user: 'x', database: 'x', password: 'x' }, { connections: 1 });
  expect(await failureOf(open.pool.query('select 1'))).toEqual(['away', true]);
  await open.close();
  server.close();
});

it('a file that is not there says nothing about the database', async () => {
  expect(await failureOf(readFile('/nowhere/at/all'))).toEqual([undefined, false]);
});

it('a statement that takes too long, and one that its server ends', async () => {
  const { db, pool, drop } = await freshDatabase();
  const slow = db.transaction().execute(async (trx) => {
    await sql`set local statement_timeout = 50`.execute(trx);
    await sql`select pg_sleep(60)`.execute(trx);
  });
  expect(await failureOf(slow)).toEqual(['too-slow', false]);
  const ended = db.connection().execute(async (connection) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(connection);
    const end = pool.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
    await Promise.all([sql`select pg_sleep(60)`.execute(connection), end]);
  });
  expect(await failureOf(ended)).toEqual(['away', true]);
  await drop();
});

it('two who wait for each other: one of them is told that it is a conflict', async () => {
  const { db, drop } = await freshDatabase();
  const { promise: bothHold, resolve: hold } = Promise.withResolvers<void>();
  let holding = 0;
  const lock = (first: number, second: number) =>
    db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(${first})`.execute(trx);
      if (++holding === 2) hold();
      await bothHold;
      await sql`select pg_advisory_xact_lock(${second})`.execute(trx);
    });
  const outcomes = await Promise.all([failureOf(lock(1, 2)), failureOf(lock(2, 1))]);
  expect(outcomes.toSorted()).toEqual([['conflict', true], 'none']);
  await drop();
});

const silent = { enabled: () => false, debug: () => undefined, info: () => undefined, warning: () => undefined };

it.each<[DatabaseFailure, number, RegExp]>([
  ['away', 503, /does not answer\. Try again/],
  ['conflict', 503, /at the same moment, so nothing was changed/],
  ['stale-plan', 503, /is being updated/],
  ['too-slow', 503, /took too long.*Ask for less/],
  ['too-long', 422, /too long\. Write it shorter/],
])('who asked is told of %s, and when to ask again', async (failure, status, words) => {
  const logged: unknown[] = [];
  const app = createApp({
    logging: { logger: () => ({ ...silent, error: (message: string) => void logged.push(message) }) },
    longRequestSeconds: 30,
    longestRequestSeconds: 0,
    longestUploadSeconds: 0,
    trustedProxies: null,
    overTls: false,
    failureOf: () => failure,
  });
  app.get('/', () => Promise.reject(new Error('internals')));
  const answer = await app.inject('/');
  expect(answer.statusCode).toBe(status);
  expect(answer.json()).toEqual({ detail: expect.stringMatching(words) as string });
  expect(Number(answer.headers['retry-after'] ?? 0) > 0).toBe(status === 503);
  expect(logged).toHaveLength(status === 503 ? 1 : 0);
  await app.close();
});
