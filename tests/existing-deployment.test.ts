/**
 * The database of an existing deployment is never written to. Its settings file is read as a fallback, so that a command
 * that is run in its folder would land there.
 */
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';

import { openEmbeddedDatabase } from '../packages/server/src/db/index.ts';
import { oneIn } from '../packages/server/test/support/long.ts';
import { remove, servicectl, startService, temporaryFolder } from './support/processes.ts';

const connection = inject('connection');
const name = `existing_${randomBytes(6).toString('hex')}`;
const folder = temporaryFolder('existing');
let administration: pg.Client;

async function query<T extends object>(sql: string): Promise<T[]> {
  const client = new pg.Client({ ...connection, database: name });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Everything that could have been made in it, system catalogues aside. */
const content = () =>
  query<{ what: string }>(`
    select format('%s %s.%s', c.relkind, c.relnamespace::regnamespace, c.relname) as what from pg_class c where c.relnamespace in
      (select oid from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema')
    union all select 'function ' || proname from pg_proc where pronamespace = 'public'::regnamespace
    order by what`);

beforeAll(async () => {
  administration = new pg.Client(connection);
  await administration.connect();
  await administration.query(`create database ${name}`);
  await query("create table alembic_version (version_num text); insert into alembic_version values ('3ddaf7271fc3')");
});
afterAll(async () => {
  await administration.query(`drop database ${name} with (force)`);
  await administration.end();
  remove(folder);
});

const settings = () => ({
  POSTGRES_DB: name,
  POSTGRES_HOST: connection.host,
  POSTGRES_PORT: String(connection.port),
  POSTGRES_USER: connection.user!,
  POSTGRES_PASSWORD: connection.password!,
  JWT_SECRET_KEY: 'key',
  SERVICE_LOGGING_LEVEL: '40',
  SERVICE_DEFAULT_GROUP_NAME: 'All',
});

const PAIRS = 'pairs.json';
const COMMANDS = [
  ['set-db'],
  ['init-db-data', '--resource', 'default', '--profile', 'default'],
  ['start', '--port', '0'],
  ['recent'],
  ['submissions-disable'],
  ['submissions-enable'],
  ['sync-core-tasks', '--resources-and-groups', PAIRS],
];

/** One line, which says what is wrong and what to do. */
function expectRefusal({ code, err }: { code: number | null; err: string }): void {
  expect(code).toBe(1);
  expect(err.trimEnd().split('\n')).toHaveLength(1);
  expect(err).toContain(`${name} on ${connection.host}:${connection.port}`);
  expect(err).toContain('existing deployment');
  expect(err).toContain('POSTGRES_DB');
  expect(err).toContain('.service_server.env');
}

describe('a database of an existing deployment', () => {
  it.each(oneIn(2, COMMANDS).map((args) => [args] as const))(
    'is refused by servicectl %j, and nothing is made in it',
    async (args) => {
      writeFileSync(join(folder, PAIRS), '[]');
      const before = await content();
      expectRefusal(servicectl(args, { folder, environment: settings() }));
      expect(await content()).toEqual(before);
    },
  );

  it('is refused when only its own settings file names it', async () => {
    const file = join(folder, '.fractal_server.env');
    writeFileSync(
      file,
      Object.entries(settings())
        .map(([variable, value]) => `${variable}=${value}\n`)
        .join(''),
    );
    const before = await content();
    expectRefusal(servicectl(['set-db'], { folder }));
    rmSync(file);
    expect(await content()).toEqual(before);
  });

  it('is refused by npm start, and nothing is made in it', async () => {
    const before = await content();
    const environment = { ...settings(), SERVICE_DATA_DIR: join(folder, 'data') };
    const service = startService(['--port', '0'], { environment });
    onTestFinished(() => void service.process.kill('SIGKILL'));
    expectRefusal({ code: (await service.ended) as number, err: service.output() });
    expect(await content()).toEqual(before);
  });

  it('is refused wherever on the search path its table is', async () => {
    await query(`
      create schema old; alter table alembic_version set schema old;
      alter role ${connection.user} in database ${name} set search_path = public, old`);
    const before = await content();
    expectRefusal(servicectl(['set-db'], { folder, environment: settings() }));
    expect(await content()).toEqual(before);
  });
});

it('refuses an embedded database that somebody filled with one, and names another data folder as the remedy', async () => {
  const data = join(folder, 'embedded');
  const embedded = await openEmbeddedDatabase(data);
  const client = new pg.Client(embedded.connection);
  await client.connect();
  await client.query('create table alembic_version (version_num text)');
  await client.end();
  await embedded.leave();
  const { code, err } = servicectl(['set-db'], { folder, environment: { SERVICE_DATA_DIR: data } });
  expect([code, err.trimEnd().split('\n').length]).toEqual([1, 1]);
  expect(err).toContain(data);
  expect(err).toContain('SERVICE_DATA_DIR');
});
