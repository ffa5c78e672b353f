/** `worker.pyz --follow`: what is new in the journals of packs, as long as somebody listens. */
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { until } from '../../support/until.ts';
import { cleanUp, interpreters, makePacks, newFolder, whenDone, workerFile, turnsOf } from '../batch.ts';

afterAll(cleanUp);

interface Line {
  folder?: string;
  file?: string;
  offset?: number;
  next?: number;
  data?: string;
  broken?: true;
  alive?: true;
}

describe.concurrent.each(interpreters().map((python) => ({ python })))('following with $python', ({ python }) => {
  const turn = turnsOf(python);
  const follow = (...folders: string[]) => {
    const follower = spawn(python, ['-I', '-S', workerFile(), '--follow', ...folders], { stdio: 'pipe' });
    let [text, stderr] = ['', ''];
    follower.stdout.on('data', (data: Buffer) => (text += data.toString()));
    follower.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    const lines = () =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line);
    const pieces = (file: string) => lines().filter((line) => line.file === file);
    const dataOf = (file: string) => pieces(file).map((piece) => piece.data ?? '');
    return {
      process: follower,
      done: whenDone(follower, () => stderr),
      say: (message: object) => follower.stdin.write(`${JSON.stringify(message)}\n`),
      lines,
      pieces,
      dataOf,
      text: (file: string) => dataOf(file).join(''),
    };
  };
  type Follower = ReturnType<typeof follow>;
  const leave = async (follower: Follower) => {
    follower.process.stdin.end();
    expect(await follower.done).toEqual({ code: 0, stderr: '' });
  };

  turn.it('tells what is there and what comes, whole records only', async () => {
    const folder = newFolder();
    const [one, two] = [join(folder, 'r0-000000.jsonl'), join(folder, 'r0-000001.2.jsonl')];
    writeFileSync(one, '{"a": 1}\n{"b": 2}\n{"c":');
    writeFileSync(join(folder, 'r0-000000.claim'), '{}\n');
    writeFileSync(join(folder, 'notes.jsonl'), '{}\n');
    const follower = follow(folder);
    follower.say({ offsets: {} });
    await until(() => follower.pieces('r0-000000.jsonl').length === 1);
    appendFileSync(one, ' 3}\n');
    writeFileSync(two, '{"d": 4}\n');
    await until(() => follower.pieces('r0-000000.jsonl').length === 2 && follower.text('r0-000001.2.jsonl'));
    expect(follower.lines().filter((line) => !line.alive)).toEqual([
      { folder, file: 'r0-000000.jsonl', offset: 0, next: 18, data: '{"a": 1}\n{"b": 2}\n' },
      { folder, file: 'r0-000000.jsonl', offset: 18, next: 27, data: '{"c": 3}\n' },
      { folder, file: 'r0-000001.2.jsonl', offset: 0, next: 9, data: '{"d": 4}\n' },
    ]);
    expect(follower.lines()).toContainEqual({ alive: true });
    await leave(follower);
  });

  turn.it('begins where the listener was', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'r0-000000.jsonl'), 'old\nnew\n');
    writeFileSync(join(folder, 'r0-000001.jsonl'), 'known\n');
    const follower = follow(folder);
    follower.say({ offsets: { 'r0-000000.jsonl': 4, 'r0-000001.jsonl': 6 } });
    await until(() => follower.text('r0-000000.jsonl') === 'new\n');
    appendFileSync(join(folder, 'r0-000001.jsonl'), 'more\n');
    await until(() => follower.text('r0-000001.jsonl') === 'more\n');
    expect(follower.pieces('r0-000001.jsonl')).toMatchObject([{ offset: 6, next: 11 }]);
    await leave(follower);
  });

  turn.it('waits for a folder that is not there yet', async () => {
    const folder = join(newFolder(), 'later');
    const follower = follow(folder);
    follower.say({ offsets: {} });
    await until(() => follower.lines().length > 0);
    mkdirSync(`${folder}.new`);
    writeFileSync(join(`${folder}.new`, 'r1-000000.jsonl'), 'here\n');
    renameSync(`${folder}.new`, folder);
    await until(() => follower.text('r1-000000.jsonl') === 'here\n');
    await leave(follower);
  });

  turn.it('hears of more folders and forgets folders, while it runs', async () => {
    const folders = [newFolder(), newFolder()] as const;
    const journals = folders.map((folder) => join(folder, 'r0-000000.jsonl'));
    for (const journal of journals) writeFileSync(journal, 'first\n');
    const follower = follow();
    const heard = (index: 0 | 1) =>
      follower.lines().flatMap(({ folder, data }) => (folder === folders[index] ? [data] : []));
    follower.say({ follow: folders[0], offsets: {} });
    await until(() => heard(0).length === 1);
    follower.say({ follow: folders[1], offsets: { 'r0-000000.jsonl': 6 } });
    follower.say({ forget: folders[0] });
    for (const journal of journals) appendFileSync(journal, 'second\n');
    await until(() => heard(1).length === 1);
    expect(heard(1)).toEqual(['second\n']);
    expect(heard(0).filter((data) => data === 'second\n').length).toBeLessThanOrEqual(1); // it may have been quicker
    const before = heard(0).length;
    for (const journal of journals) appendFileSync(journal, 'third\n');
    await until(() => heard(1).length === 2);
    expect(heard(0)).toHaveLength(before);
    await leave(follower);
  });

  turn.it('cuts much into pieces of a megabyte at most, those of a large record one after the other', async () => {
    const folder = newFolder();
    const lines = [...Array.from({ length: 3000 }, (_, n) => `{"n": ${n}, "x": "${'y'.repeat(1000)}"}\n`)];
    const large = `{"large": "${'z'.repeat(3_000_000)}"}\n`;
    const content = lines.join('') + large + lines.join('');
    writeFileSync(join(folder, 'r0-000000.jsonl'), content);
    const follower = follow(folder);
    follower.say({ offsets: {} });
    await until(() => follower.pieces('r0-000000.jsonl').at(-1)?.next === content.length);
    const pieces = follower.pieces('r0-000000.jsonl');
    expect(pieces.map(({ data }) => data).join('')).toBe(content);
    const offsets = pieces.map(({ offset }) => offset);
    expect(offsets).toEqual([0, ...pieces.slice(0, -1).map(({ next }) => next)]);
    expect(Math.max(...pieces.map(({ data }) => data!.length))).toBeLessThanOrEqual(2 ** 20);
    await leave(follower);
  });

  turn.it(
    'gives up a record that has no end, and a pipe or a link in the place of a journal, and goes on with others',
    async () => {
      const folder = newFolder();
      writeFileSync(join(folder, 'r0-000000.jsonl'), '{"a": 1}\n');
      truncateSync(join(folder, 'r0-000000.jsonl'), 10 * 2 ** 30);
      execFileSync('mkfifo', [join(folder, 'r0-000001.jsonl')]);
      symlinkSync('/dev/zero', join(folder, 'r0-000002.jsonl'));
      writeFileSync(join(folder, 'r0-000003.jsonl'), Buffer.from([0x7b, 0xff, 0xfe, 0x80, 0x7d, 0x0a]));
      const follower = follow();
      follower.say({ follow: folder, offsets: {}, longest: 4 * 2 ** 20 });
      await until(() => follower.text('r0-000003.jsonl') !== '' && follower.lines().some(({ broken }) => broken));
      expect(Buffer.from(follower.text('r0-000003.jsonl'), 'latin1')[1]).toBe(0xff);
      const { file } = follower.lines().find(({ broken }) => broken)!;
      expect([file, follower.text(file!)]).toEqual(['r0-000000.jsonl', '{"a": 1}\n']);
      expect(follower.pieces('r0-000001.jsonl').concat(follower.pieces('r0-000002.jsonl'))).toEqual([]);
      await leave(follower);
    },
  );

  turn.it(
    'tells what a worker writes while it writes, with another listener going on where the first left',
    async () => {
      const flag = join(newFolder(), 'flag');
      const wait = `if [ "$(cat "$2")" -gt 9 ]; then until [ -e '${flag}' ]; do sleep 0.02; done; fi`;
      const command = ['/bin/bash', '-c', `${wait}; echo "hello $2"`, 'task'];
      const packs = makePacks({ python, command, packs: [Array.from({ length: 20 }, (_, n) => String(n))] });
      const file = 'r3-000000.jsonl';
      const first = follow(packs.outputs);
      first.say({ offsets: {} });
      const worker = packs.start();
      await until(() => /"end"/.test(first.text(file)));
      await leave(first);
      const second = follow(packs.outputs);
      second.say({ offsets: { [file]: first.pieces(file).at(-1)!.next } });
      writeFileSync(flag, '');
      await worker.done;
      await until(() => /"finished"/.test(second.text(file)));
      const records = (first.text(file) + second.text(file)).trim().split('\n');
      expect(records.map((line) => JSON.parse(line) as object)).toEqual(packs.records());
      await leave(second);
    },
  );

  it.each(
    turn.of([
      ['standard input is closed, before anything was said', (follower: Follower) => follower.process.stdin.end()],
      [
        'nobody reads any more',
        (follower: Follower, journal: string) => {
          follower.say({ offsets: {} });
          follower.process.stdout.destroy();
          writeFileSync(journal, 'news\n');
        },
      ],
    ]),
  )('ends when %s', async (_, end) => {
    const folder = newFolder();
    const follower = follow(folder);
    end(follower, join(folder, 'r0-000000.jsonl'));
    expect(await follower.done).toEqual({ code: 0, stderr: '' });
  });
});
