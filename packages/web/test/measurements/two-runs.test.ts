/** Two runs beside each other: images, objects and arguments that belong together. */
import { describe, expect, it } from 'vitest';

import type { ColumnArray, ColumnsHeader, ImageHistory } from '@service/contract';

import { matchedValues, pairImages } from '../../src/lib/measurements/match.ts';
import { labelsOf, type Rows, rowsOf } from '../../src/lib/measurements/rows.ts';
import { readAsked, withOther, writeOther } from '../../src/lib/measurements/state.ts';
import { argumentsThatDiffer, lastTask } from '../../src/lib/measurements/two-runs.ts';
import { legendOfWells, perWellFor, wellValues } from '../../src/lib/measurements/wells.ts';

interface Made {
  zarr_url: string;
  well?: string;
  plate?: string;
  /** Value by label. */
  objects?: [label: number, value: number][];
}

function run(images: Made[], index: string | null = 'label'): Rows {
  const all = images.flatMap(({ objects = [] }) => objects);
  const header: ColumnsHeader = {
    rows: all.length,
    index,
    columns: [
      { name: 'label', type: 'integer', array: 'int32' },
      { name: 'area', type: 'number', array: 'float32' },
    ],
    images: images.map(({ zarr_url, well, plate, objects = [] }) => ({
      zarr_url,
      attributes: { ...(well === undefined ? {} : { well }), ...(plate === undefined ? {} : { plate }) },
      rows: objects.length,
    })),
    problems: [],
    num_problems: 0,
  };
  const arrays = new Map<string, ColumnArray>([
    ['label', Int32Array.from(all, ([label]) => label)],
    ['area', Float32Array.from(all, ([, value]) => value)],
  ]);
  return rowsOf({ header, arrays });
}

const pairsOf = (one: Made[], other: Made[]) =>
  [...pairImages(run(one), run(other))].map(([own, theirs]) => [own.zarr_url, theirs.zarr_url]);

describe('images of two runs', () => {
  it.each<[string, Made[], Made[], [string, string][]]>([
    ['have one address', [{ zarr_url: '/a/x/0' }], [{ zarr_url: '/a/x/0' }], [['/a/x/0', '/a/x/0']]],
    [
      'have the same place below another folder',
      [{ zarr_url: '/1/P.zarr/A/01/0' }, { zarr_url: '/1/Q.zarr/A/01/0' }],
      [{ zarr_url: '/2/Q.zarr/A/01/0' }, { zarr_url: '/2/P.zarr/A/01/0' }],
      [
        ['/1/P.zarr/A/01/0', '/2/P.zarr/A/01/0'],
        ['/1/Q.zarr/A/01/0', '/2/Q.zarr/A/01/0'],
      ],
    ],
    [
      'are in a plate of another name',
      [{ zarr_url: '/1/P.zarr/A/01/0' }],
      [{ zarr_url: '/2/P_new.zarr/A/01/0' }],
      [['/1/P.zarr/A/01/0', '/2/P_new.zarr/A/01/0']],
    ],
    [
      'are called differently, alone in their well',
      [{ zarr_url: '/1/P.zarr/A/01/0', plate: 'P', well: 'A01' }],
      [{ zarr_url: '/2/P.zarr/A/01/0_corrected', plate: 'P', well: 'A/1' }],
      [['/1/P.zarr/A/01/0', '/2/P.zarr/A/01/0_corrected']],
    ],
    [
      'cannot be told apart, and stay alone',
      [{ zarr_url: '/1/a', well: 'A01' }],
      [
        { zarr_url: '/2/b', well: 'A01' },
        { zarr_url: '/2/c', well: 'A01' },
      ],
      [],
    ],
  ])('%s', (_, one, other, pairs) => expect(pairsOf(one, other)).toEqual(pairs));
});

describe('objects of two runs', () => {
  const one = run([
    {
      zarr_url: '/1/P.zarr/A/01/0',
      plate: 'P',
      well: 'A01',
      objects: [
        [1, 10],
        [2, 20],
        [3, 30],
      ],
    },
    { zarr_url: '/1/P.zarr/A/02/0', plate: 'P', well: 'A02', objects: [[1, 5]] },
    { zarr_url: '/1/P.zarr/A/03/0', plate: 'P', well: 'A03', objects: [[1, 7]] },
  ]);
  const other = run([
    { zarr_url: '/2/P.zarr/A/02/0', plate: 'P', well: 'A02', objects: [[1, 8]] },
    {
      zarr_url: '/2/P.zarr/A/01/0',
      plate: 'P',
      well: 'A01',
      objects: [
        [3, 33],
        [1, 11],
        [9, 99],
        [3, 1],
      ],
    },
  ]);
  const pairs = pairImages(one, other);

  it('are matched by their label in their image; the others are counted', () => {
    const { values, ...counts } = matchedValues(one, other, 'area', pairs)!;
    expect([...values]).toEqual([11, NaN, 1, 8, NaN]);
    expect(counts).toEqual({ both: 3, onlyHere: 2, onlyThere: 2 });
  });

  it('cannot be matched where they have no names, or no such feature', () => {
    expect(labelsOf({ ...other, index: null })).toBeUndefined();
    expect(matchedValues(one, { ...other, index: null }, 'area', pairs)).toBeUndefined();
    expect(matchedValues(one, other, 'volume', pairs)).toBeUndefined();
  });

  it('make a difference for each well, and none where one of them has nothing', () => {
    const beside = {
      selected: new Uint8Array(5),
      compared: { values: other.arrays.get('area')!, pairs },
    };
    const of = (per: 'difference' | 'more') =>
      Object.fromEntries(
        [...wellValues(one, 'P', one.arrays.get('area')!, per, beside)].map(([well, { value }]) => [well, value]),
      );
    expect(of('difference')).toEqual({ A01: 20 - 22, A02: -3, A03: NaN });
    expect(of('more')).toEqual({ A01: -1, A02: 0, A03: NaN });
    const wells = wellValues(one, 'P', one.arrays.get('area')!, 'difference', beside);
    expect(legendOfWells(wells, 'difference')).toMatchObject({ kind: 'diverging', from: -3, to: 3 });
  });

  it('are offered only where there are two runs, shares only where something is selected', () => {
    expect(perWellFor(false, false)).toEqual(['median', 'mean', 'count', 'score']);
    expect(perWellFor(true, true)).toEqual(['median', 'mean', 'count', 'score', 'share', 'difference', 'more']);
  });
});

describe('the other run', () => {
  it('is in the address, whatever its table is called', () => {
    const other = { dataset: 12, level: 'image', name: 'nuclei, new' } as const;
    expect(readAsked(new URLSearchParams({ with: writeOther(other) })).with).toEqual(other);
    for (const text of ['', 'x', '12', '12,well,nuclei', ',image,nuclei'])
      expect(readAsked(new URLSearchParams({ with: text })).with).toBeUndefined();
    const search = withOther('?table=a&sel=box:1,2,3,4&view=1,2,3,4', other);
    expect(search).toBe('?table=a&with=12,image,nuclei,+new&per=difference');
    expect(withOther(search, undefined)).toBe('?table=a');
  });

  it('says with which arguments it differs', () => {
    const task = (name: string, args_parallel: object, job_id: number) => ({
      name,
      job_id,
      args_parallel,
      args_non_parallel: null,
    });
    const history = (made_by: object | null, ...worked_on_by: object[]) =>
      ({ made_by, worked_on_by }) as unknown as ImageHistory;
    const one = history(
      task('Convert', { z: 1 }, 1),
      task('Segment', { size: 20, mode: 'a' }, 1),
      task('Extra', {}, 1),
    );
    const two = history(task('Convert', { z: 1 }, 2), task('Segment', { mode: 'b' }, 2));
    expect(argumentsThatDiffer(one, two)).toEqual([
      { task: 'Segment', argument: 'size', here: '20', there: 'default' },
      { task: 'Segment', argument: 'mode', here: 'a', there: 'b' },
    ]);
    expect(lastTask(two)).toMatchObject({ name: 'Segment', job_id: 2 });
    expect(lastTask(history(null))).toBeUndefined();
  });
});
