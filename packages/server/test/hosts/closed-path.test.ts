/** Whether others can put something on the way to a path. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { isClosedPath } from '../../src/hosts/index.ts';

const root = mkdtempSync(join(tmpdir(), 'service-closed-path-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function folder(name: string, mode: number): string {
  const path = join(root, name);
  mkdirSync(path);
  chmodSync(path, mode);
  return path;
}

it.each([
  ['our own folder', 0o755, true, true],
  ['one that anybody writes to', 0o777, false, false],
  // what is there is ours alone to exchange; what is not there, anybody may make first
  ['one that anybody writes to, with the sticky bit', 0o1777, true, false],
])('%s', async (name, mode, there, notThere) => {
  const path = folder(name, mode);
  mkdirSync(join(path, 'there'));
  expect([await isClosedPath(join(path, 'there')), await isClosedPath(join(path, 'not-there', 'below'))]).toEqual([
    there,
    notThere,
  ]);
});

describe('a link counts with the way to what it leads to', () => {
  const [own, open] = [folder('own', 0o755), folder('open', 0o777)];
  symlinkSync(own, join(root, 'to-own'));
  symlinkSync(open, join(root, 'to-open'));
  symlinkSync(join(open, 'not-there'), join(root, 'to-nothing'));

  it.each([
    ['to-own', true],
    ['to-own/not-there/below', true],
    ['to-open', false],
    // what is not there, anybody may make first
    ['to-open/not-there/below', false],
    ['to-nothing', false],
    ['to-nothing/below', false],
  ])('%s', async (path, closed) => {
    expect(await isClosedPath(join(root, path))).toBe(closed);
  });
});
