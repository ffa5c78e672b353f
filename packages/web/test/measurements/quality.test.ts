/** What stands out on each plate. */
import { describe, expect, it } from 'vitest';

import type { ImageGroup, TableGroups } from '@service/contract';

import { qualityOf } from '../../src/lib/measurements/quality.ts';
import { group } from './table-groups.ts';

const WELLS = Array.from({ length: 12 }, (_, at) => `A${String(at + 1).padStart(2, '0')}`);

/** As images are counted: some of them failed. */
const counted = (plate: string, well: string, failed = 0): ImageGroup => ({
  values: { plate, well },
  num_images: 1,
  counts: { done: 1 - failed, failed, submitted: 0, unset: 0 },
  num_running: 0,
  num_stopped: 0,
  num_with_warnings: 0,
  newest_unit_id: null,
});

const measured = (groups: TableGroups['groups'], problems: TableGroups['problems'] = []) => ({
  answer: { by: ['plate', 'well'], groups, problems },
  column: 'area',
});

/** Wells that differ a little, as they do. */
const usual = (well: string, plate = 'P') => {
  const at = WELLS.indexOf(well);
  return group(plate, well, 100 + (at % 5), 50 + (at % 3));
};

const found = (groups: TableGroups['groups'], problems: TableGroups['problems'] = [], images?: ImageGroup[]) => {
  const [plate] = qualityOf(images ?? WELLS.map((well) => counted('P', well)), measured(groups, problems));
  return Object.fromEntries(plate!.findings.map(({ kind, wells }) => [kind, wells]));
};

describe('a plate', () => {
  it('whose wells are alike has nothing unusual', () => {
    expect(found(WELLS.map((well) => usual(well)))).toEqual({});
  });

  it.each<[string, TableGroups['groups'][number], object]>([
    ['without objects', group('P', 'A03', 0, null), { empty: ['A03'] }],
    ['with few objects', group('P', 'A03', 20, 51), { count: ['A03'] }],
    ['with many objects', group('P', 'A03', 300, 51), { count: ['A03'] }],
    ['that is bright', group('P', 'A03', 101, 90), { intensity: ['A03'] }],
    ['that is dark', group('P', 'A03', 101, 10), { intensity: ['A03'] }],
    ['that is both', group('P', 'A03', 10, 90), { count: ['A03'], intensity: ['A03'] }],
  ])('names a well %s', (_, odd, expected) => {
    expect(found(WELLS.map((well) => (well === 'A03' ? odd : usual(well))))).toEqual(expected);
  });

  it('names wells that failed, and those without a table', () => {
    const images = WELLS.map((well) => counted('P', well, well === 'A05' ? 1 : 0));
    const problem = { zarr_url: '/d/P.zarr/A/05/0', table: 'nuclei', kind: 'no_table' as const, text: 'why' };
    const rest = WELLS.filter((well) => well !== 'A05').map((well) => usual(well));
    expect(found(rest, [problem], images)).toEqual({ failed: ['A05'], unmeasured: ['A05'] });
  });

  it('of a few wells has no outliers: nobody knows what is usual there', () => {
    const few = [usual('A01'), usual('A02'), usual('A03'), group('P', 'A04', 900, 900)];
    expect(found(few)).toEqual({});
  });

  it('is one line each, with the objects of its own wells; one that was not measured says so', () => {
    const images = ['P10', 'P9', 'raw'].flatMap((plate) => WELLS.map((well) => counted(plate, well)));
    const groups = ['P10', 'P9'].flatMap((plate) => WELLS.map((well) => usual(well, plate)));
    const lines = qualityOf([...images, { ...counted('P9', 'none'), values: { well: 'A01' } }], measured(groups));
    const objects = groups.slice(0, 12).reduce((sum, { num_rows }) => sum + num_rows, 0);
    expect(lines.map((line) => [line.plate, line.wells, line.objects])).toEqual([
      ['P9', 12, objects],
      ['P10', 12, objects],
      ['raw', 12, undefined],
    ]);
    expect(qualityOf(images, undefined).map((line) => line.objects)).toEqual([undefined, undefined, undefined]);
  });
});
