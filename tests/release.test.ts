/**
 * A release in a folder of its own, on a machine that has neither Node nor the sources: it starts, runs the demo, stops, and the
 * next release continues with the data. Prints its size, and its memory and the time of its start beside those of the checkout.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';

import { parse } from 'yaml';

import { LONG } from '../packages/server/test/support/long.ts';
import { type Client, clientOf } from '../packages/server/test/support/server.ts';
import { instructionsOf, unitOf } from './support/deploy-files.ts';
import { runBlock, SUDO } from './support/manual-commands.ts';
import { type Block, blockOf } from './support/manual-texts.ts';
import { remove, ROOT, type Running, startCommand, startService, temporaryFolder } from './support/processes.ts';

const PASSWORD = 'release-password';
const READY = /answers at (http:\/\/\S+)[^]*Stop it with Ctrl-C/;
const DEMO = /^The demo is in the project/m;
/** The web client may have to be built, and the machine have much else to do. */
const LONG_MS = 900_000;
const PLATFORM = `${process.platform}-${process.arch}`;
/** As on a machine where nothing but Python is installed. */
const BARE = { PATH: '/usr/bin:/bin', HOME: '/nonexistent', SERVICE_PACKAGE_INDEX: 'none' };

const folder = temporaryFolder('release');
const running: Running[] = [];
afterAll(async () => {
  for (const one of running) one.process.kill('SIGTERM');
  await Promise.all(running.map((one) => one.ended));
  remove(folder);
});

const nameOf = (version: string) => `service-${version}-${PLATFORM}`;

function makeRelease(version: string): string {
  const words = ['scripts/release.ts', '--out', folder, '--version', version, '--level', '1'];
  return execFileSync(join(ROOT, 'node_modules/.bin/node'), words, { cwd: ROOT, encoding: 'utf8' }).trim();
}

/** Where the manual has people unpack releases, with the data beside them. */
const home = join(folder, 'service');

/** As the manual says, and asked for its version before it is started. */
function unpack(version: string, block: Block): string {
  const [written] = /service-[\d.]+-linux-x64/.exec(block.text)!;
  const replace = { [written]: nameOf(version), 'bin/service\n': 'bin/service --version\n' };
  const { code, out, err } = runBlock(block, { folder, replace });
  expect([code, err, out]).toEqual([0, '', expect.stringMatching(new RegExp(`^${version} \\(commit `))]);
  return join(home, nameOf(version));
}

const INSTALL = blockOf('docs/release.md', 'mkdir service');
const UPGRADE = blockOf('docs/release.md', 'stop the old release');

/** The next release. A second build of the same sources differs from the first in its version alone, so that a copy does. */
function nextRelease(before: string, version: string): string {
  if (LONG) {
    makeRelease(version);
    return unpack(version, UPGRADE);
  }
  const next = join(home, nameOf(version));
  cpSync(before, next, { recursive: true, verbatimSymlinks: true });
  for (const name of ['release.json', 'packages/server/package.json']) {
    const content = JSON.parse(readFileSync(join(next, name), 'utf8')) as object;
    writeFileSync(join(next, name), JSON.stringify({ ...content, version }));
  }
  return next;
}

const track = (one: Running) => {
  running.push(one);
  return one;
};

const start = (release: string, args: string[] = []) =>
  track(
    startCommand(
      'env',
      ['-i', ...Object.entries(BARE).map((pair) => pair.join('=')), join(release, 'bin/service'), ...args],
      {
        folder: '/',
      },
    ),
  );

async function stop(service: Running): Promise<void> {
  service.process.kill('SIGTERM');
  expect(await service.ended).toBe(0);
}

async function signIn(service: Running): Promise<Client> {
  const [, url] = await service.said(READY);
  const form = new URLSearchParams({ username: 'admin@example.org', password: PASSWORD });
  const { body } = await clientOf(url!).raw('/auth/token/login/', { method: 'POST', body: form });
  return clientOf(url!, (body as { access_token: string }).access_token);
}

const read = async (client: Client, path: string): Promise<unknown> => {
  const { status, body, text } = await client.get(path);
  expect([path, status, text]).toEqual([path, 200, text]);
  return body;
};

interface Compose {
  services: Record<
    'service' | 'database',
    {
      build?: { context: string; dockerfile: string };
      environment: Record<string, string>;
      depends_on?: object;
      healthcheck?: object;
      ports?: string[];
      volumes: string[];
    }
  >;
  volumes: Record<string, null>;
}

interface Dataset {
  id: number;
  name: string;
  project_id: number;
  zarr_dir: string;
}

interface Exported {
  images: { zarr_url: string; types: Record<string, boolean> }[];
}

/** Everything that the demo has made. */
async function everything(client: Client) {
  const [project] = (await read(client, '/api/v2/project/')) as { id: number }[];
  const one = `/api/v2/project/${project!.id}`;
  const datasets = (await read(client, `${one}/dataset/`)) as Dataset[];
  return {
    project,
    datasets,
    workflows: await read(client, `${one}/workflow/`),
    jobs: await read(client, '/api/v2/job/'),
    groups: await read(client, '/api/v2/task-group/?all_groups=true'),
    images: (await Promise.all(datasets.map(({ id }) => read(client, `${one}/dataset/${id}/export/`)))) as Exported[],
  };
}

/** What happens in threads and processes of their own, whose programs have other names in a release. */
async function expectHelpersWork(
  client: Client,
  { project, datasets, images }: Awaited<ReturnType<typeof everything>>,
) {
  const one = `/api/v2/project/${project!.id}/dataset/${datasets[0]!.id}`;
  const measured = images[0]!.images.find(({ types }) => types['is_3D'] === false)!;
  const picture = await client.get(`${one}/picture/`, { query: { zarr_url: measured.zarr_url } });
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
  const tables = await client.get(`${one}/tables/`);
  expect([tables.status, tables.text]).toEqual([200, expect.stringContaining('nuclei')]);
  const { zarr_dir } = datasets[0]!;
  const many = Array.from({ length: 5000 }, (_, index) => ({ zarr_url: `${zarr_dir}/${index}`.padEnd(400, 'x') }));
  const body = { name: 'Many', zarr_dir, images: many };
  expect(await client.post(`/api/v2/project/${project!.id}/dataset/import/`, body)).toMatchObject({ status: 201 });
}

const memoryOf = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

/** How long a start takes on data that is there, and what the service takes then. */
async function figures(begin: () => Running): Promise<string> {
  const began = Date.now();
  const service = begin();
  await service.said(READY);
  const words = `${((Date.now() - began) / 1000).toFixed(1)} s, ${Math.round(memoryOf(service.process.pid!))} MB of memory`;
  await stop(service);
  return words;
}

describe('a release', () => {
  let release: string;
  let made: string;
  beforeAll(() => {
    made = makeRelease('0.0.1');
    release = unpack('0.0.1', INSTALL);
  }, LONG_MS);

  it('has no sources with types, no tools, no links that lead out, and few files of others', () => {
    console.log(`${made.replace(/^.*\//, '')}; the checkout has ${checkoutSize()} in node_modules`);
    expect(globSync('**/*.{ts,svelte,map}', { cwd: release })).toEqual([]);
    for (const name of ['vite', 'typescript', 'vitest', 'svelte'])
      expect(existsSync(join(release, 'node_modules', name))).toBe(false);
    const links = globSync('**/*', { cwd: release, withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
    for (const link of links) {
      const target = readlinkSync(join(link.parentPath, link.name));
      expect([link.name, target, existsSync(join(link.parentPath, link.name))]).toEqual([link.name, target, true]);
      expect(target).not.toMatch(/^\//);
    }
    expect(JSON.parse(readFileSync(join(release, 'release.json'), 'utf8'))).toEqual({
      version: '0.0.1',
      commit: expect.stringMatching(/^[0-9a-f]{7,}(-dirty)?$/) as string,
      platform: PLATFORM,
    });
  });

  it('says its version, however it is reached', () => {
    const link = join(folder, 'a link');
    symlinkSync(join(release, 'bin/servicectl'), link);
    for (const path of [link, join(release, 'bin/servicectl'), join(release, 'bin/service')]) {
      const { stdout, stderr } = spawnSync(path, ['--version'], { env: BARE, cwd: '/', encoding: 'utf8' });
      expect([path, stderr, stdout]).toEqual([
        path,
        '',
        expect.stringMatching(/^0\.0\.1 \(commit [0-9a-f]{7,}(-dirty)?\)\n$/),
      ]);
    }
    const tool = spawnSync(link, ['--help'], { env: BARE, cwd: '/', encoding: 'utf8' });
    expect(tool.stdout).toMatch(/^Usage: servicectl /);
    const help = spawnSync(join(release, 'bin/service'), ['--help'], { env: BARE, cwd: '/', encoding: 'utf8' });
    expect(help.stdout).toMatch(/^Usage: service \[options\]/);
    const reload = spawnSync(link, ['start', '--reload'], { env: BARE, cwd: '/', encoding: 'utf8' });
    expect([reload.status, reload.stderr]).toEqual([1, expect.stringContaining('--reload is for a checkout')]);
  });

  /** Where the release is in a container and for systemd. */
  const INSTALLED = '/opt/service/current';
  const inRelease = (path: string) => path.replace(INSTALLED, release);

  it('is what the Containerfile installs and starts, as an account without rights, with a volume and a health check', () => {
    const instructions = instructionsOf(join(release, 'deploy/Containerfile'));
    const wordsOf = (name: string) => instructions.filter((one) => one.name === name).map(({ words }) => words);
    expect(wordsOf('ADD')).toEqual(['${RELEASE}.tar.gz /opt/service/']);
    expect(existsSync(join(folder, `${nameOf('0.0.1')}.tar.gz`))).toBe(true);
    expect(wordsOf('COPY')).toEqual([]);
    const used = instructions.flatMap(({ words }) => words.match(/\/opt\/service\/current\/[\w./-]+/g) ?? []);
    expect(used).toEqual([`${INSTALLED}/bin/servicectl`, `${INSTALLED}/bin/service`]);
    for (const path of used) expect(() => accessSync(inRelease(path), constants.X_OK)).not.toThrow();
    expect(JSON.parse(wordsOf('ENTRYPOINT')[0]!)).toEqual([`${INSTALLED}/bin/service`]);
    expect(wordsOf('USER')).toEqual(['10001:10001']);
    // root does nothing after it
    expect(instructions.findLastIndex(({ name }) => name === 'RUN')).toBeLessThan(
      instructions.findIndex(({ name }) => name === 'USER'),
    );
    const [volume] = wordsOf('VOLUME');
    expect(wordsOf('ENV')[0]).toContain(`SERVICE_DATA_DIR=${volume} SERVICE_HOST=0.0.0.0 SERVICE_PORT=8000 `);
    expect(wordsOf('EXPOSE')).toEqual(['8000']);
    // whose registry it is, is the choice of the machine
    expect(wordsOf('ARG')[0]).toMatch(/^BASE=[a-z]+:[\w.-]+$/);
  });

  it('has a compose file whose settings exist, with a database that is waited for', () => {
    const path = join(release, 'deploy/compose.yaml');
    const { services, volumes } = parse(readFileSync(path, 'utf8')) as Compose;
    const { service, database } = services;
    expect(resolve(ROOT, 'deploy', service.build!.context, service.build!.dockerfile)).toBe(
      join(ROOT, 'deploy/Containerfile'),
    );
    const settings = readFileSync(join(ROOT, 'docs/settings.md'), 'utf8');
    for (const name of Object.keys(service.environment)) expect(settings).toContain(`\`${name}\``);
    for (const name of ['POSTGRES_DB', 'POSTGRES_USER', 'POSTGRES_PASSWORD'])
      expect(database.environment[name]).toBe(service.environment[name]);
    expect(service.environment['POSTGRES_HOST']).toBe('database');
    expect(service.depends_on).toEqual({ database: { condition: 'service_healthy' } });
    expect(database.healthcheck).toBeDefined();
    const mounted = Object.values(services).flatMap((one) => one.volumes.map((volume) => volume.split(':')[0]!));
    expect(mounted.toSorted()).toEqual(Object.keys(volumes).toSorted());
    expect(service.ports).toEqual(['127.0.0.1:8000:8000']);
    const asked = new Set([...readFileSync(path, 'utf8').matchAll(/\$\{(\w+)/g)].map(([, name]) => name!));
    const told = new Set([...readFileSync(path, 'utf8').matchAll(/^# +(\w+)=/gm)].map(([, name]) => name!));
    expect(told).toEqual(asked);
  });

  it('has units of systemd whose programs are in it', () => {
    const units = globSync('*', { cwd: join(release, 'deploy/systemd') }).toSorted();
    expect(units).toEqual(['service-backup.service', 'service-backup.timer', 'service.service', 'slurm-sudo.conf']);
    const { Service } = unitOf(join(release, 'deploy/systemd/service.service'));
    expect(Service).toMatchObject({
      User: ['service'],
      KillMode: ['process'],
      OOMPolicy: ['continue'],
      NoNewPrivileges: ['yes'],
      ProtectSystem: ['strict'],
      CapabilityBoundingSet: [''],
      SystemCallFilter: ['@system-service'],
    });
    // Node compiles while it runs
    expect(Service).not.toHaveProperty('MemoryDenyWriteExecute');
    for (const name of units.filter((unit) => unit.endsWith('.service'))) {
      const [command] = unitOf(join(release, 'deploy/systemd', name))['Service']!['ExecStart']!;
      expect(() => accessSync(inRelease(command!.split(' ')[0]!), constants.X_OK)).not.toThrow();
    }
  });

  it('is installed for systemd as the manual says, with units that systemd understands', () => {
    const root = join(folder, 'root');
    const units = join(root, 'systemd');
    mkdirSync(join(units, 'service.service.d'), { recursive: true });
    // as large as it has to be
    const name = 'service-0.1.0-linux-x64';
    const small = ['--exclude=node_modules', '--exclude=packages', '--exclude=docs'];
    const renamed = ['--transform', `s/^${nameOf('0.0.1')}/${name}/`, '-C', home, nameOf('0.0.1')];
    execFileSync('tar', ['-czf', join(root, `${name}.tar.gz`), ...small, ...renamed]);
    const installed = runBlock(blockOf('docs/release.md', 'daemon-reload'), {
      folder: root,
      replace: {
        '/opt/service': join(root, 'opt'),
        '/etc/service': join(root, 'etc'),
        '/etc/systemd/system': units,
        '-g service': `-g ${process.getgid!()}`,
      },
      standIns: { sudo: SUDO, useradd: 'echo useradd "$@" >>done', systemctl: 'echo systemctl "$@" >>done' },
    });
    expect(installed).toEqual({ code: 0, out: '', err: '' });
    expect(readFileSync(join(root, 'done'), 'utf8').trim().split('\n')).toEqual([
      'useradd --system --home-dir /var/lib/service --shell /usr/sbin/nologin service',
      'systemctl daemon-reload',
      'systemctl enable --now service',
    ]);
    expect(statSync(join(root, 'etc/service.env')).mode & 0o777).toBe(0o640);
    expect(globSync('*.*', { cwd: units, exclude: ['*.d'] }).toSorted()).toEqual([
      'service-backup.service',
      'service-backup.timer',
      'service.service',
    ]);
    cpSync(join(root, 'opt/current/deploy/systemd/slurm-sudo.conf'), join(units, 'service.service.d/slurm-sudo.conf'));
    const files = globSync('*.{service,timer}', { cwd: units }).map((unit) => join(units, unit));
    for (const file of files)
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll(INSTALLED, join(root, 'opt/current')));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  /** The programs of a block that can't be had here, each call on a line. */
  function callsOf(block: Block, ...programs: string[]): string[] {
    const calls = join(folder, 'calls');
    writeFileSync(calls, '');
    const standIns = Object.fromEntries(programs.map((name) => [name, `echo "$PWD: ${name} $*" >>${calls}`]));
    expect(runBlock(block, { folder, cwd: ROOT, standIns })).toEqual({ code: 0, out: '', err: '' });
    return readFileSync(calls, 'utf8').trim().split('\n');
  }

  it('is put into a container by commands that fit the Containerfile and the compose file', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const instructions = instructionsOf(join(ROOT, 'deploy/Containerfile'));
    const wordsOf = (name: string) => instructions.filter((one) => one.name === name).map(({ words }) => words);
    const [made, built, ran] = callsOf(blockOf('docs/release.md', 'podman build'), 'npm', 'podman');
    expect(made).toBe(`${ROOT}: npm run release`);
    const [, file, variable, release_, context] = /--file (\S+) --build-arg (\w+)=(\S+) --tag service (\S+)$/.exec(
      built!,
    )!;
    expect(existsSync(join(ROOT, file!))).toBe(true);
    expect(wordsOf('ARG')).toContain(variable);
    expect([release_, context]).toEqual([`service-${version}-linux-x64`, 'dist']);
    const [, port, volume] = /--publish [\d.]+:\d+:(\d+) --volume [\w-]+:(\S+) service$/.exec(ran!)!;
    expect([[port], [volume]]).toEqual([wordsOf('EXPOSE'), wordsOf('VOLUME')]);
    expect(callsOf(blockOf('docs/release.md', 'podman compose'), 'podman')).toEqual([
      `${join(ROOT, 'deploy')}: podman compose up --detach --build`,
    ]);
    expect(existsSync(join(ROOT, 'deploy/compose.yaml'))).toBe(true);
  });

  /** What runs or ended lately, with the settings of the unit. */
  function expectRecentJobs(): void {
    const settings = join(folder, 'service.env');
    writeFileSync(settings, 'SERVICE_LOGGING_LEVEL=30\n');
    const { code, out } = runBlock(blockOf('docs/release.md', 'servicectl recent'), {
      folder,
      replace: {
        '/etc/service/service.env': settings,
        '/var/lib/service': join(home, 'data'),
        '/opt/service/current': release,
      },
      standIns: { sudo: SUDO },
    });
    expect([code, out]).toEqual([0, expect.stringContaining('## Summary')]);
  }

  /** The command of the health check in the Containerfile, on another port. */
  function health(port: string): number | null {
    const [check] = instructionsOf(join(ROOT, 'deploy/Containerfile')).filter(({ name }) => name === 'HEALTHCHECK');
    const [program, ...words] = JSON.parse(
      /CMD (\[.*\])$/.exec(check!.words)![1]!.replace(':8000/', `:${port}/`),
    ) as string[];
    return spawnSync(program!, words).status;
  }

  it(
    'runs the demo without the checkout, and the next release continues with the data',
    async () => {
      const first = start(release, ['--demo', '--port', '0', '--admin-pwd', PASSWORD]);
      onTestFailed(() => console.error(running.map((one) => one.output()).join('\n---\n')));
      const [, url] = await first.said(READY);
      expect([health(new URL(url!).port), health('1')]).toEqual([0, 1]);
      expect(first.output()).toContain(`Data folder     ${join(home, 'data')}`);
      expect(await (await fetch(`${url}/auth/login`)).text()).toContain('<!doctype html>');
      const maps = readFileSync(`/proc/${first.process.pid}/maps`, 'utf8');
      expect(maps).toContain(join(release, 'node_modules'));
      expect(maps).not.toContain(`${ROOT}/`);
      await first.said(DEMO);
      const client = await signIn(first);
      const before = await everything(client);
      expect(before.jobs).toMatchObject([{ status: 'failed' }, { status: 'done' }]);
      expect(before.images.map(({ images }) => images.length)).toEqual([18, 3]);
      await expectHelpersWork(client, before);
      expectRecentJobs();
      const complete = await everything(client);
      await stop(first);

      const next = nextRelease(release, '0.0.2');
      remove(release);
      const second = start(next, ['--demo', '--port', '0']);
      await second.said(DEMO);
      expect(second.output()).toMatch(/Service 0\.0\.2 \(commit /);
      expect(second.output()).not.toMatch(/Demo: (installing|running)/);
      expect(await everything(await signIn(second))).toEqual(complete);
      await stop(second);

      if (!LONG) return;
      const data = join(home, 'data');
      const checkout = () =>
        track(startService(['--port', '0', '--data-dir', data], { environment: { SERVICE_WEB_CLIENT: 'true' } }));
      console.log(`Started as a release: ${await figures(() => start(next, ['--port', '0']))}`);
      console.log(`Started from the checkout: ${await figures(checkout)}`);
    },
    LONG_MS,
  );
});

function checkoutSize(): string {
  const kibibytes = Number(execFileSync('du', ['-sk', 'node_modules'], { cwd: ROOT, encoding: 'utf8' }).split('\t')[0]);
  return `${Math.round(kibibytes / 1024)} MB`;
}

it('is made for the platforms that the manual names', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const lines = blockOf('docs/release.md', '--platform linux-arm64').text.trim().split('\n');
  expect(lines).toEqual(['npm ci && npm run release', 'npm run release -- --platform linux-arm64']);
  expect(scripts['release']).toBe('node scripts/release.ts');
  const { stderr } = spawnSync(join(ROOT, 'node_modules/.bin/node'), ['scripts/release.ts', '--platform', 'x'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(stderr).toMatch(/\blinux-arm64\b/);
});

it('of an unknown platform is refused', () => {
  const words = ['scripts/release.ts', '--platform', 'windows'];
  const { status, stderr } = spawnSync(join(ROOT, 'node_modules/.bin/node'), words, { cwd: ROOT, encoding: 'utf8' });
  expect([status, stderr.trim()]).toEqual([
    2,
    expect.stringMatching(/^There is no release for windows\. Choose one of linux-x64, /),
  ]);
});
