/** What docs/architecture.md and docs/glossary.md say about the tree is true of the tree. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, it } from 'vitest';

import { ROOT } from './support/processes.ts';

const text = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
const table = text.slice(text.indexOf('| Room'), text.indexOf('Each domain has'));

/** A name without its folder lies beside the one before it: `packages/server/src/settings`, `logging`. */
const listed = [...table.matchAll(/^\| (`.+?`) +\|/gm)].flatMap(([, names]) => {
  const [first, ...others] = names!.split(', ').map((name) => name.replaceAll('`', ''));
  return [first!, ...others.map((name) => join(dirname(first!), name))];
});

const entriesOf = (folder: string) =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'));

const packages = entriesOf('packages').map(({ name }) => `packages/${name}`);
const sources = packages.map((folder) => `${folder}/src`).filter((folder) => existsSync(join(ROOT, folder)));
const rooms = sources.flatMap((folder) =>
  entriesOf(folder)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`),
);

it('the table lists every room of every package, once, and no other', () => {
  const inSources = listed.filter((path) => sources.includes(dirname(path)) && !path.endsWith('.ts'));
  expect(inSources.toSorted()).toEqual(rooms.toSorted());
});

it('the table lists every source of the server that is in no room', () => {
  const folder = 'packages/server/src';
  const files = entriesOf(folder).filter((entry) => entry.isFile());
  expect(listed.filter((path) => path.endsWith('.ts')).toSorted()).toEqual(
    files.map(({ name }) => `${folder}/${name}`).toSorted(),
  );
});

it('whatever else the table lists is there, and every package is told of', () => {
  expect(listed.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  expect(packages.filter((folder) => !listed.some((path) => `${path}/`.startsWith(`${folder}/`)))).toEqual([]);
});

it.each(['architecture', 'glossary'])('sources that docs/%s.md names are there', (name) => {
  const document = readFileSync(join(ROOT, 'docs', `${name}.md`), 'utf8');
  const named = [...document.matchAll(/`((?:[\w-]+\/)+[\w.-]+\.(?:ts|py|cjs|txt))`/g)].map(([, path]) => path!);
  const bases = ['', 'packages/server', 'packages/server/src', 'packages/contract/src', 'packages/web/src'];
  const gone = named.filter((path) => !bases.some((base) => existsSync(join(ROOT, base, path))));
  expect(named.length).toBeGreaterThan(10);
  expect(gone).toEqual([]);
});

it('docs/architecture.md counts no lines, which nobody would count again', () => {
  expect(text.match(/\d+ lines/g) ?? []).toEqual([]);
});
