/** What comes from others is checked by rules that can fail: a lock file that somebody doctored is named. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { remove, ROOT, temporaryFolder } from './support/processes.ts';

type Entry = Record<string, unknown>;
interface Files {
  lock: { packages: Record<string, Entry> };
  manifest: { allowScripts: Record<string, unknown> };
  /** What lies in node_modules of this machine. */
  installed: Record<string, Entry>;
}

const folders: string[] = [];
afterAll(() => folders.forEach(remove));

const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8')) as never;

function check(folder: string): { status: number | null; said: string[] } {
  const command = [join(ROOT, 'scripts/check-dependencies.ts'), folder];
  const { status, stderr } = spawnSync(join(ROOT, 'node_modules/.bin/node'), command, { encoding: 'utf8' });
  return { status, said: stderr.split('\n').filter((line) => line !== '') };
}

/** The files of the project as they are, with a change, in a folder where little is installed. */
function doctored(change: (files: Files) => void): ReturnType<typeof check> {
  const folder = temporaryFolder('dependencies');
  folders.push(folder);
  const files: Files = { lock: read('package-lock.json'), manifest: read('package.json'), installed: {} };
  for (const name of ['ssh2', 'cpu-features', 'buildcheck']) {
    cpSync(join(ROOT, 'node_modules', name, 'package.json'), join(folder, 'node_modules', name, 'package.json'));
  }
  change(files);
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(files.lock));
  writeFileSync(join(folder, 'package.json'), JSON.stringify(files.manifest));
  for (const [name, content] of Object.entries(files.installed)) {
    mkdirSync(join(folder, 'node_modules', name), { recursive: true });
    writeFileSync(join(folder, 'node_modules', name, 'package.json'), JSON.stringify(content));
  }
  return check(folder);
}

const locked = ({ lock }: Files, name: string) => lock.packages[`node_modules/${name}`]!;

const NEW = { version: '1.0.0', integrity: `sha512-${'a'.repeat(86)}==`, license: 'MIT' };
const add = (files: Files, entry: Entry) => (files.lock.packages['node_modules/new'] = { ...NEW, ...entry });

describe('the check of dependencies', () => {
  it('is content with the project as it is, with and without what is installed', () => {
    expect(check(ROOT)).toEqual({ status: 0, said: [] });
    expect(doctored(() => undefined)).toEqual({ status: 0, said: [] });
  });

  const CASES: [string, (files: Files) => void, RegExp][] = [
    ['a package without a hash', (files) => delete locked(files, 'zod')['integrity'], /^zod .* no sha512/],
    ['a hash of a broken kind', (files) => (locked(files, 'zod')['integrity'] = 'sha1-abc='), /^zod .* no sha512/],
    [
      'a package from a place of its own',
      (files) => (locked(files, 'zod')['resolved'] = 'https://example.org/zod.tgz'),
      /^zod .*example\.org/,
    ],
    [
      'a package that another system needs and nobody locked',
      ({ lock }) => delete lock.packages['node_modules/@node-rs/bcrypt-linux-arm64-gnu'],
      /bcrypt needs @node-rs\/bcrypt-linux-arm64-gnu on some systems/,
    ],
    ['a new install script', (files) => add(files, { hasInstallScript: true }), /^new has an install script/],
    [
      'an install script deep in the tree',
      (files) => (files.lock.packages['node_modules/zod/node_modules/@a/new'] = { ...NEW, hasInstallScript: true }),
      /^@a\/new has an install script/,
    ],
    [
      'an install script that the lock file hides',
      (files) => {
        add(files, {});
        files.installed['new'] = { license: 'MIT', scripts: { postinstall: 'node steal.js' } };
      },
      /^new 1\.0\.0 has a script "postinstall"/,
    ],
    ['an undecided script', ({ manifest }) => delete manifest.allowScripts['ssh2'], /^ssh2 has an install script/],
    ['a decision about a version', ({ manifest }) => (manifest.allowScripts['ssh2@1'] = true), /names ssh2@1/],
    ['a decision that is none', ({ manifest }) => (manifest.allowScripts['ssh2'] = 'yes'), /true or false for ssh2/],
    ['a copyleft licence', (files) => add(files, { license: 'GPL-3.0-only' }), /^new 1\.0\.0 is under GPL-3\.0-only/],
    ['one of two licences', (files) => add(files, { license: '(MIT AND GPL-2.0-only)' }), /^new .* GPL-2\.0-only/],
    ['licences for a person to read', (files) => add(files, { license: 'X AND (MIT OR Y)' }), /^new .* is under X AND/],
    ['no licence', (files) => add(files, { license: undefined }), /^new .* says nowhere/],
    [
      'another licence in the package than in the lock file',
      (files) => {
        add(files, {});
        files.installed['new'] = { license: 'SEE LICENSE IN license.txt' };
      },
      /^new .* is under SEE LICENSE/,
    ],
    ['a tool that is delivered', (files) => delete locked(files, 'axe-core')['dev'], /^axe-core .* development only/],
    [
      'a package of ours under another licence',
      ({ lock }) => (lock.packages['packages/web']!['license'] = 'MIT'),
      /^packages\/web must be under BSD-3-Clause/,
    ],
  ];
  it.each(CASES)('names %s, and nothing else', (_, change, problem) => {
    const { status, said } = doctored(change);
    expect(status).toBe(1);
    expect(said).toEqual([expect.stringMatching(problem)]);
  });

  it('takes a choice of licences of which one is compatible', () => {
    expect(doctored((files) => add(files, { license: '(GPL-3.0-only OR MIT)' }))).toEqual({ status: 0, said: [] });
  });
});
