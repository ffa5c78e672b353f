/**
 * A package index of an institute, with a password: it reaches pip and uv, and nobody else. And what the service installs
 * with: the uv that it knows, not the one that an index offers.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { localHost } from '../packages/server/src/hosts/index.ts';
import { chooseInstaller, pipInstaller } from '../packages/server/src/tasks/procedures/installer.ts';
import { createProcedureRun } from '../packages/server/src/tasks/procedures/procedure-run.ts';
import { UV_REQUIREMENT, UV_VERSION } from '../packages/server/src/tasks/procedures/uv-pin.ts';
import { LONG } from '../packages/server/test/support/long.ts';
import { addPerson, addProfile } from '../packages/server/test/support/plates.ts';
import { startService } from '../packages/server/test/support/server.ts';
import { remove, temporaryFolder } from './support/processes.ts';
import { buildWheel, goodFiles } from './support/wheels.ts';

const PASSWORD = 'pass-of-the-index';
const ENCODED = 'pass%2Dof%2Dthe%2Dindex';

const folder = temporaryFolder('package-index');
const [PYTHON, VERSION] = execFileSync(
  'python3',
  ['-c', 'import sys; print(sys.executable); print("%d.%d" % sys.version_info[:2])'],
  { encoding: 'utf8' },
)
  .trim()
  .split('\n') as [string, string];

let index: Server;
let address: string;
/** Which files the index offers, and who asked for something with which password. */
let offered: string[] = [];
const known = new Set<string | undefined>();

beforeAll(async () => {
  index = createServer((request, response) => {
    const { authorization } = request.headers;
    known.add(authorization);
    if (authorization !== `Basic ${Buffer.from(`me:${PASSWORD}`).toString('base64')}`) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="index"' }).end();
      return;
    }
    const [, kind, name] = request.url!.split('/');
    const file = offered.find((path) => kind === 'files' && path.endsWith(`/${decodeURIComponent(name!)}`));
    if (file !== undefined) return void response.end(readFileSync(file));
    const links = offered
      .map((path) => path.split('/').at(-1)!)
      .filter((one) => one.split('-')[0]!.replaceAll('_', '-').toLowerCase() === name)
      .map((one) => `<a href="/files/${one}">${one}</a>`);
    response.writeHead(links.length > 0 ? 200 : 404, { 'content-type': 'text/html' }).end(links.join('\n'));
  });
  await new Promise<void>((resolve) => index.listen(0, '127.0.0.1', resolve));
  address = `http://me:${ENCODED}@127.0.0.1:${(index.address() as AddressInfo).port}/simple/`;
  // this machine may go out through a proxy, which does not lead back to it
  for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, '127.0.0.1');
  vi.stubEnv('PIP_FIND_LINKS', undefined);
});
afterAll(() => {
  vi.unstubAllEnvs();
  index.close();
  remove(folder);
});

/** The wheels that every Python brings along. */
function bundled(): string[] {
  const script = 'import ensurepip, os; print(os.path.join(os.path.dirname(ensurepip.__file__), "_bundled"))';
  const place = execFileSync(PYTHON, ['-c', script], { encoding: 'utf8' }).trim();
  const wheels = readdirSync(place).map((name) => join(place, name));
  // newer ones bring pip alone
  if (wheels.some((path) => path.includes('setuptools'))) return wheels;
  return [
    ...wheels,
    buildWheel(folder, { name: 'setuptools', version: '80.0', files: { 'setuptools/__init__.py': '' } }),
  ];
}

/** Looks at the command lines of all processes, for as long as it is asked to. */
function watchCommandLines(...secrets: string[]) {
  const seen = new Set<string>();
  // what was there before keeps its command line: only new processes are looked at every few milliseconds
  const before = new Set(readdirSync('/proc'));
  let looks = 0;
  const timer = setInterval(() => {
    looks += 1;
    for (const pid of readdirSync('/proc')) {
      if (before.has(pid) || !/^\d+$/.test(pid)) continue;
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        if (secrets.some((secret) => line.includes(secret))) seen.add(line);
      } catch {
        // it has ended
      }
    }
  }, 5);
  return () => {
    clearInterval(timer);
    return { seen: [...seen], looks };
  };
}

function bringUv(): string {
  const place = join(folder, 'uv');
  const list = join(folder, 'uv.txt');
  writeFileSync(list, UV_REQUIREMENT);
  execFileSync(PYTHON, ['-m', 'pip', 'download', '--quiet', '--require-hashes', '--no-deps', '-r', list, '-d', place]);
  return join(place, readdirSync(place)[0]!);
}

describe('the password of an index', () => {
  const ways = [
    ['uv', 'of the service', () => bringUv()],
    ['pip', 'of pip', () => undefined],
    ['pip', 'of the service', () => undefined],
    ['uv', 'of pip', () => bringUv()],
  ] as const;
  it.each(LONG ? ways : ways.slice(0, 1))(
    'reaches %s, as a setting %s, and is in no command line, log or answer',
    async (installer, whose, uv) => {
      const place = join(folder, `${installer} ${whose}`);
      mkdirSync(place);
      const name = `${installer}_${whose.split(' ').at(-1)}`;
      offered = [...bundled(), buildWheel(place, { name, files: goodFiles(name) })];
      const wheel = uv();
      if (wheel !== undefined) offered.push(wheel);
      vi.stubEnv('PIP_INDEX_URL', whose === 'of pip' ? address : undefined);
      const service = await startService({
        settings: {
          SERVICE_DATA_DIR: join(place, 'data'),
          ...(whose === 'of the service' ? { SERVICE_PACKAGE_INDEX: address } : {}),
        },
      });
      const profile = await addProfile(service);
      const python = { default_version: VERSION, versions: { [VERSION]: PYTHON }, pip_cache_dir: null };
      await service.database.db
        .updateTable('resources')
        .set({ tasks_local_dir: join(place, 'tasks'), tasks_python_config: JSON.stringify(python) })
        .execute();
      const { client } = await addPerson(service, profile);
      const stop = watchCommandLines(PASSWORD, ENCODED);
      known.clear();
      const asked = await client.raw('/api/v2/task/collect/pip/', {
        method: 'POST',
        body: new URLSearchParams({ package: name }),
      });
      expect([asked.status, asked.text]).toEqual([202, expect.any(String)]);
      const read = async () => (await client.get(`/api/v2/task-group/activity/${asked.body.id}/`)).body;
      await expect
        .poll(async () => (await read()).status, { timeout: 110_000, interval: 200 })
        .toMatch(/^(OK|failed)$/);
      const { seen, looks } = stop();
      const done = await read();
      expect([done.status, done.log]).toEqual(['OK', expect.stringContaining(`${installer} installs`)]);
      expect(looks).toBeGreaterThan(20);
      expect(seen).toEqual([]);
      expect(known).toContain(`Basic ${Buffer.from(`me:${PASSWORD}`).toString('base64')}`);
      const shown = await service.admin.get('/api/settings/app/');
      for (const text of [JSON.stringify(done), shown.text, JSON.stringify(service.log)]) {
        expect(text).not.toContain(PASSWORD);
        expect(text).not.toContain(ENCODED);
      }
      if (whose === 'of the service') expect(shown.body.SERVICE_PACKAGE_INDEX).toContain('://***@127.0.0.1');
    },
  );

  it('is in no refusal', async () => {
    const wrong = address.replace(/:\d+\//, ':1/');
    const service = await startService({
      settings: { SERVICE_DATA_DIR: join(folder, 'wrong'), SERVICE_PACKAGE_INDEX: wrong },
    });
    const { client } = await addPerson(service, await addProfile(service));
    const { status, text } = await client.raw('/api/v2/task/collect/pip/', {
      method: 'POST',
      body: new URLSearchParams({ package: 'x' }),
    });
    expect([status, text.includes(ENCODED), text.includes(PASSWORD)]).toEqual([422, false, false]);
  });
});

describe('the uv that the service brings', () => {
  const marker = join(folder, 'ran');
  const evil = `#!/bin/sh\ntouch ${marker}\necho uv 99\n`;
  const fake = (version: string) =>
    buildWheel(folder, {
      name: 'uv',
      version,
      files: { 'uv/__init__.py': '', [`uv-${version}.data/scripts/uv`]: evil },
    });

  it.each([
    ['a newer version', () => [fake('99.0.0')]],
    ['another file under the same version', () => [fake(UV_VERSION)]],
  ])('is not %s that the index offers', async (_, files) => {
    offered = [...bundled(), ...files()];
    const toolsDir = join(folder, `tools-${createHash('md5').update(String(files)).digest('hex')}`);
    let log = '';
    const run = createProcedureRun({
      host: localHost,
      name: 'collect',
      steps: [],
      log: '',
      save: (text) => Promise.resolve(void (log = text)),
      remember: () => Promise.resolve(),
    });
    const settings = {
      index_url: address,
      extra_index_urls: [],
      find_links: [],
      trusted_hosts: [],
      cert: null,
      no_index: false,
    };
    const parts = { run, python: PYTHON, index: settings, cacheDir: null };
    const chosen = await chooseInstaller(parts, { uv: null, toolsDir });
    await run.close();
    expect([chosen.name, existsSync(marker)]).toEqual([pipInstaller(parts).name, false]);
    expect(log).toContain('uv cannot be had');
    expect(readdirSync(join(toolsDir, 'uv'))).toEqual([]);
  });
});
