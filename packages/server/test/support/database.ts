/**
 * The database of a test run: the embedded one, or a server from the system's packages. It is started once, with the
 * tables made once in a database that every test file copies.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';
import type { TestProject } from 'vitest/node';

import { type Connection, migrate, openDatabase, openEmbeddedDatabase } from '../../src/db/index.ts';
import { startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    kindOfDatabase: 'embedded' | 'given';
    connection: Connection;
  }
}

export const TEMPLATE = 'test_template';

interface Started {
  connection: Connection;
  stop(): Promise<void>;
}

async function startEmbedded(): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), 'service-test-'));
  const database = await openEmbeddedDatabase(folder);
  return {
    connection: database.connection,
    stop: async () => {
      await database.leave();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const kind = project.getProvidedContext().kindOfDatabase;
  const started = kind === 'embedded' ? await startEmbedded() : await startPostgres();
  const client = new pg.Client(started.connection);
  await client.connect();
  // files of one run, which no loss of power has to leave whole: waiting for the disk is a fifth of these tests
  for (const safety of ['fsync', 'full_page_writes']) await client.query(`alter system set ${safety} = off`);
  await client.query('select pg_reload_conf()');
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  const template = openDatabase({ ...started.connection, database: TEMPLATE }, { connections: 1 });
  await migrate(template.db);
  await template.close();
  project.provide('connection', started.connection);
  return () => started.stop();
}
