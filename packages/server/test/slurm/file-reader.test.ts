/** Many files of a person with one command, told apart again, whatever is in them or in their place. */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Command, type Commands, localHost } from '../../src/hosts/index.ts';
import { endsOfFiles, fetchFiles } from '../../src/slurm/fetch-files.ts';
import { catReader, type FileReader, shellReader, SilentFile, splitter } from '../../src/slurm/file-reader.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'service-fetch-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const path = (name: string) => join(folder, name);

function counted(): Commands & { asked: Command[] } {
  const asked: Command[] = [];
  const run: Commands['run'] = (command, options) => {
    asked.push(command);
    return localHost.run(command, options);
  };
  return { asked, run };
}

/** Whole contents, each up to a limit. */
async function contents(reader: FileReader, paths: string[], limit = Infinity): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  const wanted = paths.map((one) => ({
    path: one,
    from: 0,
    take(bytes: Buffer) {
      found.set(one, Buffer.concat([found.get(one) ?? Buffer.alloc(0), bytes]));
      return found.get(one)!.length < limit;
    },
  }));
  await reader.read(wanted, folder);
  return found;
}

it('a stream is taken apart wherever its pieces begin and end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string(), { maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }),
      async (texts, sizes) => {
        const mark = '\n=-=-=\n';
        const clean = texts.map((text) => text.replaceAll('=', ''));
        const whole = Buffer.from(clean.map((text) => mark + text).join(''));
        const bytes: Buffer[][] = clean.map(() => []);
        const split = splitter(Buffer.from(mark), async (index, part) => void bytes[index]!.push(Buffer.from(part)));
        for (let [at, turn] = [0, 0]; at < whole.length; turn++) {
          const size = sizes[turn % sizes.length]!;
          await split.write(whole.subarray(at, at + size));
          at += size;
        }
        await split.end();
        expect(bytes.map((pieces) => Buffer.concat(pieces).toString())).toEqual(clean);
      },
    ),
  );
});

const READERS = { 'with cat alone': catReader, 'with a shell': shellReader };

describe.each(Object.entries(READERS))('%s', (_, readerOf) => {
  it('one command brings many files, whatever is in them; those that are missing or empty are left out', async () => {
    const bytes = Buffer.from([0, 255, 10, 13, 200, 10]);
    writeFileSync(path('bytes'), bytes);
    writeFileSync(path('-dash'), 'text without an end of line');
    writeFileSync(path('empty'), '');
    const commands = counted();
    const found = await contents(readerOf(commands), ['bytes', 'missing', '-dash', 'empty'].map(path));
    expect(commands.asked).toHaveLength(1);
    expect([...found]).toEqual([
      [path('bytes'), bytes],
      [path('-dash'), Buffer.from('text without an end of line')],
    ]);
  });

  it('a thousand journals come with three commands at most', async () => {
    const commands = counted();
    const deep = join(folder, 'a-folder-with-a-name-that-is-as-long-as-those-of-jobs-are');
    mkdirSync(deep, { recursive: true });
    const paths = Array.from({ length: 1000 }, (_, index) => join(deep, `r0-${index}.jsonl`));
    for (const one of paths) writeFileSync(one, `{"of": "${one}"}\n`);
    const found = await contents(readerOf(commands), paths);
    expect(found.size).toBe(1000);
    expect(found.get(paths[999]!)!.toString()).toBe(`{"of": "${paths[999]}"}\n`);
    expect(commands.asked.length).toBeLessThanOrEqual(3);
  });

  it('what is known of a file does not come again', async () => {
    writeFileSync(path('known'), 'the beginning, the rest');
    let text = '';
    const take = (bytes: Buffer) => (text += bytes.toString()) !== '';
    await readerOf(localHost).read([{ path: path('known'), from: 14, take }], folder);
    expect(text).toBe(' the rest');
  });

  it('a separator of an earlier command inside a file is just bytes', async () => {
    const commands = counted();
    const separators: string[] = [];
    const spying: Commands = {
      run(command, options) {
        const made = readdirSync(folder).filter((name) => name.startsWith('separator-'));
        separators.push(...made.map((name) => readFileSync(path(name), 'utf8')));
        separators.push(...command.filter((word) => word.includes('=====')));
        return commands.run(command, options);
      },
    };
    writeFileSync(path('first'), 'first');
    await contents(readerOf(spying), [path('first')]);
    expect(separators).toHaveLength(1);
    const hostile = `before${separators[0]!.repeat(50)}after`;
    writeFileSync(path('hostile'), hostile);
    writeFileSync(path('honest'), 'honest');
    const found = await contents(readerOf(spying), [path('hostile'), path('honest')]);
    expect([...found.values()].map(String)).toEqual([hostile, 'honest']);
    expect(new Set(separators).size).toBe(2);
    expect(readdirSync(folder).filter((name) => name.startsWith('separator-'))).toEqual([]);
  });

  it('a file of ten gigabytes, a device and a folder are read as far as somebody wants them, and those behind them too', async () => {
    writeFileSync(path('huge'), 'huge');
    truncateSync(path('huge'), 10 * 2 ** 30);
    symlinkSync('/dev/zero', path(`zero-${readerOf.name}`));
    mkdirSync(path('folder'), { recursive: true });
    writeFileSync(path('last'), 'last');
    const names = ['huge', `zero-${readerOf.name}`, 'folder', 'last'];
    const found = await contents(readerOf(localHost), names.map(path), 2 ** 20);
    expect(found.get(path('huge'))!.length).toBeLessThan(3 * 2 ** 20);
    expect(found.get(path('last'))!.toString()).toBe('last');
    expect(process.memoryUsage().rss).toBeLessThan(600 * 2 ** 20);
  });

  it('a pipe that never answers is left alone, and those behind it are read', async () => {
    const pipe = path(`pipe-${readerOf.name}`);
    execFileSync('mkfifo', [pipe]);
    writeFileSync(path('behind'), 'behind');
    const found = await contents(readerOf(localHost, { silenceMs: 2000 }), [pipe, path('behind')]);
    expect([...found.values()].map(String)).toEqual(['behind']);
  });

  it('what takes the bytes may be slow, and its failure is that of the reading', async () => {
    writeFileSync(path('slow'), Buffer.alloc(2 ** 20));
    let [busy, most] = [0, 0];
    const take = async () => {
      most = Math.max(most, ++busy);
      await new Promise((resolve) => setTimeout(resolve, 5));
      busy -= 1;
      return true;
    };
    await readerOf(localHost).read([{ path: path('slow'), from: 0, take }], folder);
    expect(most).toBe(1);
    const failing = () => Promise.reject(new Error('the disk is full'));
    const reading = readerOf(localHost).read([{ path: path('slow'), from: 0, take: failing }], folder);
    await expect(reading).rejects.toThrow('the disk is full');
  });
});

it('a file system that hangs is told as such', async () => {
  const hanging: Commands = { run: (_, options) => localHost.run(['sleep', '60'], options) };
  const reading = contents(shellReader(hanging, { silenceMs: 200 }), ['/far/journal']);
  await expect(reading).rejects.toThrow(SilentFile);
  await expect(reading).rejects.toThrow('/far/journal could not be read');
});

it('more files than were asked for fail the reading, and nothing else', async () => {
  const lying: Commands = {
    run: ([, , , , separator], options) => localHost.run(['printf', '%s', separator!.repeat(5)], options),
  };
  // two separators beside each other are one file without bytes
  await expect(contents(shellReader(lying), ['/a'])).resolves.toEqual(new Map());
  const talking: Commands = {
    run: ([, , , , separator], options) => localHost.run(['printf', '%s', `${separator}a${separator}b`], options),
  };
  await expect(contents(shellReader(talking), ['/a'])).rejects.toThrow('More files came than were asked for');
});

it('large files become files, and none is made for one that is not there', async () => {
  const big = Buffer.alloc(20 * 2 ** 20, 'log\n');
  writeFileSync(path('big'), big);
  writeFileSync(path('small'), 'small');
  const to = (name: string) => join(folder, 'there', name);
  const files = ['big', 'gone', 'small'].map((name) => ({ from: path(name), to: to(name) }));
  await fetchFiles(catReader(localHost), folder, files);
  expect(readFileSync(to('big')).equals(big)).toBe(true);
  expect(readFileSync(to('small'), 'utf8')).toBe('small');
  expect(readdirSync(join(folder, 'there')).sort()).toEqual(['big', 'small']);
});

it('a log that is too long comes with its beginning, and says where the rest is', async () => {
  writeFileSync(path('sparse'), 'begins');
  truncateSync(path('sparse'), 10 * 2 ** 30);
  writeFileSync(path('next'), 'next');
  writeFileSync(path('over'), 'no room is left');
  const to = (name: string) => join(folder, 'limited', name);
  const files = ['sparse', 'next', 'over'].map((name) => ({ from: path(name), to: to(name) }));
  await fetchFiles(catReader(localHost), folder, files, { each: 100, all: 104 });
  const note = (name: string) => `\n[The log is too long to be kept here. The rest of it is at ${path(name)}]\n`;
  const sparse = readFileSync(to('sparse'), 'utf8');
  expect([sparse.slice(0, 6), sparse.slice(100)]).toEqual(['begins', note('sparse')]);
  expect(readFileSync(to('next'), 'utf8')).toBe('next');
  expect(readFileSync(to('over'), 'utf8')).toBe(note('over'));
});

it('of an error stream the end is kept', async () => {
  writeFileSync(path('err'), `${'x'.repeat(5000)}the end`);
  openSync(path('none'), 'w');
  const ends = await endsOfFiles(catReader(localHost), folder, [path('err'), path('none'), path('missing')], 20);
  expect([...ends]).toEqual([[path('err'), `${'x'.repeat(13)}the end`]]);
});
