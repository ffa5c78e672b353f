/** npm run check:words: finds the phrases in everything that people read, and nowhere else. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';

import { remove, temporaryFolder } from './support/processes.ts';

const SCRIPT = join(import.meta.dirname, '../scripts/check-words.ts');
const folders: string[] = [];
afterAll(() => folders.forEach((folder) => remove(folder)));

async function check(files: Record<string, string>): Promise<string[]> {
  const folder = temporaryFolder('words');
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const ran = await promisify(execFile)(process.execPath, [SCRIPT, folder]).catch((error: { stderr: string }) => error);
  return ran.stderr.split('\n').filter((line) => /^\S+:\d+: /.test(line));
}

describe('a phrase is found', () => {
  it.each([
    ['in a message', 'packages/server/src/a.ts', "\nrefuse(422, 'The job goes on.');\n", 2],
    ['beside a value', 'packages/server/src/a.ts', 'say(`${count} in all`);', 1],
    ['in the description of the API', 'packages/contract/src/a.ts', "x.meta({ description: 'Done as usual.' });", 1],
    [
      'in the script of a page',
      'packages/web/src/a.svelte',
      "<script>\n  const w = 'Password, once more';\n</script>",
      2,
    ],
    ['in its markup', 'packages/web/src/a.svelte', '<script></script>\n<p>\n  Where they\n  lie in\n</p>', 4],
    ['in an attribute', 'packages/web/src/a.svelte', '<b title="You may not do this">x</b>', 1],
    ['over the end of a line', 'docs/guide/a.md', 'It is not there\nany more.\n', 1],
    ['in what the worker says', 'packages/server/src/a.py', 'raise Problem("it goes on")\n', 1],
  ])('%s', async (_, path, text, line) => {
    const found = await check({ [path]: text });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(new RegExp(`^${path}:${line}: .*Write `));
  });
});

it.each([
  ['comments', 'packages/server/src/a.ts', "/** goes on */ const a = 'x'; // as usual\n"],
  ['comments and styles of pages', 'packages/web/src/a.svelte', '<!-- goes on --><style>/* as usual */</style>'],
  ['comments and documentation in Python', 'packages/server/src/a.py', '"""It goes on."""\nx = 1  # as usual\n'],
  ['code in documents', 'docs/a.md', 'See `goes on`.\n\n```\nas usual\n```\n'],
  ['what is possible, not what is allowed', 'docs/a.md', 'Old browsers may not be able to show it.'],
  ['tests', 'packages/server/test/a.ts', "say('goes on');"],
])('%s are left alone', async (_, path, text) => {
  expect(await check({ [path]: text })).toEqual([]);
});

it('what people read here has none', async () => {
  const { stderr } = await promisify(execFile)(process.execPath, [SCRIPT, join(import.meta.dirname, '..')]);
  expect(stderr).toBe('');
});
