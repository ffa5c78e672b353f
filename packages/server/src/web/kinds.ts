/** What the service serves and builds itself when it has to: the web client and the manual. Each is built from its folder. */
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../../..');

export interface Kind {
  /** What people are told is built. */
  name: string;
  folder: string;
  /** Files that a build is made from, as patterns in the folder. */
  sources: readonly string[];
  /** A file in the folder that is there when there is something to build. */
  source: string;
  /** A file that only a complete build has. */
  sign: string;
  /** What the current build is started by, or begins with. */
  entry: string;
  /** A file in the folder, there while somebody builds. */
  lock: string;
  /** The package that builds, its program, and what it is told. */
  builder: { package: string; program: string; args: (out: string) => string[] };
  /** Builds it now. */
  command: string;
}

/** Other libraries, another build. */
const LIBRARIES = '../../package-lock.json';

export const CLIENT: Kind = {
  name: 'web client',
  folder: join(ROOT, 'packages/web'),
  sources: [
    'src/**',
    '*.{ts,json}',
    '../contract/src/**',
    '../demo-tasks/**/*.{py,json,toml}',
    '../../docs/guide/**',
    LIBRARIES,
  ],
  source: 'package.json',
  sign: 'handler.js',
  entry: 'index.js',
  lock: '.svelte-kit/build.lock',
  // where to is in WEB_BUILD_FOLDER: Kit's adapter has no argument for it
  builder: { package: 'vite', program: 'bin/vite.js', args: () => ['build', '--logLevel', 'warn'] },
  command: 'npm run build:web',
};

export const MANUAL: Kind = {
  name: 'manual',
  folder: join(ROOT, 'docs/.vitepress'),
  sources: [
    '*.{ts,mts}',
    'theme/**',
    '../*.{md,ts,json}',
    '../[a-z]*/**',
    '../../{CHANGELOG,CONTRIBUTING}.md',
    // the reference of the API is made from it
    '../../packages/contract/src/**',
    LIBRARIES,
  ],
  source: 'config.ts',
  sign: 'index.html',
  entry: 'index.html',
  lock: 'cache/build.lock',
  builder: { package: 'vitepress', program: 'bin/vitepress.js', args: (out) => ['build', '..', '--outDir', out] },
  command: 'npm run build:manual',
};
