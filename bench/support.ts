/** What benchmarks share. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = join(import.meta.dirname, '..');

export const median = (values: number[]) =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]!;

export async function login(url: string): Promise<string> {
  const body = new URLSearchParams({ username: 'admin@example.org', password: 'password' });
  const response = await fetch(`${url}/auth/token/login/`, { method: 'POST', body });
  return ((await response.json()) as { access_token: string }).access_token;
}

export interface Servers {
  serviceUrl: string;
  bareUrl: string;
  pid: number;
  connection: { host: string; port: number; user: string; password: string; database: string };
}

/** Of `--account NAME`: tasks and collections are run by this account too, beside those of the service's own. */
export const otherAccount = (): string | undefined => {
  const at = process.argv.indexOf('--account');
  return at < 0 ? undefined : process.argv[at + 1];
};

/** The same for both, where there are two: interpreters of whoever runs the benchmark may be closed to another account. */
const environmentFor = (account: string | undefined) => {
  if (otherAccount() === undefined) return process.env;
  const common = { ...process.env, PATH: '/usr/local/bin:/usr/bin:/bin' };
  return account === undefined ? common : { ...common, SERVICE_TASKS_ACCOUNT: account };
};

/** Runs a benchmark beside a server process of its own, with a database of its own. */
export async function withServers<T>(work: (servers: Servers) => Promise<T>, account?: string): Promise<T> {
  const data = mkdtempSync(join(tmpdir(), 'service-bench-'));
  const child = spawn(process.execPath, [join(ROOT, 'bench/server.ts'), data], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: environmentFor(account),
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const line = await new Promise<string>((resolve) =>
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString())),
  );
  try {
    return await work({ ...(JSON.parse(line) as Servers), pid: child.pid! });
  } finally {
    child.stdin.end();
    await ended;
    rmSync(data, { recursive: true, force: true });
  }
}

export interface Call {
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
  patch(path: string, body: unknown): Promise<unknown>;
}

export function caller(url: string, token: string): Call {
  const send = (method: string) => async (path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  };
  return { get: send('GET'), post: send('POST'), patch: send('PATCH') };
}

/** Installs a package as a person would; gives its task group. */
export async function collectPackage(
  url: string,
  token: string,
  call: Call,
  form: Record<string, string>,
): Promise<{ id: number }> {
  const response = await fetch(`${url}/api/v2/task/collect/pip/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams(form),
  });
  if (response.status !== 202) throw new Error(await response.text());
  const { id, taskgroupv2_id } = (await response.json()) as { id: number; taskgroupv2_id: number };
  for (;;) {
    const { status, log } = (await call.get(`/api/v2/task-group/activity/${id}/`)) as { status: string; log: string };
    if (status === 'failed') throw new Error(log);
    if (status === 'OK') return { id: taskgroupv2_id };
    await sleep(500);
  }
}

export const line = (what: string, value: string, note = '') =>
  console.log(`${what.padEnd(52)} ${value.padStart(12)}   ${note}`);
export const ratio = (value: number) => value.toFixed(2);

/** What another account costs: the same once more. Figures are ratios to what runs beside them, since machines are busy. */
export async function besideOtherAccount(
  measure: (account?: string) => Promise<Record<string, number>>,
): Promise<void> {
  const own = await measure();
  const account = otherAccount();
  if (account === undefined) return;
  console.log(`\nthe same, run by ${account}`);
  const others = await measure(account);
  for (const [what, figure] of Object.entries(others)) {
    line(`${what}: ${account} to the service`, ratio(figure / own[what]!), 'at most 1.1');
  }
}
