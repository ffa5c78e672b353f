/** The worker as one file: a zip that every Python from 3.9 on runs as it is. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { workerArchive } from '../../src/runners/worker-archive.ts';
import { allInterpreters, cleanUp, newFolder, workerFile } from './batch.ts';

afterAll(cleanUp);

const RUNNERS = join(import.meta.dirname, '../../src/runners');
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const sources = readdirSync(join(RUNNERS, 'worker')).filter((name) => name.endsWith('.py'));

it('has all modules of the package, whole, and nothing else', () => {
  const look = `import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    print(json.dumps([archive.namelist(), archive.testzip(), [one.compress_type for one in archive.infolist()]]))`;
  const said = execFileSync('python3', ['-c', look, workerFile()]).toString();
  const [names, broken, compressions] = JSON.parse(said) as [string[], string | null, number[]];
  expect(names.toSorted()).toEqual(
    ['__main__.py', ...sources.filter((name) => name !== 'zip_main.py').map((name) => `worker/${name}`)].toSorted(),
  );
  expect(broken).toBeNull();
  expect(new Set(compressions)).toEqual(new Set([0]));
});

it('has the same bytes wherever and whenever it is built from the same sources', () => {
  const elsewhere = newFolder();
  cpSync(join(RUNNERS, 'worker-archive.ts'), join(elsewhere, 'worker-archive.ts'));
  mkdirSync(join(elsewhere, 'worker', '__pycache__'), { recursive: true });
  // written in another order, at another time, beside what Python leaves
  for (const name of sources.toReversed()) {
    cpSync(join(RUNNERS, 'worker', name), join(elsewhere, 'worker', name));
    utimesSync(join(elsewhere, 'worker', name), 1, 1);
  }
  writeFileSync(join(elsewhere, 'worker/__pycache__/run.cpython-39.pyc'), 'x');
  writeFileSync(join(elsewhere, 'package.json'), '{"type": "module"}');
  const build = `import { workerArchive } from ${JSON.stringify(join(elsewhere, 'worker-archive.ts'))};
process.stdout.write(workerArchive());`;
  const built = execFileSync(process.execPath, ['--input-type=module', '--eval', build], {
    env: { ...process.env, TZ: 'Pacific/Kiritimati' },
  });
  expect(hashOf(built)).toBe(hashOf(workerArchive()));
});

describe.each(allInterpreters().map((python) => ({ python })))('with $python', ({ python }) => {
  const run = (...words: string[]) =>
    spawnSync(python, ['-I', '-S', workerFile(), ...words], { encoding: 'utf8', input: '' });

  it('says how it is run when it is run in another way', () => {
    expect(run()).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('worker.pyz --pack') });
  });

  it('finds all that it imports, and writes nothing beside itself', () => {
    expect(run('--follow')).toMatchObject({ status: 0, stdout: '{"alive": true}\n', stderr: '' });
    const names = sources.map((name) => name.slice(0, -'.py'.length)).filter((name) => !/^(__|zip_main)/.test(name));
    const code = `import sys, importlib
sys.path.insert(0, ${JSON.stringify(workerFile())})
for name in ${JSON.stringify(names)}: importlib.import_module('worker.' + name)
print(len(${JSON.stringify(names)}))`;
    expect(spawnSync(python, ['-I', '-S', '-c', code], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stdout: `${names.length}\n`,
      stderr: '',
    });
    expect(readdirSync(join(workerFile(), '..'))).toEqual(['worker.pyz']);
  });

  it('names the module and the line of a defect', () => {
    const { status, stderr } = run('/nowhere/to/be/found');
    expect(status).toBe(1);
    expect(stderr).toMatch(/worker\.pyz\/worker\/run\.py", line \d+, in run_batch\n/);
  });
});
