/**
 * The packages that a release needs, as the lock file has them: those that are not for development alone.
 *
 * For this machine they are taken from what `npm ci` installed here. For another one npm installs them aside.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';

interface Locked {
  link?: true;
  dev?: true;
}

/** What nothing needs to run: types, maps, what a C compiler would want, and the parts of ssh2 that are not compiled. */
const NEEDLESS_FILES = /\.(d\.[cm]?ts|[cm]?tsx?|map)$/;
const NEEDLESS_FOLDERS = /^node_modules\/(node-[\w-]+\/(include|share)|(cpu-features|buildcheck|nan)(\/|$))/;
const NEEDLESS_NAMES = new Set(['.bin', '.github', 'CHANGELOG.md', 'test', 'tests', 'benchmark', 'benchmarks']);

export const PLATFORM = `${process.platform}-${process.arch}`;

function isNeeded(path: string): boolean {
  if (NEEDLESS_FOLDERS.test(path) || NEEDLESS_NAMES.has(basename(path))) return false;
  return !NEEDLESS_FILES.test(path);
}

/** Has npm install what another machine needs. */
function installFor(platform: string, root: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'service-release-'));
  const manifests = [
    'package.json',
    'package-lock.json',
    ...['contract', 'server', 'web'].map((name) => `packages/${name}/package.json`),
  ];
  for (const file of manifests) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  const [os, cpu] = platform.split('-');
  const words = ['ci', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', `--os=${os}`, `--cpu=${cpu}`];
  const { status } = spawnSync('npm', words, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`npm could not install the packages for ${platform}.`);
  return folder;
}

function copyPackage(from: string, to: string, path: string): void {
  cpSync(join(from, path), join(to, path), {
    recursive: true,
    verbatimSymlinks: true,
    // packages inside it have lines of their own in the lock file
    filter: (file) => {
      const below = relative(from, file);
      return basename(below) !== 'node_modules' && isNeeded(below);
    },
  });
}

/** Copies what is needed into the folder of a release. */
export function copyDependencies(root: string, to: string, platform: string): void {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const from = platform === PLATFORM ? root : installFor(platform, root);
  try {
    for (const [path, { link, dev }] of Object.entries(packages)) {
      // those for other machines are not there
      if (!path.includes('node_modules/') || link || dev || !isNeeded(path) || !existsSync(join(from, path))) continue;
      copyPackage(from, to, path);
    }
  } finally {
    if (from !== root) rmSync(from, { recursive: true, force: true });
  }
}
