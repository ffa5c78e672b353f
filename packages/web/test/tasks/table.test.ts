import type { TaskGroupSlim, TaskSlim } from '@service/contract';
import { describe, expect, test } from 'vitest';

import {
  byPackage,
  filterOptions,
  filtersOf,
  isFiltered,
  NO_FILTERS,
  type Packages,
  queryOf,
  shownRows,
  swapped,
  taskRows,
  ticked,
} from '../../src/lib/tasks/table.ts';

let nextId = 1;

const task = (name: string, fields: Partial<TaskSlim> = {}): TaskSlim => ({
  id: nextId++,
  name,
  version: '1',
  is_core: false,
  category: null,
  modality: null,
  authors: null,
  tags: [],
  input_types: {},
  docs_info: null,
  docs_link: null,
  type: 'parallel',
  ...fields,
});

const group = (pkg_name: string, version: string, task_list: TaskSlim[], fields: Partial<TaskGroupSlim> = {}) =>
  ({ id: nextId++, pkg_name, version, task_list, user_email: 'anna@example.org', ...fields }) as TaskGroupSlim;

const packages: Packages = [
  [
    'cellseg',
    [
      group('cellseg', '0.9.0', [
        task('Segment nuclei', { category: 'Segmentation', modality: 'HCS', tags: ['cellpose', '3D'] }),
        task('Measure', { category: 'Measurement', authors: 'M. Keller' }),
      ]),
      group('cellseg', '0.8.1', [
        task('Segment nuclei', { category: 'Segmentation', modality: 'HCS', is_core: true }),
        task('Threshold', { category: 'segmentation', input_types: { illum_corr: true } }),
      ]),
    ],
  ],
  ['plate', [group('plate', '2.2.0', [task('Convert', { category: 'Conversion', is_core: true, modality: 'EM' })])]],
];
const rows = taskRows(packages);
const names = (filters: Partial<typeof NO_FILTERS>) =>
  shownRows(rows, { ...NO_FILTERS, ...filters }).map(({ row }) => row.name);
const versionOf = (name: string, filters: Partial<typeof NO_FILTERS>, choices?: Map<string, number>) =>
  shownRows(rows, { ...NO_FILTERS, ...filters }, choices).find(({ row }) => row.name === name)?.chosen.name;

describe('rows', () => {
  test('one for each task name of a package, with its versions newest first', () => {
    expect(rows.map(({ pkg, name, versions }) => [pkg, name, versions.map((version) => version.name)])).toEqual([
      ['cellseg', 'Segment nuclei', ['0.9.0', '0.8.1']],
      ['cellseg', 'Measure', ['0.9.0']],
      ['cellseg', 'Threshold', ['0.8.1']],
      ['plate', 'Convert', ['2.2.0']],
    ]);
  });

  test('the same version of two owners is told apart', () => {
    const two = taskRows([
      ['a', [group('a', '1', [task('T')]), group('a', '1', [task('T')], { user_email: 'ben@example.org' })]],
    ]);
    expect(two[0]!.versions.map(({ name }) => name)).toEqual(['1, anna@example.org', '1, ben@example.org']);
  });

  test('a task of two packages is two rows', () => {
    const two = taskRows([
      ['a', [group('a', '1', [task('T')])]],
      ['b', [group('b', '1', [task('T')])]],
    ]);
    expect(new Set(two.map(({ key }) => key)).size).toBe(2);
  });

  test('they stand under their package', () => {
    expect(byPackage(shownRows(rows, NO_FILTERS)).map(({ pkg, rows: own }) => [pkg, own.length])).toEqual([
      ['cellseg', 3],
      ['plate', 1],
    ]);
  });
});

describe('filters', () => {
  test.each([
    ['the name of a task', 'NUCLEI', ['Segment nuclei']],
    ['a package', 'plate', ['Convert']],
    ['a category', 'measurement', ['Measure']],
    ['a modality', 'hcs', ['Segment nuclei']],
    ['authors', 'keller', ['Measure']],
    ['a key of the input types', 'illum', ['Threshold']],
    ['a tag', 'cellpose', ['Segment nuclei']],
    ['blanks around it', '  convert ', ['Convert']],
    ['nothing that is there', 'zebra', []],
  ])('free text finds %s', (_, text, expected) => {
    expect(names({ text })).toEqual(expected);
  });

  test('each narrows, and all hold together', () => {
    expect(names({ package: 'cellseg' })).toHaveLength(3);
    expect(names({ category: 'Segmentation' })).toEqual(['Segment nuclei', 'Threshold']);
    expect(names({ modality: 'EM' })).toEqual(['Convert']);
    expect(names({ tag: '3D' })).toEqual(['Segment nuclei']);
    expect(names({ category: 'Segmentation', modality: 'EM' })).toEqual([]);
  });

  test('prefer core shows everything and begins with the newest core version', () => {
    expect(names({ core: 'prefer' })).toHaveLength(4);
    expect(versionOf('Segment nuclei', {})).toBe('0.9.0');
    expect(versionOf('Segment nuclei', { core: 'prefer' })).toBe('0.8.1');
  });

  test('core only shows and offers core versions alone', () => {
    expect(names({ core: 'only' })).toEqual(['Segment nuclei', 'Convert']);
    const [first] = shownRows(rows, { ...NO_FILTERS, core: 'only' });
    expect(first!.versions.map(({ name }) => name)).toEqual(['0.8.1']);
  });

  test('a row that fits by an older version stands for it', () => {
    expect(versionOf('Segment nuclei', { tag: '3D' })).toBe('0.9.0');
    const [segment] = rows;
    const older = new Map([[segment!.key, segment!.versions[1]!.task.id]]);
    expect(versionOf('Segment nuclei', {}, older)).toBe('0.8.1');
    expect(
      versionOf('Segment nuclei', { core: 'only' }, new Map([[segment!.key, segment!.versions[0]!.task.id]])),
    ).toBe('0.8.1');
  });

  test('they offer each value once', () => {
    expect(filterOptions(rows)).toEqual({
      package: ['cellseg', 'plate'],
      category: ['Conversion', 'Measurement', 'segmentation'],
      modality: ['EM', 'HCS'],
      tag: ['3D', 'cellpose'],
    });
  });

  test('they survive the address; what is unknown there counts for nothing', () => {
    const filters = { ...NO_FILTERS, text: 'a b', core: 'only' as const, tag: '3D' };
    const search = new URLSearchParams(Object.entries(queryOf(filters)).filter(([, value]) => value !== ''));
    expect(search.toString()).toBe('text=a+b&tag=3D&core=only');
    expect(filtersOf(search)).toEqual(filters);
    expect(filtersOf(new URLSearchParams('core=whatever'))).toEqual(NO_FILTERS);
  });

  test('the core selector counts as a filter', () => {
    expect(isFiltered(NO_FILTERS)).toBe(false);
    expect(isFiltered({ ...NO_FILTERS, core: 'prefer' })).toBe(true);
  });
});

describe('picking', () => {
  test('keeps the order of ticking', () => {
    expect([3, 1, 2].reduce<number[]>(ticked, [])).toEqual([3, 1, 2]);
    expect(ticked([3, 1, 2], 1)).toEqual([3, 2]);
  });

  test('another version takes the place of the one before', () => {
    expect(swapped([3, 1, 2], 1, 9)).toEqual([3, 9, 2]);
  });
});
