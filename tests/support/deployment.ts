/**
 * A service as real processes, with a lab that runs workflows in it: to be killed, stopped and started again.
 *
 *     const deployment = await openDeployment({ database: 'embedded' });
 *     await deployment.kill();
 *     await deployment.start();
 *
 * Every process of the deployment that works for a job names the deployment's folder in its command line.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { freePort } from '../../packages/server/src/db/free-port.ts';
import { type Connection, openDatabase, type OpenDatabase } from '../../packages/server/src/db/index.ts';
import { type LabService, openLab } from '../../packages/server/test/support/lab.ts';
import { type Client, clientOf, freshDatabase } from '../../packages/server/test/support/server.ts';
import { remove, type Running, startService, temporaryFolder } from './processes.ts';

const ADMIN = { username: 'admin@example.org', password: 'admin-password' };
const PERSON = 'some-password';
const READY = /answers at (http:\/\/\S+)/;

async function tokenOf(url: string, credentials: { username: string; password: string }): Promise<string> {
  const { body } = await clientOf(url).raw('/auth/token/login/', {
    method: 'POST',
    body: new URLSearchParams(credentials),
  });
  return (body as { access_token: string }).access_token;
}

/** The embedded database of a data folder, as it runs now. */
function embeddedConnection(data: string): Connection {
  const lines = readFileSync(join(data, 'postgres/postmaster.pid'), 'utf8').split('\n');
  const password = readFileSync(join(data, 'secrets/database-password'), 'utf8').trim();
  return { host: '127.0.0.1', port: Number(lines[3]), user: 'service', password, database: 'service' };
}

interface GivenDatabase {
  open: OpenDatabase;
  environment: Record<string, string>;
  drop(): Promise<void>;
}

/** A database of the PostgreSQL server that the tests share. */
async function givenDatabase(): Promise<GivenDatabase> {
  const open = await freshDatabase(4);
  const { host, port, user, password } = open.pool.options as unknown as Connection;
  const { rows } = await open.pool.query<{ name: string }>('select current_database() as name');
  const environment = {
    POSTGRES_HOST: host,
    POSTGRES_PORT: String(port),
    POSTGRES_USER: user!,
    POSTGRES_PASSWORD: password!,
    POSTGRES_DB: rows[0]!.name,
    JWT_SECRET_KEY: 'a key for tests',
    JWT_EXPIRE_SECONDS: '86400',
    SERVICE_DEFAULT_GROUP_NAME: 'All',
  };
  return { open, environment, drop: () => open.drop() };
}

/** The processes that name this folder, as "<pid> <command line>"; sudo itself, which waits for one of them, is none. */
const processesOf = (folder: string): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return words.includes(folder) && !words.startsWith('sudo ') ? [`${pid} ${words}`] : [];
      } catch {
        return []; // it has ended meanwhile
      }
    });

/** Accounts are made over HTTP, so that their passwords are as the service wants them. */
function personMaker(url: string, admin: Client): LabService['person'] {
  let people = 0;
  return async ({ patch, ...fields } = {}) => {
    const email = `person${++people}@example.org`;
    const created = await admin.post('/auth/register/', { ...fields, email, password: PERSON });
    if (created.status !== 201) throw new Error(created.text);
    const { id } = created.body as { id: number };
    await admin.patch(`/auth/users/${id}/`, patch);
    const token = await tokenOf(url, { username: email, password: PERSON });
    return { id, email, password: PERSON, token, client: clientOf(url, token) };
  };
}

export interface DeploymentOptions {
  database: 'embedded' | 'given';
  /** Settings by the names of their variables. */
  settings?: Record<string, string>;
  /** Who installed the tasks: those that the service installed start warm. */
  origin?: 'pypi' | 'other';
  /** Where it lies and how it is started, where that is not in a temporary folder by this account. */
  site?: Site;
}

export interface Site {
  folder: string;
  data: string;
  /** An empty folder for the lab. */
  root: string;
  start(args: string[], environment: Record<string, string>): Running;
  lab: Omit<NonNullable<Parameters<typeof openLab>[1]>, 'root'>;
  /** What the service itself keeps of jobs that are not over. */
  runningJobs: string;
}

function ordinarySite(): Site {
  const folder = temporaryFolder('deployment');
  const data = join(folder, 'data');
  const root = join(folder, 'lab');
  mkdirSync(root);
  const start: Site['start'] = (args, environment) => startService(args, { environment });
  return { folder, data, root, start, lab: {}, runningJobs: join(data, 'running-jobs') };
}

export async function openDeployment({ database, settings = {}, origin, site = ordinarySite() }: DeploymentOptions) {
  const { folder, data, root } = site;
  const given = database === 'given' ? await givenDatabase() : undefined;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  // in the environment: a server that names the folder would look like a process of a job
  const environment: Record<string, string> = {
    SERVICE_DATA_DIR: data,
    SERVICE_ADMIN_PWD: ADMIN.password,
    ...given?.environment,
    ...settings,
  };
  const servers: Running[] = [];
  let server: Running;

  const spawnServer = (at: number) => {
    const started = site.start(['--port', String(at)], environment);
    servers.push(started);
    return started;
  };

  /** Starts the service without waiting for it. */
  const launch = () => (server = spawnServer(port));

  /** The port stays the same, so that clients go on with the next process. */
  async function start(): Promise<void> {
    await launch().said(READY);
  }

  async function kill(): Promise<void> {
    server.process.kill('SIGKILL');
    await server.ended;
  }

  async function stop(): Promise<number | NodeJS.Signals> {
    server.process.kill('SIGTERM');
    return server.ended;
  }

  /** A second server with the same database and data folder. */
  async function startAnother(): Promise<{ running: Running; url: string }> {
    const running = spawnServer(0);
    const [, address] = await running.said(READY);
    return { running, url: address! };
  }

  await start();
  const open = given?.open ?? openDatabase(embeddedConnection(data), { connections: 4 });
  const admin = clientOf(url, await tokenOf(url, ADMIN));
  const lab = await openLab(
    { database: open, person: personMaker(url, admin) },
    { ...(origin && { origin }), ...site.lab, root },
  );

  return {
    url,
    data,
    db: open.db,
    /** The settings of the next start. */
    environment,
    folder,
    kill,
    lab,
    launch,
    server: () => server,
    start,
    startAnother,
    stop,
    /** What the servers said, for a test that fails. */
    output: () => servers.map((one) => one.output()).join('\n--- next start\n'),
    processes: () => processesOf(folder),
    /** Breaks every connection of the service to its database. */
    cutDatabase: () =>
      open.pool.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      ),
    adminToken: () => tokenOf(url, ADMIN),
    /** A token of somebody who was made for the lab, from any server of the deployment. */
    tokenOf: (at: string, email: string) => tokenOf(at, { username: email, password: PERSON }),
    runningJobs: () => readdirSync(site.runningJobs),
    async close() {
      // the last one to leave the embedded database stops it
      if (given) await given.drop();
      else await open.close();
      for (const { process } of servers) {
        process.kill('SIGTERM');
        process.kill('SIGCONT');
      }
      await Promise.all(servers.map(({ ended }) => ended));
      remove(folder);
    },
  };
}

export type Deployment = Awaited<ReturnType<typeof openDeployment>>;
