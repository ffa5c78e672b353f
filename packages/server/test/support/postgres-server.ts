/**
 * A PostgreSQL server from the system's packages, in a folder of its own, for tests that need one or want to see it die.
 *
 *     const server = await startPostgres();
 *     await server.crash(); // kill -9 of all its processes
 *     await server.start(); // the same data at the same address
 *     await server.stop();
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { freePort } from '../../src/db/free-port.ts';
import type { Connection } from '../../src/db/index.ts';
import { processesIn } from '../../src/db/processes.ts';

export interface PostgresServer {
  connection: Connection;
  crash(): Promise<void>;
  start(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
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

async function reachable(connection: Connection): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const client = new pg.Client(connection);
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await client.end();
    } catch {
      await sleep(100);
    }
  }
  throw new Error('The test database does not answer');
}

export async function startPostgres(): Promise<PostgresServer> {
  const bin = systemPostgres();
  const folder = mkdtempSync('/tmp/service-test-pg-');
  const account = systemAccount();
  const options = { ...account, cwd: '/', stdio: 'ignore' as const };
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, 'secret');
  if (account) for (const path of [folder, passwordFile]) chownSync(path, account.uid, account.gid);
  const data = join(folder, 'data');
  const identity = ['-U', 'tester', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  execFileSync(join(bin, 'initdb'), ['-D', data, ...identity, '-E', 'UTF8', '--locale=C.UTF-8'], options);
  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: folder, fsync: 'off' };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const connection = { host: '127.0.0.1', port, user: 'tester', password: 'secret', database: 'postgres' };
  let server: ChildProcess;
  let ended: Promise<unknown>;
  const start = async () => {
    server = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...flags], options);
    ended = new Promise((resolve) => server.once('exit', resolve));
    await reachable(connection);
  };
  await start();
  return {
    connection,
    start,
    async crash() {
      const all = processesIn(data);
      for (const pid of all) process.kill(pid, 'SIGKILL');
      await ended;
      while (processesIn(data).length > 0) await sleep(20);
    },
    async stop() {
      server.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
