import { describe, expect, it } from 'vitest';

import {
  attributeKeys,
  bodyOf,
  changed,
  cleared,
  isFiltered,
  isNumeric,
  newQuery,
  nextSort,
  pickedValues,
  readQuery,
  relativePath,
  sortDirection,
  STATUS_KEY,
  typeKeys,
  valueKey,
  valueOptions,
  withAttribute,
  withType,
  writeQuery,
} from '../../src/lib/images/filters.ts';
import { parseJson, writeJson } from '../../src/lib/json.ts';

const roundTrip = (query: ReturnType<typeof newQuery>) => readQuery(new URLSearchParams(writeQuery(query)));

describe('filters in an address', () => {
  it('come back with the types of their values', () => {
    const query = newQuery({
      attributes: {
        plate: ['P3'],
        cycle: [1, '1', true, 'true', -2.5],
        treatment: ['siRNA KIF11', 'a,b', 'say "no"', ''],
      },
      types: { is_3D: true, corrected: false },
      status: ['failed', 'unset'],
      sort: '-attribute:nuclei',
      page: 3,
      pageSize: 50,
    });
    expect(roundTrip(query)).toEqual(query);
  });

  it('keep numbers as they were written', () => {
    const [exact] = parseJson('[1.0]') as never[];
    const [back] = roundTrip(newQuery({ attributes: { size: [exact!] } })).attributes['size']!;
    expect(valueKey(back)).toBe('1.0');
  });

  it('leave other parts of the address alone, and nothing of an earlier query', () => {
    const before = '?task=12&a.well=B03&t.is_3D=true&page=4';
    expect(writeQuery(newQuery({ attributes: { plate: ['P1'] } }), before)).toBe('?task=12&a.plate=P1');
    expect(writeQuery(newQuery(), '')).toBe('');
  });

  it('of a plate full of wells stay short enough for a web server', () => {
    const wells = Array.from({ length: 1536 }, (_, index) => `AF${index}`);
    const text = writeQuery(newQuery({ attributes: { well: wells } }));
    expect(text.length).toBeLessThan(12_000);
    expect(readQuery(new URLSearchParams(text)).attributes['well']).toEqual(wells);
  });

  it('are not believed when they make no sense', () => {
    const query = readQuery(new URLSearchParams('page=-2&page_size=7&status=lost,failed&t.is_3D=perhaps'));
    expect(query).toEqual(newQuery({ status: ['failed'] }));
  });
});

describe('a query', () => {
  it('begins at page 1 when it changes', () => {
    const query = newQuery({ page: 5 });
    expect(changed(query, { sort: 'zarr_url' }).page).toBe(1);
    expect(withAttribute(query, 'well', ['B03'])).toMatchObject({ page: 1, attributes: { well: ['B03'] } });
    expect(withAttribute(withAttribute(query, 'well', ['B03']), 'well', []).attributes).toEqual({});
    expect(withType(withType(query, 'is_3D', false), 'is_3D', undefined).types).toEqual({});
  });

  it('is sent with the status among the attributes', () => {
    expect(bodyOf(newQuery({ attributes: { well: ['B03'] }, status: ['failed'], types: { is_3D: true } }))).toEqual({
      attribute_filters: { well: ['B03'], [STATUS_KEY]: ['failed'] },
      type_filters: { is_3D: true },
    });
  });

  it('writes whole numbers as the others beside them, since 1 and 0.5 would be two kinds', () => {
    const sent = (values: number[]) => writeJson(bodyOf(newQuery({ attributes: { size: values } })).attribute_filters);
    expect(sent([1, 0.5, -2])).toBe('{"size":[1.0,0.5,-2.0]}');
    expect(sent([1, -2])).toBe('{"size":[1,-2]}');
  });

  it('keeps locked types when it is cleared, also those that no image has yet', () => {
    const locked = { illumination_corrected: true };
    const query = newQuery({ types: { ...locked, is_3D: true }, attributes: { well: ['B03'] } });
    expect(isFiltered(query, locked)).toBe(true);
    expect(isFiltered(cleared(query, locked), locked)).toBe(false);
    expect(cleared(query, locked).types).toEqual(locked);
    expect(typeKeys(['is_3D'], query.types, locked)).toEqual(['illumination_corrected', 'is_3D']);
  });
});

describe('values to choose from', () => {
  it('of several kinds say which they are, and are picked by their type', () => {
    const values = [1, '1', true];
    expect(valueOptions(values).map(({ name, note }) => [name, note])).toEqual([
      ['1', 'number'],
      ['1', 'text'],
      ['true', 'true or false'],
    ]);
    expect(pickedValues(values, ['"1"'])).toEqual(['1']);
  });

  it('of several kinds are picked one kind at a time, as the API takes them', () => {
    expect(pickedValues([1, '1', 2, '2'], ['1', '2', '"1"'])).toEqual(['1']);
    expect(pickedValues([1, '1', 2, '2'], ['1', '2'])).toEqual([1, 2]);
  });

  it('are sorted as people sort, and keep what was picked although no image has it any more', () => {
    expect(valueOptions(['b10', 'B2', 'a'], ['gone']).map(({ name }) => name)).toEqual(['a', 'B2', 'b10', 'gone']);
    expect(valueOptions(['a']).every(({ note }) => note === undefined)).toBe(true);
  });
});

describe('columns', () => {
  it('begin with plate and well, and leave out the status', () => {
    expect(attributeKeys({ nuclei: 1, well: 1, acquisition: 1, plate: 1, [STATUS_KEY]: 1 })).toEqual([
      'plate',
      'well',
      'acquisition',
      'nuclei',
    ]);
  });

  it('of numbers stand right', () => {
    expect(isNumeric([1, -2.5])).toBe(true);
    expect(isNumeric([1, '1'])).toBe(false);
    expect(isNumeric([])).toBe(false);
  });

  it('are sorted up, down, and not any more', () => {
    expect(nextSort(undefined, 'zarr_url')).toBe('zarr_url');
    expect(nextSort('zarr_url', 'zarr_url')).toBe('-zarr_url');
    expect(nextSort('-zarr_url', 'zarr_url')).toBeUndefined();
    expect(sortDirection('-attribute:well', 'attribute:well')).toBe('descending');
  });
});

it('paths are shown below the folder of the dataset, by whole names', () => {
  expect(relativePath('/data/a/p.zarr/B/03/0', '/data/a')).toBe('p.zarr/B/03/0');
  expect(relativePath('/data/ab/p.zarr', '/data/a')).toBe('/data/ab/p.zarr');
});
