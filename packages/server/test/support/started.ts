/**
 * The service as a process of its own, so that what a request costs it can be seen from outside.
 *
 *     const service = await startProcess();
 *     const answer = await service.send({ path, token, chunks: repeated('1,', 120 * MB) });
 *     expect(service.peakMemory()).toBeLessThan(600 * MB);
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freshDatabase } from './server.ts';
import { peakMemoryOf, send, type Sent, watch } from './traffic.ts';

const START = join(import.meta.dirname, '../../bin/start.cjs');
const ADMIN = { username: 'admin@example.org', password: 'admin-password' };

/** Files of a process that hold what was sent to it: nobody else has a regular file open below these folders. */
const filesOpenBy = (pid: number, folder: string): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/${pid}/fd/${fd}`);
      return path.startsWith(folder) ? [path] : [];
    } catch {
      return []; // closed meanwhile
    }
  });

export async function startProcess(settings: Record<string, string> = {}) {
  const database = await freshDatabase(2);
  const { host, port, user, password } = database.pool.options;
  const { rows } = await database.pool.query<{ name: string }>('select current_database() as name');
  const folder = mkdtempSync(join(tmpdir(), 'service-doors-'));
  const data = join(folder, 'data');
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TMPDIR: folder,
    NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
    SERVICE_DATA_DIR: data,
    SERVICE_WEB_CLIENT: 'false',
    SERVICE_ADMIN_PWD: ADMIN.password,
    SERVICE_ADMIN_PROJECT_DIR: '/p',
    SERVICE_DEFAULT_GROUP_NAME: 'All',
    SERVICE_LOGGING_LEVEL: '30',
    JWT_SECRET_KEY: 'a key for tests',
    JWT_EXPIRE_SECONDS: '86400',
    POSTGRES_HOST: host,
    POSTGRES_PORT: String(port),
    POSTGRES_USER: user,
    POSTGRES_PASSWORD: password as string,
    POSTGRES_DB: rows[0]!.name,
    ...settings,
  };

  async function launch() {
    const child = spawn(process.execPath, [START, '--port', '0'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    let said = '';
    for await (const chunk of child.stdout) {
      said += String(chunk);
      const url = /answers at (http:\/\/\S+)/.exec(said)?.[1];
      if (url !== undefined) return { child, ended, url };
    }
    throw new Error(`The service did not start: ${said}`);
  }

  let running = await launch();
  async function login(username: string, password_: string): Promise<string> {
    const body = new URLSearchParams({ username, password: password_ });
    const response = await fetch(`${running.url}/auth/token/login/`, { method: 'POST', body });
    return ((await response.json()) as { access_token: string }).access_token;
  }

  const token = await login(ADMIN.username, ADMIN.password);
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(running.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>) };
  };
  const { body: project } = await call('POST', '/api/v2/project/', { name: 'doors' });
  const uploads = () => filesOpenBy(running.child.pid!, folder);

  return {
    token,
    project: project!['id'] as number,
    call,
    login,
    url: () => running.url,
    pid: () => running.child.pid!,
    send: (what: Sent) => send(running.url, what),
    watch: () => watch(running.url),
    /** From here on the peak is counted anew. */
    forgetPeak: () => writeFileSync(`/proc/${running.child.pid}/clear_refs`, '5'),
    peakMemory: () => peakMemoryOf(running.child.pid!),
    /** What there is of bodies on disk, with a name or without. */
    leftovers: () => {
      const named = [folder, join(data, 'uploads'), join(data, 'incoming')].filter((place) => existsSync(place));
      const files = named.flatMap((place) => readdirSync(place).map((name) => join(place, name)));
      return [
        ...files.filter((path) => !['data', 'incoming', 'uploads'].includes(path.split('/').at(-1)!)),
        ...uploads(),
      ];
    },
    /** To be called when the tests are over. */
    async stop() {
      running.child.kill('SIGTERM');
      await running.ended;
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
    async killAndStart() {
      running.child.kill('SIGKILL');
      await running.ended;
      running = await launch();
    },
  };
}

export type StartedService = Awaited<ReturnType<typeof startProcess>>;
