/** Rows of tables in the page: groups, wells, what is chosen where nothing is said. */
import { describe, expect, it } from 'vitest';

import type { ColumnsHeader, TableList } from '@service/contract';
import { readColumns, writeColumns } from '@service/contract/columns';

import { groupsOf, imageOf, keptRows, numbersOf, objectsOf, rowsOf } from '../../src/lib/measurements/rows.ts';
import { selectedSpreads, spreadsOf } from '../../src/lib/measurements/spread.ts';
import { chosenOf, readAsked, withRanges, withShapes } from '../../src/lib/measurements/state.ts';
import { fillOf, legendOfWells, plateOf, platesOf, wellValues } from '../../src/lib/measurements/wells.ts';

const header: ColumnsHeader = {
  rows: 7,
  index: 'label',
  columns: [
    { name: 'label', type: 'integer', array: 'int32' },
    { name: 'area', type: 'number', array: 'float32' },
    { name: 'class', type: 'text', array: 'int32', texts: ['round', 'long'] },
  ],
  images: [
    { zarr_url: '/p/A/01/0', attributes: { plate: 'P', well: 'A/1', drug: 'control' }, rows: 3 },
    { zarr_url: '/p/A/02/0', attributes: { plate: 'P', well: 'A02', drug: 'x' }, rows: 0 },
    { zarr_url: '/p/B/01/0', attributes: { plate: 'P', well: 'B01', drug: 'x' }, rows: 2 },
    { zarr_url: '/q/A/01/0', attributes: { plate: 'Q', well: 'A01' }, rows: 2 },
  ],
  problems: [],
  num_problems: 0,
};

function made() {
  const arrays = [
    Int32Array.from([1, 2, 3, 1, 2, 1, 2]),
    Float32Array.from([10, 20, NaN, 40, 60, 5, 7]),
    Int32Array.from([0, 1, -1, 0, 0, 1, 1]),
  ];
  const bytes = Buffer.concat([...writeColumns(header, arrays)]);
  return rowsOf(readColumns(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)));
}

const NONE = new Uint8Array(7);

describe('rows', () => {
  const rows = made();
  const all = keptRows(rows, new Set());

  it('are of their image, also beside images without any', () => {
    expect([0, 2, 3, 4, 5, 6].map((row) => imageOf(rows, row).zarr_url)).toEqual([
      ...Array.from({ length: 2 }, () => '/p/A/01/0'),
      ...Array.from({ length: 2 }, () => '/p/B/01/0'),
      ...Array.from({ length: 2 }, () => '/q/A/01/0'),
    ]);
  });

  it('have numbers, and no numbers where there are texts or no such column', () => {
    expect(numbersOf(rows, 'area')).toHaveLength(7);
    expect(numbersOf(rows, 'class')).toBeUndefined();
    expect(numbersOf(rows, 'other')).toBeUndefined();
  });

  it('are kept by their well, however it is written', () => {
    expect([...keptRows(rows, new Set(['A01']))]).toEqual([1, 1, 1, 0, 0, 1, 1]);
  });

  it('name their objects by numbers or by words, and none where the table does not', () => {
    expect(objectsOf(rows, [0, 1, 4])).toEqual([
      { zarr_url: '/p/A/01/0', labels: [1, 2] },
      { zarr_url: '/p/B/01/0', labels: [2] },
    ]);
    expect(objectsOf({ ...rows, index: 'class' }, [1, 2])).toEqual([{ zarr_url: '/p/A/01/0', labels: ['long', ''] }]);
    expect(objectsOf({ ...rows, index: null }, [1])).toBeUndefined();
  });

  it.each([
    [undefined, { 'All objects': 7 }],
    ['drug', { '(none)': 2, control: 3, x: 2 }],
    ['class', { '(none)': 1, long: 3, round: 3 }],
    ['label', { 1: 3, 2: 3, 3: 1 }],
  ])('are grouped by %s', (key, sizes) => {
    const groups = groupsOf(rows, key, all);
    expect(Object.fromEntries(groups.map((group) => [group.name, group.rows.length]))).toEqual(sizes);
  });

  it('of many groups show the largest, and the others together', () => {
    const many = {
      ...rows,
      images: Array.from({ length: 30 }, (_, at) => at).flatMap((at) => [
        { zarr_url: `${at}`, attributes: { drug: `d${at}` }, from: at === 0 ? 0 : at + 1, to: at + 2 },
      ]),
    };
    const groups = groupsOf(many, 'drug', new Uint8Array(40).fill(1));
    expect(groups).toHaveLength(12);
    expect(groups.at(-1)).toMatchObject({ name: '19 others' });
    expect(groups.reduce((sum, group) => sum + group.rows.length, 0)).toBe(31);
  });

  it('are spread over an axis, with the part that is selected', () => {
    const flags = Uint8Array.from([1, 0, 0, 1, 1, 0, 0]);
    const scale = { kind: 'linear', from: 0, to: 60 } as const;
    const [groups, values] = [groupsOf(rows, 'drug', all), numbersOf(rows, 'area')!];
    const spreads = spreadsOf(groups, values, scale);
    expect(spreads.map(({ name, count, missing, box }) => [name, count, missing, box?.median])).toEqual([
      ['(none)', 2, 0, 6],
      ['control', 2, 1, 15],
      ['x', 2, 0, 50],
    ]);
    const selected = selectedSpreads(groups, values, scale, flags);
    expect(selected.map(({ share }) => share)).toEqual([0, 1 / 3, 1]);
    expect(selected[2]!.bins).toEqual(spreads[2]!.bins);
  });
});

describe('wells', () => {
  const rows = made();
  const values = numbersOf(rows, 'area')!;
  const of = (per: Parameters<typeof wellValues>[3], flags = NONE) =>
    Object.fromEntries(
      [...wellValues(rows, 'P', values, per, { selected: flags })].map(([well, { value }]) => [well, value]),
    );

  it('have the median, mean and count of their objects, and nothing where nothing was measured', () => {
    expect(platesOf(rows)).toEqual(['P', 'Q']);
    expect(of('median')).toEqual({ A01: 15, A02: NaN, B01: 50 });
    expect(of('mean')).toEqual({ A01: 15, A02: NaN, B01: 50 });
    expect(of('count')).toEqual({ A01: 3, A02: 0, B01: 2 });
    expect(of('share', Uint8Array.from([1, 1, 0, 0, 0, 1, 1]))).toEqual({ A01: 2 / 3, A02: NaN, B01: 0 });
  });

  it('are a plate of its usual form, whose wells know how images write them', () => {
    const wells = wellValues(rows, 'P', values, 'median', { selected: NONE });
    const plate = plateOf(wells);
    expect([plate.rows, plate.columns, plate.wells.get('A01')?.values]).toEqual([2, 3, ['A/1']]);
    const legend = legendOfWells(wells, 'median');
    expect(fillOf(legend, wells.get('A01')!.value)).toBe('#443983');
    expect(fillOf(legend, wells.get('A02')!.value)).toBeUndefined();
  });

  it('whose images have no rows are there too, with the reason, and nothing of other plates is', () => {
    const problem = (zarr_url: string) => ({ zarr_url, table: 'n', kind: 'unreadable' as const, text: 'damaged' });
    const problems = [problem('/p/B/02/0'), problem('/p/A/01/1'), problem('/other/C/03/0'), problem('/p/x')];
    const wells = wellValues({ ...rows, header: { ...rows.header, problems } }, 'P', values, 'score', {
      selected: NONE,
    });
    expect([...wells.keys()]).toEqual(['A01', 'A02', 'B01', 'B02']);
    expect(wells.get('B02')).toMatchObject({ value: NaN, objects: 0, problem: { text: 'damaged' } });
    expect(plateOf(wells).wells.has('B02')).toBe(true);
  });

  it('have a legend around zero where they are scores', () => {
    expect(legendOfWells(wellValues(rows, 'P', values, 'score', { selected: NONE }), 'score')).toMatchObject({
      kind: 'diverging',
    });
  });
});

describe('what is chosen', () => {
  const column = (name: string, type: 'number' | 'text' | 'integer' = 'number') => ({ name, type, num_images: 1 });
  const table = (name: string, types: string[], columns: ReturnType<typeof column>[]) => ({
    name,
    level: 'image' as const,
    types,
    backends: [],
    versions: [],
    index: 'label',
    labels: ['nuclei'],
    num_images: 1,
    num_rows: 1,
    columns,
  });
  const list: TableList = {
    num_images: 1,
    attributes: ['plate', 'well', 'drug'],
    tables: [
      table('FOV_ROI_table', ['roi_table'], [column('x_micrometer')]),
      table(
        'nuclei',
        ['feature_table'],
        [
          column('label', 'integer'),
          column('x_um'),
          column('num_pixels'),
          column('area_um2'),
          column('mean_dapi'),
          column('class', 'text'),
        ],
      ),
    ],
    problems: [],
    num_problems: 0,
  };
  const chosen = (search: string) => chosenOf(list, readAsked(new URLSearchParams(search)));

  it('is a table of features, its brightness over its extent, by treatment', () => {
    expect(chosen('')).toMatchObject({
      table: { name: 'nuclei' },
      feature: 'mean_dapi',
      over: 'area_um2',
      group: 'drug',
    });
  });

  it('is what the address says, and what stands for it where that is gone', () => {
    expect(chosen('feature=x_um&over=x_um&group=class')).toMatchObject({
      feature: 'x_um',
      over: 'x_um',
      group: 'class',
    });
    expect(chosen('table=gone&feature=gone&over=gone&group=gone')).toMatchObject({
      feature: 'mean_dapi',
      group: 'drug',
    });
    expect(chosen('group=')?.group).toBeUndefined();
    expect(chosen('table=FOV_ROI_table')).toMatchObject({ feature: 'x_micrometer', over: 'x_micrometer' });
    expect(chosenOf({ ...list, tables: [] }, readAsked(new URLSearchParams()))).toBeUndefined();
  });

  it('keeps ranges, shapes and the part that is looked at in the address, and leaves out what is damaged', () => {
    const ranges = [
      { column: 'a,b', from: 1, to: undefined },
      { column: 'area', from: undefined, to: -2.5 },
    ];
    const search = withShapes(withRanges('?table=nuclei', ranges), []);
    expect(readAsked(new URLSearchParams(search))).toMatchObject({ table: 'nuclei', ranges });
    const wrong = readAsked(new URLSearchParams('range=area&range=,1,2&range=a,,&view=1,2,3&per=all&look=pie&log=z'));
    expect(wrong).toMatchObject({ ranges: [], view: undefined, per: 'median', look: 'box' });
    expect(wrong.kinds).toEqual({ x: 'linear', y: 'linear' });
    expect(readAsked(new URLSearchParams('view=0,1,2,3&log=x,y'))).toMatchObject({
      view: { x: [0, 1], y: [2, 3] },
      kinds: { x: 'log', y: 'log' },
    });
  });
});
