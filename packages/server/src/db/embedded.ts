/**
 * The embedded database: a real PostgreSQL that the service starts in its data folder and leaves behind clean.
 *
 * It runs in a session of its own, so it outlives a killed server; the next start finds it by its pid file and goes on
 * with it. Several processes (a server, a `servicectl`) share it; the last one to leave stops it.
 *
 * PostgreSQL refuses to run as root. Started by root it runs as the account `postgres` (else `nobody`), which may be unable
 * to enter the folders above the database. So it gets the database's folder as an open descriptor, and never needs its path.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { ignored } from '../guard.ts';
import { freePort } from './free-port.ts';
import { isProcessAlive, ownerOf } from './processes.ts';
import { type Account, databaseAccount, postgresBinaries } from './postgres-binaries.ts';
import { keptSecret } from './secrets.ts';

export interface Connection {
  host: string;
  port: number;
  user: string | undefined;
  password: string | undefined;
  database: string;
  /** Who this is, among those that use the same database. */
  application_name?: string;
}

export interface EmbeddedDatabase {
  connection: Connection;
  /** Stops the database, unless another process still uses it. */
  leave(): Promise<void>;
}

const NAME = 'service';
const START_TRIES = 10;
const READY_WITHIN_MS = 60_000;

interface EmbeddedFolders {
  dataDir: string;
  folder: string;
  account: Account | undefined;
}

/** Descriptors that a child inherits, and the paths by which it knows them. As another account it has no other way in. */
function handOver(account: Account | undefined, paths: string[]) {
  if (!account) return { paths, descriptors: [] };
  return {
    paths: paths.map((_, index) => `/proc/self/fd/${index + 3}`),
    descriptors: paths.map((path) => openSync(path, 'r')),
  };
}

const asAccount = (account: Account | undefined) => ({
  cwd: '/',
  env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  ...account,
});

const closeAll = (descriptors: number[]) => descriptors.forEach((descriptor) => closeSync(descriptor));

/** Makes the database beside its final folder, so that an interrupted first start leaves nothing half-made. */
function initialise({ dataDir, folder, account }: EmbeddedFolders, binaries: string, password: string): void {
  const draft = mkdtempSync(`${folder}.new-`);
  const fresh = join(draft, 'postgres');
  const passwordFile = join(draft, 'password');
  mkdirSync(fresh, { mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account) for (const path of [fresh, passwordFile]) chownSync(path, account.uid, account.gid);
  const log = openSync(join(dataDir, 'postgres.log'), 'a', 0o600);
  const { paths, descriptors } = handOver(account, [fresh, passwordFile]);
  const done = spawnSync(
    join(binaries, 'initdb'),
    [
      `--pgdata=${paths[0]}`,
      `--pwfile=${paths[1]}`,
      `--username=${NAME}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
    ],
    { ...asAccount(account), stdio: ['ignore', log, log, ...descriptors] },
  );
  closeAll([log, ...descriptors]);
  try {
    if (done.status !== 0) {
      throw new Error(`The embedded database could not be made; ${join(dataDir, 'postgres.log')} says why.`);
    }
    renameSync(fresh, folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error; // another process was faster
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Removes what an interrupted first start left behind. */
function clearDrafts({ dataDir, folder }: EmbeddedFolders): void {
  const drafts = readdirSync(dataDir).filter((name) => name.startsWith(`${basename(folder)}.new-`));
  for (const draft of drafts) rmSync(join(dataDir, draft), { recursive: true, force: true });
}

interface Running {
  pid: number;
  port: number;
}

/** The database that runs in this folder now, if one does. */
function running(folder: string): Running | 'starting' | undefined {
  let lines: string[];
  try {
    lines = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return undefined;
  }
  const [pid, started, port] = [Number(lines[0]), Number(lines[2]), Number(lines[3])];
  if (!isProcessAlive(pid)) return undefined;
  const owner = ownerOf(folder, pid, started);
  if (owner !== 'database') {
    // Without a process of ours in the folder the file is a left-over.
    if (owner === 'another') rmSync(join(folder, 'postmaster.pid'), { force: true });
    return undefined;
  }
  return lines[7]?.trim() === 'ready' ? { pid, port } : 'starting';
}

async function launch({ dataDir, folder, account }: EmbeddedFolders, binaries: string): Promise<ChildProcess> {
  const log = openSync(join(dataDir, 'postgres.log'), 'a', 0o600);
  const { paths, descriptors } = handOver(account, [folder]);
  const settings = {
    listen_addresses: '127.0.0.1',
    port: await freePort(),
    unix_socket_directories: '',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    jit: 'off',
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(binaries, 'postgres'), ['-D', paths[0]!, ...flags], {
    ...asAccount(account),
    stdio: ['ignore', log, log, ...descriptors],
    detached: true,
  });
  child.on('error', ignored);
  child.unref();
  closeAll([log, ...descriptors]);
  return child;
}

async function ready(folder: string, child?: ChildProcess): Promise<Running | undefined> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline) {
    const now = running(folder);
    if (now !== undefined && now !== 'starting') return now;
    const gone = child
      ? child.exitCode !== null || child.signalCode !== null || child.pid === undefined
      : now === undefined;
    if (gone) return undefined;
    await sleep(20);
  }
  return undefined;
}

/** Finds the running database or starts it. Right after a crash the old one may linger, so it tries for a while. */
async function findOrStart(folders: EmbeddedFolders, binaries: string): Promise<Running> {
  for (let attempt = 0; attempt < START_TRIES; attempt++) {
    const there = await ready(folders.folder);
    if (there) return there;
    const started = await ready(folders.folder, await launch(folders, binaries));
    if (started) return started;
    await sleep(500);
  }
  throw new Error(`The embedded database does not start; ${join(folders.dataDir, 'postgres.log')} says why.`);
}

async function withClient<T>(connection: Connection, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(connection);
  client.on('error', ignored);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

async function ensureDatabase(connection: Connection): Promise<void> {
  await withClient({ ...connection, database: 'postgres' }, async (client) => {
    const known = await client.query('select 1 from pg_database where datname = $1', [NAME]);
    if (known.rowCount) return;
    await client.query(`create database ${NAME}`).catch((error: { code?: string }) => {
      if (error.code !== '42P04' && error.code !== '23505') throw error; // another process was faster
    });
  });
}

/** What this process has closed may be listed for a moment still, so it is told apart by its name. */
async function othersUseIt(connection: Connection): Promise<boolean> {
  return withClient(connection, async (client) => {
    const { rows } = await client.query<{ others: boolean }>(
      `select exists (
         select from pg_stat_activity where backend_type = 'client backend' and application_name <> $1
       ) as others`,
      [connection.application_name],
    );
    return rows[0]!.others;
  });
}

async function stop(folder: string): Promise<void> {
  const now = running(folder);
  if (now === undefined || now === 'starting') return;
  process.kill(now.pid, 'SIGINT');
  while (isProcessAlive(now.pid)) await sleep(20);
}

export async function openEmbeddedDatabase(dataDir: string): Promise<EmbeddedDatabase> {
  const folder = join(dataDir, 'postgres');
  const account = databaseAccount(existsSync(folder) ? statSync(folder) : undefined);
  const folders = { dataDir, folder, account };
  const binaries = postgresBinaries(account);
  const password = keptSecret(dataDir, 'database-password');
  if (!existsSync(join(folder, 'PG_VERSION'))) initialise(folders, binaries, password);
  else clearDrafts(folders);
  const { port } = await findOrStart(folders, binaries);
  const application_name = `service ${process.pid} ${randomBytes(6).toString('hex')}`;
  const connection = { host: '127.0.0.1', port, user: NAME, password, database: NAME, application_name };
  await ensureDatabase(connection);
  return {
    connection,
    async leave() {
      const inUse = await othersUseIt(connection).catch(() => true);
      if (!inUse) await stop(folder);
    },
  };
}
