/** Many readers of a large file at once: the service's memory does not grow with it. */
import { mkdirSync, readdirSync, readFileSync, readlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, expect, it } from 'vitest';

import { LONG } from '../packages/server/test/support/long.ts';
import { PASSWORD } from './support/mounted.ts';
import { remove, startService, temporaryFolder } from './support/processes.ts';

const READERS = 50;
const SIZE = 2 ** 30;
/** Of each reader: all of it takes minutes on a small machine. */
const READ = LONG ? SIZE : 24 * 2 ** 20;
const MOST_BYTES = 300 * 2 ** 20;

const folder = temporaryFolder('readers');
afterAll(() => remove(folder));

it('reads a file of 1 GB for 50 readers with less than 300 MB of memory', async () => {
  const projects = join(folder, 'projects');
  mkdirSync(projects);
  const file = join(projects, 'large');
  writeFileSync(file, '');
  truncateSync(file, SIZE);
  const environment = { SERVICE_DATA_BASE_PATH: '/data/', SERVICE_ADMIN_PROJECT_DIR: projects };
  const args = ['--port', '0', '--admin-pwd', PASSWORD, '--data-dir', join(folder, 'data')];
  const service = startService(args, { environment });
  try {
    const url = (await service.said(/answers at (http:\/\/\S+)/))[1]!;
    const body = new URLSearchParams({ username: 'admin@example.org', password: PASSWORD });
    const signedIn = await fetch(`${url}/auth/token/login/`, { method: 'POST', body });
    const { access_token: token } = (await signedIn.json()) as { access_token: string };
    const { pid } = service.process;
    const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;
    const linkOf = (name: string) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${name}`);
      } catch {
        return '';
      }
    };
    const openFiles = () => readdirSync(`/proc/${pid}/fd`).filter((name) => linkOf(name) === file).length;
    let highest = 0;
    const watch = setInterval(() => (highest = Math.max(highest, resident())), 50);
    const read = async () => {
      const gone = new AbortController();
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${url}/data/files${file}`, { headers, signal: gone.signal });
      expect([response.status, response.headers.get('content-length')]).toEqual([200, String(SIZE)]);
      let bytes = 0;
      for await (const part of response.body!) {
        bytes += (part as Uint8Array).length;
        if (bytes >= READ) break;
      }
      gone.abort();
      return bytes;
    };
    const read50 = await Promise.all(Array.from({ length: READERS }, read));
    clearInterval(watch);
    for (const bytes of read50) expect(bytes).toBeGreaterThanOrEqual(READ);
    expect(highest).toBeGreaterThan(0);
    expect(highest).toBeLessThan(MOST_BYTES);
    // who leaves in the middle leaves no file open
    await expect.poll(openFiles, { timeout: 20_000 }).toBe(0);
  } finally {
    service.process.kill('SIGTERM');
    await service.ended;
  }
}, 600_000);
