/**
 * What tests of `servicectl import-db` begin with: a database of an existing deployment, an empty one for the service, and
 * the command between them, run as people run it.
 *
 *     const scene = importScene();
 *     it('…', async () => expect(await scene.run(['--dry-run'])).toMatchObject({ code: 0 }));
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import pg from 'pg';
import { afterAll, afterEach, beforeEach, inject } from 'vitest';

import type { Connection } from '../../packages/server/src/db/index.ts';
import { type Existing, openExisting, PASSWORD } from '../../packages/server/test/support/existing-database.ts';
import { type Client, clientOf } from '../../packages/server/test/support/server.ts';
import { program, remove, ROOT, type Running, servicectl, startCommand, temporaryFolder } from './processes.ts';

export async function administer<T extends object>(
  connection: Connection,
  sql: string,
  database = 'postgres',
): Promise<T[]> {
  const client = new pg.Client({ ...connection, database });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

export const urlOf = ({ host, port, user }: Connection, database: string, role = user!) =>
  `postgresql://${role}@${host}:${port}/${database}`;

/** How many rows our own tables have; none where there are no tables yet. */
export async function rowsIn(connection: Connection, database: string): Promise<number> {
  const tables = await administer<{ name: string }>(
    connection,
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
       and relname not like 'schema_migrations%'`,
    database,
  );
  if (tables.length === 0) return 0;
  const sums = tables.map(({ name }) => `(select count(*) from "${name}")`);
  const [row] = await administer<{ num: string }>(connection, `select ${sums.join(' + ')} as num`, database);
  return Number(row!.num);
}

/** The whole database as text; without the random words that newer releases of pg_dump add. */
export const dumpOf = ({ host, port, user, password }: Connection, database: string): string =>
  execFileSync('pg_dump', ['-h', host, '-p', String(port), '-U', user!, database], {
    env: { ...process.env, PGPASSWORD: password! },
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  }).replace(/^\\(un)?restrict .*$/gm, '');

/** The settings of a service whose database is this one, and the password for a source on the same server. */
export const settingsFor = ({ host, port, user, password }: Connection, database: string): Record<string, string> => ({
  POSTGRES_DB: database,
  POSTGRES_HOST: host,
  POSTGRES_PORT: String(port),
  POSTGRES_USER: user!,
  POSTGRES_PASSWORD: password!,
  JWT_SECRET_KEY: 'key of the old settings',
  PGPASSWORD: password!,
});

/** Rows enough that something can happen while they are copied. */
export const addUnits = (from: Existing, rows: number) =>
  from.query(`insert into historyunit (history_run_id, has_warnings, status, zarr_urls)
    select 1, false, 'done', array[repeat('x', 200)] from generate_series(1, ${rows})`);

/** The command without anything around it, so that signals reach it. */
export const startImport = (
  url: string,
  folder: string,
  environment: Record<string, string>,
  args: string[] = [],
): Running =>
  startCommand(
    join(ROOT, 'node_modules/.bin/node'),
    [join(ROOT, program('servicectl')), 'import-db', '--from', url, ...args],
    { folder, environment },
  );

/** Waits until rows are on their way, and gives the process of the database that sends or gets them. */
export async function copying(connection: Connection, database: string): Promise<number> {
  for (;;) {
    const [found] = await administer<{ pid: number }>(
      connection,
      `select pid from pg_stat_activity where datname = '${database}' and state = 'active'
         and query ilike 'copy%history%unit%' and pid <> pg_backend_pid()`,
    );
    if (found) return found.pid;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Somebody who signs in with the password of the old service. */
export async function signIn(url: string, username: string): Promise<Client> {
  const { body } = await clientOf(url).raw('/auth/token/login/', {
    method: 'POST',
    body: new URLSearchParams({ username, password: PASSWORD }),
  });
  return clientOf(url, (body as { access_token: string }).access_token);
}

export interface ImportScene {
  connection: Connection;
  folder: string;
  /** New for each test. */
  readonly from: Existing;
  readonly target: string;
  readonly environment: Record<string, string>;
  url(role?: string): string;
  run(args: string[], more?: Record<string, string>, url?: string): Promise<ReturnType<typeof servicectl>>;
  administer<T extends object>(sql: string, database?: string): Promise<T[]>;
  rowsInTarget(): Promise<number>;
}

export function importScene(): ImportScene {
  const connection = inject('connection');
  const folder = temporaryFolder('import-db');
  let from: Existing;
  let target: string;

  beforeEach(async () => {
    from = await openExisting(connection);
    target = `target_${randomBytes(6).toString('hex')}`;
    await administer(connection, `create database ${target}`);
  });
  afterEach(async () => {
    await from.drop();
    await administer(connection, `drop database ${target} with (force)`);
  });
  afterAll(() => remove(folder));

  const scene: ImportScene = {
    connection,
    folder,
    get from() {
      return from;
    },
    get target() {
      return target;
    },
    get environment() {
      return settingsFor(connection, target);
    },
    url: (role) => urlOf(connection, from.name, role),
    async run(args, more = {}, url = scene.url()) {
      await from.leave();
      return servicectl(['import-db', '--from', url, ...args], {
        ...{ folder, environment: { ...scene.environment, ...more } },
      });
    },
    administer: (sql, database) => administer(connection, sql, database),
    rowsInTarget: () => rowsIn(connection, target),
  };
  return scene;
}
