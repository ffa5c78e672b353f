/** Wells from what the service counted for each: maps and the look over a plate that read no single object. */
import { describe, expect, it } from 'vitest';

import type { TableGroups } from '@service/contract';

import { wellsOfGroups } from '../../src/lib/measurements/well-groups.ts';
import { legendOfWells, lookOfWell, wellWords } from '../../src/lib/measurements/wells.ts';
import { group } from './table-groups.ts';

type Group = TableGroups['groups'][number];

const answer = (groups: Group[], problems: TableGroups['problems'] = []): TableGroups => ({
  by: ['plate', 'well'],
  groups,
  problems,
  num_problems: problems.length,
});

const valuesOf = (wells: ReturnType<typeof wellsOfGroups>) =>
  Object.fromEntries([...wells].map(([name, { value }]) => [name, value]));

describe('wells that were counted by the service', () => {
  const groups = [group('P', 'A01', 4, 10), group('P', 'A/02', 2, 30), group('P', 'B1', 0, null)];

  it.each([
    ['median', { A01: 10, A02: 30, B01: NaN }],
    ['mean', { A01: 10, A02: 30, B01: NaN }],
    ['count', { A01: 4, A02: 2, B01: 0 }],
  ] as const)('have their %s, however images write them', (per, expected) => {
    expect(valuesOf(wellsOfGroups(answer(groups), { column: 'area', per }))).toEqual(expected);
  });

  it('are scored among each other', () => {
    const many = [10, 11, 12, 13, 90].map((median, at) => group('P', `A0${at + 1}`, 5, median));
    const scores = valuesOf(wellsOfGroups(answer(many), { column: 'area', per: 'score' }));
    expect(scores['A03']).toBe(0);
    expect(scores['A05']).toBeGreaterThan(20);
  });

  it('without such a column have no value, and keep their objects', () => {
    const wells = wellsOfGroups(answer(groups), { column: 'volume', per: 'median' });
    expect(wells.get('A01')).toMatchObject({ value: NaN, objects: 4 });
  });

  it('that two spellings name are one', () => {
    const wells = wellsOfGroups(answer([group('P', 'A01', 4, 10), group('P', 'A/1', 6, 20)]), {
      column: 'area',
      per: 'median',
    });
    expect([...wells.keys()]).toEqual(['A01']);
    expect(wells.get('A01')).toMatchObject({ value: 20, objects: 10 });
    expect(wells.get('A01')!.images).toHaveLength(2);
  });

  it('whose tables are missing or damaged are on the map, with the reason', () => {
    const problem = (well: string, kind: 'no_table' | 'unreadable') => ({
      zarr_url: `/d/P.zarr/C/${well}/0`,
      table: 'nuclei',
      kind,
      text: 'why',
    });
    const elsewhere = { ...problem('09', 'no_table'), zarr_url: '/d/Q.zarr/C/09/0' };
    const wells = wellsOfGroups(answer(groups, [problem('01', 'no_table'), problem('02', 'unreadable'), elsewhere]), {
      column: 'area',
      per: 'median',
    });
    const legend = legendOfWells(wells, 'median');
    const told = (name: string) => [lookOfWell(legend, wells.get(name)), wellWords('median', wells.get(name))];
    expect(told('A01')).toEqual([{ fill: '#443983' }, '10, 4 objects']);
    expect(told('B01')).toEqual(['gone', 'not measured, 0 objects']);
    expect(told('C01')).toEqual(['gone', 'no such table']);
    expect(told('C02')).toEqual(['unreadable', 'its table can’t be read']);
    expect(told('C09')).toEqual(['gone', 'no image']);
  });
});
