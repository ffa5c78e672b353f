import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { isBelow, pageId, route } from '../src/lib/route.ts';

const ROUTES = join(import.meta.dirname, '../src/routes');

/** `/v2/projects/[project_id]` for every folder that holds a page. */
const pages = readdirSync(ROUTES, { recursive: true, encoding: 'utf8' })
  .filter((path) => /(^|\/)\+page\.svelte$/.test(path))
  .map((path) => `/${path.replace(/\/?\+page\.svelte$/, '')}`);

const matches = (address: string) =>
  pages.some((path) =>
    new RegExp(`^${path.replaceAll(/\/?\[\.\.\.\w+\]/g, '(/.*)?').replaceAll(/\[\w+\]/g, '\\d+')}$`).test(address),
  );

const ids = { project_id: 1, workflow_id: 2, dataset_id: 3, job_id: 4, resource_id: 5, profile_id: 6 };
const PLAIN_ID = ['helpPage', 'user', 'userEdit', 'group', 'groupEdit', 'taskGroupReset'];

describe('addresses of pages', () => {
  const { admin, ...others } = route;
  const all = [...Object.entries(others), ...Object.entries(admin).map(([name, make]) => [name, make] as const)];

  it.each(all.map(([name, make]) => [name, make as (ids: unknown) => string] as const))(
    '%s is a page',
    (name, make) => {
      const address = make(PLAIN_ID.includes(name) ? 7 : ids).split('?')[0]!;
      expect(pages.length).toBeGreaterThan(40);
      expect(matches(address), address).toBe(true);
    },
  );

  const SOURCES = join(ROUTES, '..');
  const withoutComments = (path: string) =>
    readFileSync(join(SOURCES, path), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/ .*/g, '');

  const LITERALS: [what: string, pattern: RegExp][] = [
    ['an address', /['"`]\/(v2|auth|profile|viewer-paths|healthcheck|help|demo|alive|manual)\b/],
    ['an address of the API', /['"`]\/api\b(?!-)/],
    ['the home page', /(href=|goto\(|redirect\(|resolve\(|pathname ===)[^;>\n]*['"`]\/['"`?]/],
    ['a part of an address', /(['"`]|\\)\/(projects|datasets|workflows|jobs|measurements|view)\b/],
  ];
  const MAY = [
    'lib/route.ts',
    // where calls of the browser are sent
    'lib/api/client.ts',
    // by a word of the address, in every area: "this job", "the list of datasets"
    'lib/frame/failure.ts',
  ];

  it.each(LITERALS)('are written nowhere else: %s', (_, pattern) => {
    const elsewhere = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(ts|svelte)$/.test(path) && !MAY.includes(path))
      .filter((path) => pattern.test(withoutComments(path)));
    expect(elsewhere).toEqual([]);
  });

  it.each(Object.entries(pageId))('%s is a page of Kit', (_, id) => {
    expect(pages).toContain(id);
  });

  it('leaves out what a query does not have, and encodes what it has', () => {
    expect(route.workflow(ids, { dataset: undefined, task: null })).toBe('/v2/projects/1/workflows/2');
    expect(route.workflow(ids, { dataset: 12, tab: 'a&b' })).toBe('/v2/projects/1/workflows/2?dataset=12&tab=a%26b');
    expect(route.workflow(ids, { mark: ['1,2', '3,4'] })).toBe('/v2/projects/1/workflows/2?mark=1%2C2&mark=3%2C4');
    expect(route.jobs()).toBe('/v2/jobs');
  });
});

it.each([
  ['/v2/tasks', true],
  ['/v2/tasks/management', true],
  ['/v2/tasks-other', false],
  ['/v2', false],
])('%s is in the section of tasks: %s', (pathname, inside) => {
  expect(isBelow(pathname, route.tasks())).toBe(inside);
});
