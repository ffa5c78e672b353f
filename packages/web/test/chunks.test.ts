/** How the client is cut into files: what every page has, many pages have, a few share; and nobody loads another page. */
import { expect, test } from 'vitest';

import { cut, type Graph } from '../chunks-plugin.ts';

interface Module {
  imports?: string[];
  later?: string[];
  bytes?: number;
}

const START = '/kit/client/entry.js';
const PAYLOAD = '/kit/client/payload.js';
const RUNTIME = '/kit/client/client-entry.js';
const APP = '/generated/app.js';
const node = (number: number) => `/generated/nodes/${number}.js`;

/** A client of as many pages, each of which imports what is given for it. */
function client(pages: string[][], modules: Record<string, Module> = {}): Graph {
  const numbers = pages.map((_, at) => node(at + 2));
  const all: Record<string, Module> = {
    [START]: { imports: [PAYLOAD, 'preload'], later: [RUNTIME] },
    [PAYLOAD]: {},
    preload: {},
    [RUNTIME]: { imports: ['svelte', PAYLOAD] },
    svelte: {},
    [APP]: { imports: ['svelte', 'preload'], later: [node(0), node(1), ...numbers] },
    [node(0)]: { imports: ['layout'] },
    layout: { imports: ['svelte'] },
    [node(1)]: { imports: ['svelte'] },
    ...Object.fromEntries(pages.map((imports, at) => [numbers[at]!, { imports: ['svelte', ...imports] }])),
    ...modules,
  };
  const isEntry = (id: string) => [START, PAYLOAD, APP].includes(id) || id.includes('/nodes/');
  return {
    getModuleIds: () => Object.keys(all).values(),
    getModuleInfo(id) {
      const module = all[id];
      if (module === undefined) return null;
      const code = ' '.repeat(module.bytes ?? 100);
      return {
        code,
        isEntry: isEntry(id),
        importedIds: module.imports ?? [],
        dynamicallyImportedIds: module.later ?? [],
      };
    },
  };
}

/** Ten pages more that have nothing of what the test is about. */
const others = Array.from({ length: 10 }, () => []);

test('what every page loads is one file, and what Kit starts with comes before it', () => {
  const names = cut(client([['only'], ...others], { only: {} }));
  expect(Object.fromEntries(names)).toEqual({
    [PAYLOAD]: 'first',
    preload: 'first',
    [RUNTIME]: 'frame',
    svelte: 'frame',
    layout: 'frame',
  });
});

test('what more than half of the pages use goes with the frame, what many or a few use and is small into a common file', () => {
  const pages = Array.from({ length: 20 }, (_, at) => [
    ...(at < 11 ? ['head'] : []),
    ...(at < 8 ? ['table'] : []),
    ...(at < 3 ? ['tabs'] : []),
    ...(at < 2 ? ['pair'] : []),
  ]);
  const names = cut(client(pages, { head: {}, table: { bytes: 50_000 }, tabs: {}, pair: {} }));
  expect(['head', 'table', 'tabs'].map((id) => names.get(id))).toEqual(['frame', 'common', 'common']);
  expect(names.get('pair')).toMatch(/^shared-/);
});

test('what a few pages share and is large is a file of its own, and its styles are in the common one', () => {
  const form = ['form', 'form.css'];
  const names = cut(client([form, form, form, ...others], { form: { bytes: 90_000 }, 'form.css': {} }));
  expect(names.get('form')).toMatch(/^shared-/);
  expect(names.get('form.css')).toBe('common');
});

test('something small does not bring something large into the common file', () => {
  const pages = [['editor'], ['editor'], ['editor'], ['form'], ...others];
  const names = cut(client(pages, { editor: { imports: ['form'] }, form: { bytes: 90_000 } }));
  expect(names.get('editor')).toMatch(/^shared-/);
  expect(names.get('form')).toMatch(/^shared-/);
  expect(names.get('editor')).not.toBe(names.get('form'));
});

test('a part that a page loads later takes what the page has, and keeps apart what another page has', () => {
  const modules = {
    list: { later: ['picture'] },
    picture: { imports: ['words', 'paint'] },
    words: {},
    paint: {},
  };
  const names = cut(client([['list', 'words'], ['paint'], ...others], modules));
  expect(names.has('words')).toBe(false);
  expect(names.get('paint')).toMatch(/^shared-/);
});
