/** Warm parents as the service keeps them. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, expect, it, onTestFinished } from 'vitest';

import { localHost } from '../../src/hosts/index.ts';
import { createLocalRunner, createWarmParents } from '../../src/runners/index.ts';
import { lockHolder } from '../../src/runners/lock.ts';
import { cleanUp, isAlive, makeScript, newFolder, smallBatch } from './batch.ts';

afterAll(cleanUp);

const never = new AbortController().signal;
const GENEROUS = { timeout: 40_000, interval: 100 };

function service(folder: string, mostMemory = 2 ** 40) {
  const warmParents = createWarmParents({ host: localHost, folder, idleSeconds: 120, mostMemory });
  onTestFinished(() => warmParents.close());
  const runner = createLocalRunner({ host: localHost, slots: 2, warmParents }).with('/usr/bin/python3');
  return { warmParents, runner };
}

function counted() {
  const imported = join(newFolder(), 'imported');
  writeFileSync(imported, '');
  const script = makeScript('import costly\nprint("ran")\n', {
    costly: `open(${JSON.stringify(imported)}, 'a').write('x')\n`,
  });
  return { command: ['/usr/bin/python3', script], imports: () => readFileSync(imported, 'utf8').length };
}

const run = async ({ runner }: ReturnType<typeof service>, command: string[]) => {
  const batch = { ...smallBatch(newFolder()), command, warm: true };
  expect(await runner.run(batch, { onRecords: () => undefined, stop: never, leave: never })).toBe('finished');
  expect(readFileSync(join(batch.taskFolder, 'one-log.txt'), 'utf8')).toBe('ran\n');
};

const only = (folder: string) =>
  join(
    folder,
    readdirSync(folder).find((name) => name !== 'lease')!,
  );

it('one is found by the next process of the service, and by those beside it', async () => {
  const folder = join(newFolder(), 'warm');
  const task = counted();
  const [first, second] = [service(folder), service(folder)];
  await run(first, task.command);
  first.warmParents.close();
  await Promise.all([run(second, task.command), run(second, task.command)]);
  expect(task.imports()).toBe(1);
  expect(await second.warmParents.numbers()).toMatchObject({ count: 1 });
  expect(statSync(only(folder)).mode & 0o777).toBe(0o700);
});

it('one that was killed is followed by another', async () => {
  const folder = join(newFolder(), 'warm');
  const task = counted();
  const here = service(folder);
  await run(here, task.command);
  const killed = (await lockHolder(only(folder)))!;
  process.kill(killed.pid, 'SIGKILL');
  await expect.poll(() => isAlive(killed.pid), GENEROUS).toBe(false);
  await run(here, task.command);
  await run(here, task.command);
  expect(task.imports()).toBe(2);
});

it('those that nobody uses end where they take too much memory', async () => {
  const folder = join(newFolder(), 'warm');
  const task = counted();
  const here = service(folder, 1);
  await run(here, task.command);
  const { pid } = (await lockHolder(only(folder)))!;
  await expect.poll(() => isAlive(pid), GENEROUS).toBe(false);
  await run(here, task.command);
  expect(task.imports()).toBe(2);
}, 60_000);

it('what somebody writes in the place of its state is not believed, and nothing is signalled for it', async () => {
  const folder = join(newFolder(), 'warm');
  const here = service(folder);
  const task = counted();
  await run(here, task.command);
  const place = only(folder);
  const { pid } = (await lockHolder(place))!;
  const before = readFileSync(join(place, 'lock'));
  writeFileSync(join(place, 'lock'), `${process.pid} 1`);
  expect(await here.warmParents.numbers()).toEqual({ count: 0, memory: 0 });
  writeFileSync(join(place, 'lock'), before);
  for (const state of ['{', '[]', '{"memory_bytes": "x"}', 'x'.repeat(3 * 2 ** 20)]) {
    writeFileSync(join(place, 'state.json'), state);
    expect(await here.warmParents.numbers()).toEqual({ count: 0, memory: 0 });
  }
  await sleep(100);
  expect(isAlive(pid)).toBe(true);
});

it('a command that is no script of Python has none, and runs', async () => {
  const folder = join(newFolder(), 'warm');
  const here = service(folder);
  await run(here, ['/bin/echo', 'ran']).catch(() => undefined);
  expect(here.warmParents.folderFor(['/bin/echo', 'ran'], { environment: {}, workingFolder: '/' })).toBeUndefined();
  expect(await here.warmParents.numbers()).toEqual({ count: 0, memory: 0 });
});

it('one ends when its environment is moved away, and what is made in its place is imported', async () => {
  const root = newFolder();
  const environment = join(root, 'environment');
  const make = (word: string) => {
    execFileSync('/usr/bin/python3', ['-m', 'venv', '--without-pip', environment]);
    const [site] = readdirSync(join(environment, 'lib'));
    const folder = join(environment, 'lib', site!, 'site-packages');
    writeFileSync(join(folder, 'library.py'), `word = "${word}"\n`);
    writeFileSync(join(folder, 'task.py'), 'import library\nprint(library.word)\n');
    return [join(environment, 'bin/python'), join(folder, 'task.py')];
  };
  const folder = join(root, 'warm');
  const here = service(folder);
  const words = async (command: string[]) => {
    const batch = { ...smallBatch(newFolder()), command, warm: true };
    await here.runner.run(batch, { onRecords: () => undefined, stop: never, leave: never });
    return readFileSync(join(batch.taskFolder, 'one-log.txt'), 'utf8').trim();
  };
  const command = make('first');
  expect(await words(command)).toBe('first');
  const { pid } = (await lockHolder(only(folder)))!;
  renameSync(environment, `${environment}-removed`);
  await expect.poll(() => isAlive(pid), GENEROUS).toBe(false);
  expect(make('second')).toEqual(command);
  expect(await words(command)).toBe('second');
}, 60_000);

it('another set of variables has one of its own', () => {
  const { warmParents } = service(join(newFolder(), 'warm'));
  const of = (environment: Record<string, string>, workingFolder = '/', python = '/usr/bin/python3') =>
    warmParents.folderFor([python, '/a/task.py'], { environment, workingFolder });
  const all = [of({}), of({ A: '1' }), of({ A: '2' }), of({}, '/tmp'), of({}, '/', '/other/python3')];
  expect(new Set(all).size).toBe(5);
  expect(of({ A: '1', B: '2' })).toBe(of({ B: '2', A: '1' }));
});
