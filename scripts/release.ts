/**
 * npm run release: makes a release in `dist`, which needs nothing of the checkout: the built web client, the sources without
 * types, the Python worker, and the packages that they need to run, among them Node and PostgreSQL.
 *
 *     npm run release -- --platform linux-arm64
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { compileFolder } from './release/compile.ts';
import { copyDependencies, PLATFORM } from './release/dependencies.ts';

const ROOT = join(import.meta.dirname, '..');
/** What goes out as it is. */
const AS_THEY_ARE = ['CHANGELOG.md', 'LICENSE', 'README.md', 'deploy', 'docs', 'packages/demo-tasks'];
const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

interface Manifest {
  version: string;
  exports?: Record<string, string>;
  [name: string]: unknown;
}

const readJson = <T>(path: string) => JSON.parse(readFileSync(path, 'utf8')) as T;

function run(command: string, ...words: string[]): string {
  const { status, stdout, error } = spawnSync(command, words, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`${command} ${words.join(' ')} failed`, { cause: error });
  return stdout.trim();
}

/** The commit of the sources, if git knows it. */
function commit(): string | undefined {
  try {
    return run('git', 'describe', '--always', '--dirty', '--exclude=*');
  } catch {
    return undefined;
  }
}

/** A package of ours as it is installed: its version, and exports that name JavaScript. */
function writeManifest(name: string, to: string, version: string): void {
  const manifest = readJson<Manifest>(join(ROOT, 'packages', name, 'package.json'));
  delete manifest['devDependencies'];
  delete manifest['scripts'];
  const exported = Object.entries(manifest.exports ?? {}).map(([key, file]) => [key, file.replace(/\.ts$/, '.js')]);
  const written = {
    ...manifest,
    version,
    ...(manifest.exports && { exports: Object.fromEntries(exported) as object }),
  };
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(written, null, 2)}\n`);
}

function copyWebClient(to: string): void {
  run(process.execPath, 'packages/server/bin/build-web.cjs');
  const builds = join(ROOT, 'packages/web/build');
  const { main } = readJson<{ main: string }>(join(builds, 'package.json'));
  const build = main.split('/')[1]!;
  for (const part of ['package.json', build]) {
    cpSync(join(builds, part), join(to, 'build', part), {
      recursive: true,
      filter: (path) => basename(path) !== 'used-by' && !path.endsWith('.map'),
    });
  }
}

function fill(folder: string, version: string, platform: string): void {
  const packages = join(folder, 'packages');
  for (const name of ['contract', 'server', 'web']) {
    mkdirSync(join(packages, name), { recursive: true });
    writeManifest(name, join(packages, name), version);
    if (name !== 'web') compileFolder(join(ROOT, 'packages', name, 'src'), join(packages, name, 'src'));
  }
  for (const name of ['launch', 'start', 'servicectl'])
    cpSync(join(ROOT, `packages/server/bin/${name}.cjs`), join(packages, `server/bin/${name}.cjs`));
  copyWebClient(join(packages, 'web'));
  copyDependencies(ROOT, folder, platform);
  mkdirSync(join(folder, 'node_modules/@service'), { recursive: true });
  symlinkSync('../../packages/contract', join(folder, 'node_modules/@service/contract'));
  for (const path of AS_THEY_ARE)
    cpSync(join(ROOT, path), join(folder, path), {
      recursive: true,
      filter: (file) => basename(file) !== '__pycache__',
    });
  // the same file twice, no link: it follows links to itself, and does what its name says
  for (const program of ['service', 'servicectl'])
    cpSync(join(import.meta.dirname, 'release/bin/service'), join(folder, 'bin', program));
  const release = { version, commit: commit(), platform };
  writeFileSync(join(folder, 'release.json'), `${JSON.stringify(release, null, 2)}\n`);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ private: true, type: 'module', version })}\n`);
}

const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MB`;
const sizeOf = (folder: string) => Number(run('du', '-sk', folder).split('\t')[0]) * 1024;

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(ROOT, 'dist') },
    platform: { type: 'string', default: PLATFORM },
    /** For a release between two versions, such as one of every night. */
    version: { type: 'string', default: readJson<Manifest>(join(ROOT, 'package.json')).version },
    /** Of the compression: 1 is quick, 9 is small. */
    level: { type: 'string', default: '6' },
  },
});
if (!PLATFORMS.includes(values.platform)) {
  console.error(`There is no release for ${values.platform}. Choose one of ${PLATFORMS.join(', ')}.`);
  process.exit(2);
}

const out = resolve(values.out);
const name = `service-${values.version}-${values.platform}`;
const folder = join(out, name);
const tarball = `${folder}.tar.gz`;
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
fill(folder, values.version, values.platform);
const unpacked = sizeOf(folder);
// the same files, the same names and owners, whoever makes it
run(
  'tar',
  '--create',
  `--use-compress-program=gzip -${values.level}`,
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  '--sort=name',
  `--file=${tarball}`,
  `--directory=${out}`,
  name,
);
rmSync(folder, { recursive: true, force: true });
console.log(`${tarball}: ${mebibytes(statSync(tarball).size)}, unpacked ${mebibytes(unpacked)}`);
