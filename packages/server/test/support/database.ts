/**
 * The database of a test run: the embedded one, or a server from the system's packages. It is started once, with the
 * tables made once in a database that every test file copies.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';
import type { TestProject } from 'vitest/node';

import { freePort } from '../../src/db/free-port.ts';
import { type Connection, migrate, openDatabase, openEmbeddedDatabase } from '../../src/db/index.ts';

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

function systemPostgres(): string {
  const base = '/usr/lib/postgresql';
  const versions = readdirSync(base).sort((one, other) => Number(one) - Number(other));
  return join(base, versions.at(-1)!, 'bin');
}

/** PostgreSQL does not run as root; then the account of the system's package runs it. */
function systemAccount(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('postgres:'));
  const [, , uid, gid] = line!.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

async function startGiven(): Promise<Started> {
  const bin = systemPostgres();
  const folder = mkdtempSync('/tmp/service-test-pg-');
  const account = systemAccount();
  const options = { ...account, cwd: '/', stdio: 'ignore' as const };
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, 'secret');
  if (account) for (const path of [folder, passwordFile]) chownSync(path, account.uid, account.gid);
  const data = join(folder, 'data');
  const initdb = [
    '-D',
    data,
    '-U',
    'tester',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
  ];
  execFileSync(join(bin, 'initdb'), initdb, options);
  const port = await freePort();
  const flags = [
    '-p',
    String(port),
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `unix_socket_directories=${folder}`,
    '-c',
    'fsync=off',
  ];
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...flags], options);
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const connection = { host: '127.0.0.1', port, user: 'tester', password: 'secret', database: 'postgres' };
  await reachable(connection);
  return {
    connection,
    stop: async () => {
      server.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function reachable(connection: Connection): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const client = new pg.Client(connection);
    try {
      await client.connect();
      return await client.end();
    } catch {
      await sleep(100);
    }
  }
  throw new Error('The test database does not answer');
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const kind = project.getProvidedContext().kindOfDatabase;
  const started = kind === 'embedded' ? await startEmbedded() : await startGiven();
  const client = new pg.Client(started.connection);
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  const template = openDatabase({ ...started.connection, database: TEMPLATE }, { connections: 1 });
  await migrate(template.db);
  await template.close();
  project.provide('connection', started.connection);
  return () => started.stop();
}
