/**
 * A service for one test file, on a database of its own, spoken to over HTTP.
 *
 *     const service = await startService();
 *     const { status, body } = await service.as(admin).get('/auth/users/');
 */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { inject } from 'vitest';

import { createAdministrator, ensureDefaultGroup, type Provider } from '../../src/accounts/index.ts';
import { operator } from '../../src/audit/index.ts';
import { openDatabase, type OpenDatabase } from '../../src/db/index.ts';
import { listenOn } from '../../src/http/index.ts';
import type { Logger, Logging } from '../../src/logging/index.ts';
import { createService } from '../../src/service.ts';
import { readSettings } from '../../src/settings/index.ts';
import { TEMPLATE } from './database.ts';
import { atFileEnd } from './file-end.ts';

export const ADMIN = { email: 'admin@example.org', password: 'admin-password' };

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
  body: any;
}

interface Extra {
  headers?: Record<string, string>;
  query?: Record<string, string | number | boolean>;
}

export interface Client {
  get(path: string, extra?: Extra): Promise<Answer>;
  delete(path: string, extra?: Extra): Promise<Answer>;
  post(path: string, body?: unknown, extra?: Extra): Promise<Answer>;
  put(path: string, body?: unknown, extra?: Extra): Promise<Answer>;
  patch(path: string, body?: unknown, extra?: Extra): Promise<Answer>;
  raw(path: string, init: RequestInit): Promise<Answer>;
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

export function clientOf(url: string, token?: string): Client {
  const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const raw = async (path: string, init: RequestInit) =>
    answerOf(
      await fetch(url + path, { ...init, headers: { ...authorization, ...(init.headers as Record<string, string>) } }),
    );
  const send =
    (method: string) =>
    (path: string, body?: unknown, extra: Extra = {}) => {
      const query = extra.query
        ? `?${new URLSearchParams(Object.entries(extra.query).map(([name, value]): [string, string] => [name, String(value)])).toString()}`
        : '';
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
      return raw(path + query, { method, ...json, headers: { ...type, ...extra.headers } });
    };
  return {
    raw,
    get: (path, extra) => send('GET')(path, undefined, extra),
    delete: (path, extra) => send('DELETE')(path, undefined, extra),
    post: send('POST'),
    put: send('PUT'),
    patch: send('PATCH'),
  };
}

export interface LogEntry {
  name: string;
  level: string;
  message: string;
  error?: unknown;
}

/** Keeps what is logged, so that tests can look at it. */
function rememberingLogging(entries: LogEntry[]): Logging {
  return {
    logger(name): Logger {
      const keep = (level: string) => (message: string, error?: unknown) =>
        void entries.push({ name, level, message, error });
      return {
        enabled: () => true,
        debug: keep('debug'),
        info: keep('info'),
        warning: keep('warning'),
        error: keep('error'),
      };
    },
  };
}

export interface TestService {
  url: string;
  app: FastifyInstance;
  database: OpenDatabase;
  log: LogEntry[];
  anyone: Client;
  /** The administrator. */
  admin: Client;
  adminToken: string;
  withToken(token: string): Client;
  login(email: string, password: string): Promise<string>;
  /** A new account with a client of its own. */
  person(options?: { email?: string; patch?: Record<string, unknown> } & Record<string, unknown>): Promise<{
    id: number;
    email: string;
    password: string;
    token: string;
    client: Client;
  }>;
}

/** A copy of the empty database with the tables in it. */
export async function freshDatabase(connections = 10): Promise<OpenDatabase & { drop(): Promise<void> }> {
  const connection = inject('connection');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const administration = new pg.Client(connection);
  await administration.connect();
  // two copies at once would find the template in use
  await administration.query('select pg_advisory_lock(1)');
  await administration.query(`create database ${name} template ${TEMPLATE}`);
  await administration.end();
  const open = openDatabase({ ...connection, database: name }, { connections });
  return {
    ...open,
    async drop() {
      await open.close();
      const client = new pg.Client(connection);
      await client.connect();
      await client.query(`drop database if exists ${name} with (force)`);
      await client.end();
    },
  };
}

export interface ServiceOptions {
  /** Settings by the names of their variables. */
  settings?: Record<string, string>;
  provider?: Provider;
  /** False leaves what is asked for in the queue. */
  background?: boolean;
  /** As if pages were on the same origin. */
  withPages?: boolean;
}

export const SIGNING_KEY = 'a key for tests';

const DEFAULTS = {
  POSTGRES_DB: 'given by the test',
  JWT_SECRET_KEY: SIGNING_KEY,
  JWT_EXPIRE_SECONDS: '3600',
  SERVICE_DEFAULT_GROUP_NAME: 'All',
};

/** A service on a database that is there. Whoever asks for it ends it. */
export async function serve(database: OpenDatabase, options: ServiceOptions = {}) {
  const given: Record<string, string> = { ...DEFAULTS, ...options.settings };
  const log: LogEntry[] = [];
  const app = await createService({
    settings: readSettings((name) => given[name]),
    database,
    logging: rememberingLogging(log),
    checkAnswers: true,
    ...(options.provider ? { provider: options.provider } : {}),
    ...(options.background === undefined ? {} : { background: options.background }),
    withPages: options.withPages ?? false,
  });
  return { app, log, url: await listenOn(app, '127.0.0.1', 0) };
}

const GRACE_MS = 5000;

/**
 * As the process ends: it does not wait for ever. Of a thousand who leave a download at once, some are noticed late: what is lost
 * on the way to them is sent again after ever longer pauses, and only the answer to that tells that they are gone.
 */
async function closeAfterGrace(app: FastifyInstance): Promise<void> {
  const late = setTimeout(() => app.server.closeAllConnections(), GRACE_MS);
  await app.close();
  clearTimeout(late);
}

export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const given: Record<string, string> = { ...DEFAULTS, ...options.settings };
  const database = await freshDatabase();
  const defaultGroup = readSettings((name) => given[name]).app.SERVICE_DEFAULT_GROUP_NAME;
  const by = operator('start');
  await ensureDefaultGroup(database.db, by, defaultGroup);
  await createAdministrator(database.db, by, { ...ADMIN, projectDir: '/projects/admin' }, defaultGroup);
  const { app, log, url } = await serve(database, options);
  atFileEnd(async () => {
    await closeAfterGrace(app);
    await database.drop();
  });
  const anyone = clientOf(url);

  async function login(email: string, password: string): Promise<string> {
    const { body } = await anyone.raw('/auth/token/login/', {
      method: 'POST',
      body: new URLSearchParams({ username: email, password }),
    });
    return body.access_token as string;
  }

  const adminToken = await login(ADMIN.email, ADMIN.password);
  const admin = clientOf(url, adminToken);
  let people = 0;
  return {
    url,
    app,
    database,
    log,
    anyone,
    admin,
    adminToken,
    withToken: (token) => clientOf(url, token),
    login,
    async person({ patch, ...fields } = {}) {
      const email = fields['email'] ?? `person${++people}@example.org`;
      const password = 'some-password';
      const created = await admin.post('/auth/register/', {
        password,
        project_dirs: ['/projects/p'],
        ...fields,
        email,
      });
      if (created.status !== 201) throw new Error(`registration failed: ${created.text}`);
      if (patch) await admin.patch(`/auth/users/${created.body.id}/`, patch);
      const token = await login(email, password);
      return { id: created.body.id as number, email, password, token, client: clientOf(url, token) };
    },
  };
}
