/**
 * What tasks of each type do with a list of images, one task at a time and in memory: which images they get, with which
 * arguments, and what their outputs change. `jobs/tasks-on-image-lists.test.ts` has the same with real processes.
 */
import { describe, expect, it } from 'vitest';

import type { Image, JsonObject, Scalar, TaskType } from '@service/contract';

import {
  effectiveTypeFilters,
  nextTypeFilters,
  passesAttributes,
  passesTypes,
  STATUS_KEY,
} from '../../src/engine/filters.ts';
import { applyOutput, touchedUrls } from '../../src/engine/image-list.ts';
import { mergeOutputs } from '../../src/engine/merge.ts';
import { readInitOutput, readTaskOutput, type TaskOutput } from '../../src/engine/outputs.ts';
import { planCompute, planParallel, type PlannedUnit, planSingle } from '../../src/engine/units.ts';

type Flags = Record<string, boolean>;

interface State {
  images: Image[];
  current: Flags;
  attributeFilters?: Record<string, Scalar[]>;
}

interface Task {
  type: TaskType;
  input_types?: Flags;
  output_types?: Flags;
  args?: JsonObject;
  /** What each process writes; 'exit 3' fails. */
  writes: (unit: PlannedUnit, args: JsonObject) => object | string | null;
}

interface Ran {
  state: State;
  available: number;
  selected: string[];
  args: JsonObject[];
  units: { ok: boolean; zarr_urls: string[] }[];
  num_new_images: number;
  problem?: string;
}

const ZARR_DIR = '/data/z';

function select({ images, current, attributeFilters = {} }: State, input_types: Flags) {
  const filters = effectiveTypeFilters(current, input_types, {});
  const available = images.filter(({ types }) => passesTypes(types, filters));
  const selected = available.filter(({ attributes }) => passesAttributes(attributes, attributeFilters));
  return { available: available.length, selected: selected.map(({ zarr_url }) => zarr_url) };
}

/** The images after the task, or what is wrong with its output. */
function store({ images }: State, outputs: TaskOutput[], silentUrls: string[], outputTypes: Flags) {
  const merged = mergeOutputs({ outputs, silentUrls });
  if ('problem' in merged) return merged;
  const touched = new Set(touchedUrls(merged.updates, merged.removals));
  const known = new Map(images.filter((one) => touched.has(one.zarr_url)).map((one) => [one.zarr_url, one]));
  const changes = applyOutput({ known, ...merged, outputTypes, zarr_dir: ZARR_DIR });
  if ('problem' in changes) return changes;
  const changed = new Map(changes.changed.map((one) => [one.zarr_url, one]));
  const kept = images.filter(({ zarr_url }) => !changes.removed.includes(zarr_url));
  return {
    num_new_images: changes.num_new_images,
    images: [...kept.map((one) => changed.get(one.zarr_url) ?? one), ...changes.added],
  };
}

function run(state: State, task: Task): Ran {
  const { type, input_types, output_types, args, writes } = { input_types: {}, output_types: {}, args: {}, ...task };
  const converter = type.startsWith('converter');
  const { available, selected } = converter ? { available: 0, selected: [] } : select(state, input_types);
  const ran: Ran = { state, available, selected, args: [], units: [], num_new_images: 0 };
  if (!converter && selected.length === 0) return { ...ran, problem: 'no images' };

  const wrote = (unit: PlannedUnit) => {
    const given = JSON.parse(unit.args) as JsonObject;
    ran.args.push(given);
    const answer = writes(unit, given);
    return answer === null || typeof answer === 'string' ? answer : JSON.stringify(answer);
  };
  const outputs: TaskOutput[] = [];
  const succeeded: string[] = [];
  const compute = (units: PlannedUnit[]) => {
    for (const unit of units) {
      const text = wrote(unit);
      const read = text === 'exit 3' ? { problem: text } : readTaskOutput(text);
      const ok = 'output' in read;
      ran.units.push({ ok, zarr_urls: unit.zarr_urls });
      if (ok) {
        outputs.push(read.output);
        succeeded.push(...unit.zarr_urls);
      } else ran.problem ??= read.problem;
    }
  };
  let silentUrls = succeeded;
  if (type === 'parallel') {
    const plan = planParallel({ zarr_urls: selected, args, unitsPerPack: null });
    if ('problem' in plan) return { ...ran, problem: plan.problem };
    compute([...plan.units]);
  } else if (type.endsWith('compound')) {
    const init = planSingle({ type, zarr_dir: ZARR_DIR, zarr_urls: selected, args });
    const read = readInitOutput(wrote(init));
    ran.units.push({ ok: 'items' in read, zarr_urls: init.zarr_urls });
    if ('problem' in read) return { ...ran, problem: read.problem };
    compute([...planCompute({ items: read.items, args, unitsPerPack: null })]);
    if (read.items.length === 0) outputs.push({ image_list_updates: [], image_list_removals: [] });
    silentUrls = ran.problem === undefined ? selected : [];
    if (ran.problem !== undefined) for (const unit of ran.units) unit.ok = false;
  } else {
    compute([planSingle({ type, zarr_dir: ZARR_DIR, zarr_urls: selected, args })]);
  }

  const stored = store(state, outputs, silentUrls, output_types);
  if ('problem' in stored) return { ...ran, problem: stored.problem };
  const { images, num_new_images } = stored;
  return { ...ran, num_new_images, state: { ...state, images, current: nextTypeFilters(state.current, output_types) } };
}

const image = (name: string, members: Partial<Image> = {}): Image => ({
  zarr_url: `${ZARR_DIR}/${name}`,
  origin: null,
  attributes: {},
  types: {},
  ...members,
});
const dataset = (...images: Image[]): State => ({ images, current: {} });
const silent = () => null;

describe('a plate is converted, corrected, projected and measured by one job', () => {
  const [A1, A2] = ['/data/z/p.zarr/A/01/0', '/data/z/p.zarr/A/02/0'] as const;
  const well = (url: string) => (url.includes('/A/01/') ? 'A01' : 'A02');

  const e1 = run(dataset(), {
    type: 'converter_compound',
    args: { image_dir: '/raw' },
    writes: (unit, { zarr_url }) =>
      unit.is_init
        ? {
            parallelization_list: [
              { zarr_url: A1, init_args: { raw: 'a.tif' } },
              { zarr_url: `${A2}/`, init_args: { raw: 'b.tif' } },
            ],
          }
        : {
            image_list_updates: [
              { zarr_url, attributes: { plate: 'p.zarr', well: well(zarr_url as string) }, types: { '3D': true } },
            ],
          },
  });

  const converted: Image[] = [
    { zarr_url: A1, origin: null, attributes: { plate: 'p.zarr', well: 'A01' }, types: { '3D': true } },
    { zarr_url: A2, origin: null, attributes: { plate: 'p.zarr', well: 'A02' }, types: { '3D': true } },
  ];

  it('a converter on an empty dataset', () => {
    expect(e1.args).toEqual([
      { zarr_dir: '/data/z', image_dir: '/raw' },
      { zarr_url: A1, init_args: { raw: 'a.tif' }, image_dir: '/raw' },
      { zarr_url: A2, init_args: { raw: 'b.tif' }, image_dir: '/raw' },
    ]);
    expect(e1.state.images).toEqual(converted);
    expect(e1.units).toEqual([
      { ok: true, zarr_urls: [] },
      { ok: true, zarr_urls: [A1] },
      { ok: true, zarr_urls: [A2] },
    ]);
    expect(e1.num_new_images).toBe(2);
  });

  const e2 = run(e1.state, {
    type: 'parallel',
    input_types: { corr: false },
    output_types: { corr: true },
    writes: (_, { zarr_url }) => ({
      image_list_updates: [{ zarr_url: `${zarr_url as string}_corr`, origin: zarr_url }],
    }),
  });
  const corrected: Image[] = converted.map((one) => ({
    zarr_url: `${one.zarr_url}_corr`,
    origin: one.zarr_url,
    attributes: one.attributes,
    types: { '3D': true, corr: true },
  }));

  it('a parallel task that writes new images', () => {
    expect(e2.selected).toEqual([A1, A2]);
    expect(e2.args).toEqual([{ zarr_url: A1 }, { zarr_url: A2 }]);
    expect(e2.state.images).toEqual([...converted, ...corrected]);
    expect(e2.num_new_images).toBe(2);
  });

  const e3 = run(e2.state, {
    type: 'compound',
    input_types: { '3D': true },
    output_types: { '3D': false },
    writes: (unit, args) =>
      unit.is_init
        ? {
            parallelization_list: (args['zarr_urls'] as string[]).map((origin) => ({
              zarr_url: origin.replace('p.zarr', 'p_mip.zarr'),
              init_args: { origin },
            })),
          }
        : {
            image_list_updates: [
              {
                zarr_url: args['zarr_url'],
                origin: (args['init_args'] as JsonObject)['origin'],
                attributes: { plate: 'p_mip.zarr' },
                types: { '3D': false },
              },
            ],
          },
  });
  const projected: Image[] = corrected.map((one) => ({
    zarr_url: one.zarr_url.replace('p.zarr', 'p_mip.zarr'),
    origin: one.zarr_url,
    attributes: { ...one.attributes, plate: 'p_mip.zarr' },
    types: { '3D': false, corr: true },
  }));

  it('a compound task that projects, and a task behind it', () => {
    expect(e3.selected).toEqual(corrected.map(({ zarr_url }) => zarr_url));
    expect(e3.args[0]).toEqual({ zarr_dir: '/data/z', zarr_urls: e3.selected });
    expect(e3.state.images).toEqual([...converted, ...corrected, ...projected]);
    expect(e3.state.current).toEqual({ corr: true, '3D': false });
    expect(e3.units.map(({ zarr_urls }) => zarr_urls)).toEqual([
      e3.selected,
      ...projected.map(({ zarr_url }) => [zarr_url]),
    ]);
    const next = run(e3.state, { type: 'parallel', writes: silent });
    expect(next.selected).toEqual(projected.map(({ zarr_url }) => zarr_url));
    expect(next).toMatchObject({ num_new_images: 0, state: { images: e3.state.images } });
  });
});

describe('single tasks', () => {
  it('attributes unset and added, an image removed', () => {
    const before = dataset(
      image('a', { attributes: { k1: 'v1', k2: 'v2' }, types: { t: true } }),
      image('b', { attributes: { k1: 'v1' } }),
      image('c'),
    );
    const e4 = run(before, {
      type: 'non_parallel',
      output_types: { o: true },
      writes: () => ({
        image_list_updates: [{ zarr_url: '/data/z/a', attributes: { k2: null, k3: 3 } }],
        image_list_removals: ['/data/z/c/'],
      }),
    });
    expect(e4.state.images).toEqual([
      image('a', { attributes: { k1: 'v1', k3: 3 }, types: { t: true, o: true } }),
      image('b', { attributes: { k1: 'v1' } }),
    ]);
    expect(e4.num_new_images).toBe(0);
  });

  const e5Before = dataset(
    image('3d', { attributes: { well: 'B03' }, types: { is_3D: true, ic: true } }),
    image('2d', { attributes: { well: 'XX' }, types: { is_3D: false, junk: true } }),
  );

  it.each<[string, object, Image[]]>([
    [
      'from another image',
      { zarr_url: '/data/z/2d', origin: '/data/z/3d', types: { is_3D: false } },
      [
        e5Before.images[0]!,
        image('2d', { origin: '/data/z/3d', attributes: { well: 'B03' }, types: { is_3D: false, ic: true } }),
      ],
    ],
    ['from itself', { zarr_url: '/data/z/2d', origin: '/data/z/2d', types: { is_3D: false } }, e5Before.images],
    ['from nothing', { zarr_url: '/data/z/2d', origin: null }, e5Before.images],
    [
      'new, from an unknown one',
      { zarr_url: '/data/z/new', origin: '/data/z/nope', types: { is_3D: false } },
      [...e5Before.images, image('new', { origin: '/data/z/nope', types: { is_3D: false } })],
    ],
  ])('an image made again, %s', (_, update, images) => {
    const e5 = run(e5Before, { type: 'non_parallel', writes: () => ({ image_list_updates: [update] }) });
    expect(e5.state.images).toEqual(images);
  });

  const ab = dataset(image('a'), image('b'));
  const names = ({ images }: State, type: string) =>
    images.filter(({ types }) => types[type]).map(({ zarr_url }) => zarr_url.slice(-1));

  it.each([
    ['all are silent', () => null, ['a', 'b']],
    [
      'one says something',
      (unit: PlannedUnit) => (unit.number === 0 ? { image_list_updates: [{ zarr_url: '/data/z/a' }] } : null),
      ['a'],
    ],
  ])('%s', (_, writes, marked) => {
    const e6 = run(ab, { type: 'parallel', output_types: { x: true }, writes });
    expect(names(e6.state, 'x')).toEqual(marked);
    expect(e6.num_new_images).toBe(0);
  });

  it.each([
    ['silent', null],
    ['with an update', { image_list_updates: [{ zarr_url: '/data/z/a' }] }],
  ])('one process fails, the other is %s: only the image of the latter is marked', (_, output) => {
    const writes = (unit: PlannedUnit) => (unit.number === 1 ? 'exit 3' : output);
    const e7 = run(ab, { type: 'parallel', output_types: { corr: true }, writes });
    expect(e7.units.map(({ ok }) => ok)).toEqual([true, false]);
    expect(names(e7.state, 'corr')).toEqual(['a']);
    expect(e7.problem).toBe('exit 3');
  });

  it('a compound task with a failed process marks nothing, and equal items run once', () => {
    const e7 = run(ab, {
      type: 'compound',
      output_types: { corr: true },
      writes: (unit) => {
        if (!unit.is_init) return unit.number === 1 ? 'exit 3' : null;
        const items = ['/data/z/a', '/data/z/a', '/data/z/b'].map((zarr_url) => ({ zarr_url }));
        return { parallelization_list: items };
      },
    });
    expect(e7.units.map(({ ok }) => ok)).toEqual([false, false, false]);
    expect(e7.state.images).toEqual(ab.images);
  });

  it('a compound task with an empty list marks all selected images', () => {
    const empty = run(ab, { type: 'compound', output_types: { corr: true }, writes: silent });
    expect(empty.units).toHaveLength(1);
    expect(names(empty.state, 'corr')).toEqual(['a', 'b']);
  });

  const shared = (value: number) => ({
    image_list_updates: [{ zarr_url: '/data/z/shared', attributes: { k: value } }],
    image_list_removals: ['/data/z/old'],
  });

  it('equal updates and removals of several processes count once, different ones are refused', () => {
    const before = dataset(image('a'), image('b'), image('old'));
    const e8 = run(before, { type: 'parallel', writes: () => shared(1) });
    expect(e8.state.images).toEqual([image('a'), image('b'), image('shared', { attributes: { k: 1 } })]);
    expect(e8).toMatchObject({ available: 3, num_new_images: 1 });

    const conflict = run(before, { type: 'parallel', writes: (unit) => shared(unit.number) });
    expect(conflict.problem).toContain('/data/z/shared');
    expect(conflict.state.images).toEqual(before.images);
  });

  it('only what is missing runs again', () => {
    const status = (name: string, value: string) => image(name, { attributes: { [STATUS_KEY]: value } });
    const e9 = run(
      {
        images: [status('a', 'done'), status('b', 'failed'), status('c', 'done')],
        current: {},
        attributeFilters: { [STATUS_KEY]: ['failed', 'unset'] },
      },
      {
        type: 'parallel',
        writes: (_, { zarr_url }) => ({
          image_list_updates: [{ zarr_url: `${zarr_url as string}2`, origin: zarr_url }],
        }),
      },
    );
    expect(e9).toMatchObject({ available: 3, selected: ['/data/z/b'] });
    // new images inherit the status, so that the next tasks of the job get them
    expect(run(e9.state, { type: 'parallel', writes: silent }).selected).toEqual(['/data/z/b', '/data/z/b2']);
  });

  it.each<[Flags, Flags | undefined]>([
    [{}, undefined],
    [{ t0: true }, { t0: true, t1: true, t2: true }],
  ])('a job from the second task on, image with types %j', (types, after) => {
    const t1 = run(dataset(image('a', { types })), {
      type: 'parallel',
      input_types: { t0: true },
      output_types: { t1: true },
      writes: silent,
    });
    if (after === undefined) {
      expect(t1).toMatchObject({ problem: 'no images', available: 0, units: [] });
      return;
    }
    const t2 = run(t1.state, { type: 'parallel', output_types: { t2: true }, writes: silent });
    expect(t2.state.images[0]!.types).toEqual(after);
  });

  it('types of the task win over those of the update', () => {
    const e11 = run(dataset(image('a', { types: { p: true, q: true } })), {
      type: 'non_parallel',
      output_types: { q: true },
      writes: () => ({ image_list_updates: [{ zarr_url: '/data/z/a', types: { p: false, q: false } }] }),
    });
    expect(e11.state.images[0]!.types).toEqual({ p: false, q: true });
  });

  it.each<[object, string, boolean]>([
    [{ image_list_updates: [{ zarr_url: '/other/c' }] }, '/other/c must be inside /data/z', true],
    [{ image_list_updates: [{ zarr_url: '/data/z' }] }, '/data/z must be inside', true],
    [{ image_list_updates: [{ zarr_url: '/data/zzz/c' }] }, '/data/zzz/c must be inside', true],
    [{ image_list_removals: ['/data/z/nope'] }, '/data/z/nope', true],
    [{ image_list_updates: [{ zarr_url: '/data/z/../q' }] }, 'image_list_updates.0.zarr_url: ', false],
    [{ image_list_updates: [{ zarr_url: '/data/z/a', attributes: { a: [1] } }] }, 'attributes.a: ', false],
    [{ filters: {} }, 'filters: ', false],
    [[], 'must be an object', false],
  ])('%j is refused: %s', (output, words, unitIsFine) => {
    const e12 = run(ab, { type: 'non_parallel', output_types: { o: true }, writes: () => output });
    expect(e12.problem).toContain(words);
    expect(e12.units).toEqual([{ ok: unitIsFine, zarr_urls: ['/data/z/a', '/data/z/b'] }]);
    expect(e12.state.images).toEqual(ab.images);
  });

  it('keys are trimmed and flags read leniently', () => {
    const update = { zarr_url: '/data/z/a', attributes: { ' e ': 2 }, types: { t: 'true', u: 1 } };
    const e12 = run(ab, { type: 'non_parallel', writes: () => ({ image_list_updates: [update] }) });
    expect(e12.state.images[0]).toEqual(image('a', { attributes: { e: 2 }, types: { t: true, u: true } }));
  });
});
