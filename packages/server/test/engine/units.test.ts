import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type JsonObject, parseJson } from '@service/contract';

import { parsePythonJson } from '../../src/engine/python-json.ts';
import {
  parallelWidth,
  planCompute,
  planParallel,
  type PlannedUnit,
  planSingle,
  SINGLE_STEM,
  taskFolderName,
  tooManyUnits,
  unitStem,
} from '../../src/engine/units.ts';

/** The same, with all units at hand. */
function planAllParallel(plan: Parameters<typeof planParallel>[0]) {
  const planned = planParallel(plan);
  return 'units' in planned ? { units: [...planned.units] } : planned;
}
const planAllCompute = (plan: Parameters<typeof planCompute>[0]) => [...planCompute(plan)];

describe('names', () => {
  it.each([
    [1, 'Illum Corr!', '1_illum_corr_'],
    [0, 'My Tásk-1.0 (beta)', '0_my_tásk_1_0__beta_'],
    [12, 'a/b\\c\td', '12_a_b_c_d'],
    [0, '~[x]`{y}^', '0___x___y__'],
    [3, 'Ünï 細胞', '3_ünï_細胞'],
  ])('folder of task %i, %j: %s', (order, name, folder) => {
    expect(taskFolderName(order, name)).toBe(folder);
  });

  it.each([
    [2, null, 3, 'par-000000-0000002'],
    [2, 2, 3, 'par-000001-0000002'],
    [0, 0, 1, 'par-000000-0000000'],
    [19_999, 7, 20_000, 'par-002857-0019999'],
  ])('process %i in batches of %s, %i in all: %s', (number, unitsPerPack, total, stem) => {
    expect(unitStem({ number, unitsPerPack, total })).toBe(stem);
  });

  it('single processes have one of their own', () => {
    expect(`${SINGLE_STEM}-log.txt`).toBe('non_par--log.txt');
  });
});

describe('parallel_tasks_per_job', () => {
  it.each<[unknown, number | null]>([
    [undefined, null],
    [null, null],
    [4, 4],
    [0, null],
    [-3, null],
    ['5', 5],
    [' 7 ', 7],
    ['-1', null],
    [true, 1],
    [parseJson('2.0'), 2],
  ])('%j: %s', (value, width) => {
    expect(parallelWidth(value)).toEqual({ width });
  });

  it.each([1.5, '1.5', 'many', '', false, [], {}, Infinity, parseJson('1e999')])('%j is refused', (value) => {
    expect(parallelWidth(value)).toEqual({ problem: expect.stringContaining('parallel_tasks_per_job') });
  });
});

describe('limits', () => {
  it('count processes', () => {
    expect(tooManyUnits(20_000, 20_000)).toBeUndefined();
    expect(tooManyUnits(20_001, 20_000)).toMatch(/20001 times.*at most 20000/);
  });

  it('refuse an image that a parallel task would get twice', () => {
    const plan = planAllParallel({ zarr_urls: ['/z/a', '/z/b', '/z/a'], args: null, unitsPerPack: null });
    expect(plan).toEqual({ problem: expect.stringContaining('/z/a') });
  });
});

describe('arguments', () => {
  const single = { zarr_dir: '/z', zarr_urls: ['/z/a', '/z/b'], args: { sigma: 2 } };

  it.each([
    ['non_parallel', false, '{"zarr_dir":"/z","sigma":2,"zarr_urls":["/z/a","/z/b"]}', ['/z/a', '/z/b']],
    ['compound', true, '{"zarr_dir":"/z","sigma":2,"zarr_urls":["/z/a","/z/b"]}', ['/z/a', '/z/b']],
    ['converter_non_parallel', false, '{"zarr_dir":"/z","sigma":2}', []],
    ['converter_compound', true, '{"zarr_dir":"/z","sigma":2}', []],
  ] as const)('of a %s task', (type, is_init, args, zarr_urls) => {
    expect(planSingle({ type, ...single })).toEqual({ number: 0, is_init, stem: SINGLE_STEM, zarr_urls, args });
  });

  it('of a parallel task', () => {
    expect(planAllParallel({ zarr_urls: ['/z/a', '/z/b'], args: { sigma: 2 }, unitsPerPack: 1 })).toEqual({
      units: [
        {
          number: 0,
          is_init: false,
          stem: 'par-000000-0000000',
          zarr_urls: ['/z/a'],
          args: '{"zarr_url":"/z/a","sigma":2}',
        },
        {
          number: 1,
          is_init: false,
          stem: 'par-000001-0000001',
          zarr_urls: ['/z/b'],
          args: '{"zarr_url":"/z/b","sigma":2}',
        },
      ],
    });
  });

  it('go from the init phase to the processes as they were written', () => {
    const init_args = parsePythonJson('{"a":1.0,"b":12345678901234567890,"c":[NaN,-Infinity]}') as JsonObject;
    const args = parsePythonJson('{"d":2.50}') as JsonObject;
    const [unit] = planAllCompute({ items: [{ zarr_url: '/z/a', init_args }], args, unitsPerPack: null });
    expect(unit!.args).toBe(
      '{"zarr_url":"/z/a","init_args":{"a":1.0,"b":12345678901234567890,"c":[NaN,-Infinity]},"d":2.50}',
    );
  });

  it('are indented on request', () => {
    const plan = {
      items: [{ zarr_url: '/z/a', init_args: { a: [1] } }],
      args: { d: {} },
      unitsPerPack: null,
      indent: 2,
    };
    const expected = { zarr_url: '/z/a', init_args: { a: [1] }, d: {} };
    expect(planAllCompute(plan)[0]!.args).toBe(JSON.stringify(expected, null, 2));
    expect(planSingle({ type: 'converter_compound', ...single, args: null, indent: 2 }).args).toBe(
      '{\n  "zarr_dir": "/z"\n}',
    );
  });

  it('of the service win over stored ones', () => {
    const args = { zarr_dir: 'x', zarr_url: 'x', zarr_urls: 'x', init_args: 'x', k: 1 };
    expect(JSON.parse(planSingle({ type: 'compound', ...single, args }).args)).toEqual({
      zarr_dir: '/z',
      k: 1,
      zarr_urls: ['/z/a', '/z/b'],
    });
    expect(JSON.parse(planSingle({ type: 'converter_compound', ...single, args }).args)).toEqual({
      zarr_dir: '/z',
      k: 1,
    });
    expect(planAllCompute({ items: [{ zarr_url: '/z/a', init_args: {} }], args, unitsPerPack: null })[0]!.args).toBe(
      '{"zarr_url":"/z/a","init_args":{},"k":1}',
    );
  });
});

describe('plans of any size', () => {
  // V8 can mistake one key with a backslash in its text for another
  const key = fc.string().map((name) => name.replace(/["\\]/g, ''));
  const object = fc.object({
    key,
    values: [fc.string(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null)],
  });
  const args = fc.option(object);
  const urls = fc.uniqueArray(fc.stringMatching(/^\/z\/[a-z]{1,8}$/), { maxLength: 40 });
  const unitsPerPack = fc.option(fc.integer({ min: 0, max: 10 }));
  const indent = fc.constantFrom(0, 2);
  const reserved = ['zarr_dir', 'zarr_url', 'zarr_urls', 'init_args'];
  const usable = (given: JsonObject | null): JsonObject =>
    Object.fromEntries(Object.entries(given ?? {}).filter(([key]) => !reserved.includes(key)));
  const read = (unit: PlannedUnit) => JSON.parse(unit.args) as unknown;
  const asWritten = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

  function expectNumbered(units: PlannedUnit[], count: number, size: number | null): void {
    expect(units.map(({ number }) => number)).toEqual(Array.from({ length: count }, (_, index) => index));
    expect(new Set(units.map(({ stem }) => stem)).size).toBe(count);
    const batches = new Set(units.map(({ stem }) => stem.slice(0, 'par-000000'.length)));
    expect(batches.size).toBe(size ? Math.ceil(count / size) : Math.min(count, 1));
  }

  it('have the arguments of a parallel task', () => {
    fc.assert(
      fc.property(urls, args, unitsPerPack, indent, (zarr_urls, given, size, spaces) => {
        const plan = planAllParallel({ zarr_urls, args: given, unitsPerPack: size, indent: spaces });
        if ('problem' in plan) throw new Error(plan.problem);
        expectNumbered(plan.units, zarr_urls.length, size);
        expect(plan.units.map(read)).toEqual(zarr_urls.map((zarr_url) => asWritten({ zarr_url, ...usable(given) })));
        expect(plan.units.map((unit) => unit.zarr_urls)).toEqual(zarr_urls.map((url) => [url]));
      }),
    );
  });

  it('have the arguments of the processes of a compound task', () => {
    const item = fc.record({
      zarr_url: fc.constantFrom('/z/a', '/z/b'),
      init_args: object,
    });
    fc.assert(
      fc.property(fc.array(item), args, unitsPerPack, indent, (items, given, size, spaces) => {
        const units = planAllCompute({ items, args: given, unitsPerPack: size, indent: spaces });
        expectNumbered(units, items.length, size);
        expect(units.map(read)).toEqual(items.map((one) => asWritten({ ...one, ...usable(given) })));
      }),
    );
  });

  it('have the arguments of single processes', () => {
    const type = fc.constantFrom('non_parallel', 'compound', 'converter_non_parallel', 'converter_compound');
    fc.assert(
      fc.property(type, urls, args, indent, (kind, zarr_urls, given, spaces) => {
        const unit = planSingle({ type: kind, zarr_dir: '/z', zarr_urls, args: given, indent: spaces });
        const images = kind.startsWith('converter') ? {} : { zarr_urls };
        expect(read(unit)).toEqual(asWritten({ zarr_dir: '/z', ...usable(given), ...images }));
        expect(unit.zarr_urls).toEqual(kind.startsWith('converter') ? [] : zarr_urls);
        expect(unit.is_init).toBe(kind.endsWith('compound'));
      }),
    );
  });

  it('have a hundred thousand processes', () => {
    const zarr_urls = Array.from({ length: 100_000 }, (_, index) => `/z/${index}`);
    const plan = planAllParallel({ zarr_urls, args: { text: 'x'.repeat(10_000) }, unitsPerPack: 50 });
    expect('units' in plan && plan.units.at(-1)).toMatchObject({ number: 99_999, stem: 'par-001999-0099999' });
  });
});
