/** Many files with one command, and told apart again. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { type Commands, localHost } from '../../../src/hosts/index.ts';
import { fetchContents, fetchFiles, newSeparator, splitter } from '../../../src/runners/slurm/fetch.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'service-fetch-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function counted(): Commands & { count: number } {
  const commands = {
    count: 0,
    run: ((command, options) => {
      commands.count += 1;
      return localHost.run(command, options);
    }) as Commands['run'],
  };
  return commands;
}

function separator() {
  const [path, text] = [join(folder, 'separator'), newSeparator()];
  writeFileSync(path, text);
  return { path, text };
}

it('a stream is taken apart wherever its pieces begin and end', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string(), { maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }),
      (contents, sizes) => {
        const mark = '\n=-=-=\n';
        const clean = contents.map((text) => text.replaceAll('=', ''));
        const whole = Buffer.from(clean.map((text) => mark + text).join(''));
        const parts: string[] = clean.map(() => '');
        const bytes: Buffer[][] = clean.map(() => []);
        const split = splitter(Buffer.from(mark), (index, part) => void bytes[index]!.push(Buffer.from(part)));
        for (let [at, turn] = [0, 0]; at < whole.length; turn++) {
          const size = sizes[turn % sizes.length]!;
          split.write(whole.subarray(at, at + size));
          at += size;
        }
        split.end();
        bytes.forEach((pieces, index) => (parts[index] = Buffer.concat(pieces).toString()));
        expect(parts).toEqual(clean);
      },
    ),
  );
});

it('one command brings many files, whatever is in them; those that are missing or empty are left out', async () => {
  const path = (name: string) => join(folder, name);
  const bytes = Buffer.from([0, 255, 10, 13, 200, 10]);
  writeFileSync(path('bytes'), bytes);
  writeFileSync(path('-dash'), 'text without an end of line');
  writeFileSync(path('empty'), '');
  const commands = counted();
  const paths = ['bytes', 'missing', '-dash', 'empty'].map(path);
  const found = await fetchContents(commands, separator(), paths);
  expect(commands.count).toBe(1);
  expect([...found]).toEqual([
    [path('bytes'), bytes],
    [path('-dash'), Buffer.from('text without an end of line')],
  ]);
});

it('a thousand journals come with three commands at most', async () => {
  const commands = counted();
  const deep = join(folder, 'a-folder-with-a-name-that-is-as-long-as-those-of-jobs-are');
  mkdirSync(deep);
  const paths = Array.from({ length: 1000 }, (_, index) => join(deep, `r0-${index}.jsonl`));
  for (const path of paths) writeFileSync(path, `{"of": "${path}"}\n`);
  const found = await fetchContents(commands, separator(), paths);
  expect(found.size).toBe(1000);
  expect(found.get(paths[999]!)!.toString()).toBe(`{"of": "${paths[999]}"}\n`);
  expect(commands.count).toBeLessThanOrEqual(3);
});

it('large files become files, and none is made for one that is not there', async () => {
  const big = Buffer.alloc(20 * 2 ** 20, 'log\n');
  writeFileSync(join(folder, 'big'), big);
  writeFileSync(join(folder, 'small'), 'small');
  const to = (name: string) => join(folder, 'there', name);
  const files = ['big', 'gone', 'small'].map((name) => ({ from: join(folder, name), to: to(name) }));
  await fetchFiles(localHost, separator(), files);
  expect(readFileSync(to('big')).equals(big)).toBe(true);
  expect(readFileSync(to('small'), 'utf8')).toBe('small');
  expect(() => readFileSync(to('gone'))).toThrow('ENOENT');
});
