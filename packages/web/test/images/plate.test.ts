import { describe, expect, it } from 'vitest';

import { type ListedImage, newQuery, STATUS_KEY } from '../../src/lib/images/filters.ts';
import { imageState, seconds, worse } from '../../src/lib/images/image-state.ts';
import { colouring } from '../../src/lib/images/plates/colouring.ts';
import {
  between,
  cellName,
  countLooks,
  layOut,
  lookOf,
  readWell,
  rowName,
  walk,
} from '../../src/lib/images/plates/plate.ts';
import { colourOf, scaleOf, wellValue } from '../../src/lib/images/plates/values.ts';
import { WIDE, zoomOf } from '../../src/lib/images/plates/zoom.ts';
import { forgetGone } from '../../src/routes/v2/projects/[project_id]/datasets/[dataset_id]/images.ts';
import {
  imageOfWell,
  windowOfRow,
} from '../../src/routes/v2/projects/[project_id]/datasets/[dataset_id]/neighbours.ts';
import { factsOf, troubles } from '../../src/routes/v2/projects/[project_id]/datasets/[dataset_id]/well-facts.ts';

const unit = {
  id: 1,
  history_run_id: 1,
  started: true,
  timestamp_started: '2026-11-03T14:00:00Z',
  timestamp_ended: '2026-11-03T14:00:58Z',
  cause: null,
  message: null,
  num_warnings: 0,
  peak_memory_bytes: null,
};

let count = 0;
const image = (well: unknown, more: Partial<ListedImage> & { status?: string; nuclei?: unknown } = {}): ListedImage => {
  const { status, nuclei, attributes, ...rest } = more;
  return {
    zarr_url: `/data/p.zarr/${++count}`,
    origin: null,
    attributes: {
      ...(well === undefined ? {} : { well }),
      ...(status === undefined ? {} : { [STATUS_KEY]: status }),
      ...(nuclei === undefined ? {} : { nuclei }),
      ...attributes,
    },
    types: {},
    ...rest,
  };
};

type Group = Parameters<typeof lookOf>[0];
const NONE = { done: 0, submitted: 0, failed: 0, unset: 0 };

/** Images of a well as the API counts them; `counts` where a task is chosen. */
const group = (well: unknown, counts?: Partial<typeof NONE>, { values, ...more }: Partial<Group> = {}): Group => ({
  values: { ...(well === undefined ? {} : { well: well as string }), ...values },
  num_images: counts ? Object.values(counts).reduce((sum, count) => sum + count, 0) : 1,
  counts: counts ? { ...NONE, ...counts } : null,
  num_running: 0,
  num_stopped: 0,
  num_with_warnings: 0,
  newest_unit_id: null,
  ...more,
});

describe('the state of an image', () => {
  it('is in words', () => {
    const states = [
      image('A01', { status: 'done' }),
      image('A01', { status: 'done', has_warnings: true, unit: { ...unit, num_warnings: 2 } }),
      image('A01', { status: 'failed', unit: { ...unit, cause: 'memory' } }),
      image('A01', { status: 'failed', unit: { ...unit, cause: 'stopped' } }),
      image('A01', { status: 'submitted', unit }),
      image('A01', { status: 'submitted', unit: { ...unit, started: false } }),
      image('A01', { status: 'submitted' }),
      image('A01', { status: 'unset', unit: null }),
    ].map((one) => imageState(one));
    expect(states.map(({ look, word }) => [look, word])).toEqual([
      ['done', 'Done'],
      ['warning', 'Done, 2 warnings'],
      ['failed', 'Out of memory'],
      ['stopped', 'Stopped'],
      ['running', 'Running'],
      ['waiting', 'Waiting'],
      ['waiting', 'Waiting or running'],
      ['unset', 'Not run'],
    ]);
  });

  it('is told with how long it took', () => {
    expect(seconds(image('A01', { unit }))).toBe(58);
    expect(seconds(image('A01', { unit: null }))).toBeUndefined();
  });

  it('of several is the worst', () => {
    expect(worse('done', 'failed')).toBe('failed');
    expect(worse('unset', 'done')).toBe('done');
    expect(worse('warning', 'waiting')).toBe('waiting');
  });
});

describe('wells', () => {
  it('are read from letters and a number', () => {
    expect(readWell('F16')).toEqual({ row: 5, column: 15 });
    expect(readWell('f/3')).toEqual({ row: 5, column: 2 });
    expect(readWell('AF48')).toEqual({ row: 31, column: 47 });
    expect([readWell('A00'), readWell('well 3'), readWell(3), readWell(undefined)]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect([rowName(0), rowName(25), rowName(26), rowName(31)]).toEqual(['A', 'Z', 'AA', 'AF']);
    expect(cellName({ row: 5, column: 2 })).toBe('F03');
  });

  it('lie on the smallest plate that has them', () => {
    const size = (...wells: string[]) => {
      const { rows, columns } = layOut(wells.map((well) => group(well)));
      return [rows, columns];
    };
    expect(size('A01', 'B03')).toEqual([2, 3]);
    expect(size('H12')).toEqual([8, 12]);
    expect(size('A13')).toEqual([16, 24]);
    expect(size('AF48')).toEqual([32, 48]);
  });

  it('show the loudest that happened in them', () => {
    const looks = [
      group('A01', { done: 3, failed: 2 }, { num_stopped: 1 }),
      group('A01', { done: 3, failed: 2 }, { num_stopped: 2 }),
      group('A01', { done: 3, submitted: 2 }, { num_running: 1 }),
      group('A01', { done: 3, submitted: 2 }),
      group('A01', { done: 3, unset: 1 }, { num_with_warnings: 1 }),
      group('A01', { done: 3, unset: 1 }),
      group('A01', { unset: 1 }),
      group('A01'),
    ].map(lookOf);
    expect(looks).toEqual(['failed', 'stopped', 'running', 'waiting', 'warning', 'done', 'unset', undefined]);
  });

  it('hold the images of all groups of their place', () => {
    const plate = layOut([
      group('B03', { done: 3 }),
      group('B/3', { done: 1, failed: 2 }),
      group('B04', { unset: 1 }),
      group(7, { done: 1 }),
      group(undefined, { done: 1 }),
    ]);
    expect(plate.wells.get('B03')).toMatchObject({ look: 'failed', values: ['B03', 'B/3'], images: 6, failed: 2 });
    expect(plate.wells.size).toBe(2);
    expect([...countLooks(plate.wells.values())]).toEqual([
      ['failed', 1],
      ['unset', 1],
    ]);
    const { words } = colouring(plate, undefined);
    expect([...plate.wells.values()].map(words)).toEqual(['2 failed, 6 images', 'not run, 1 image']);
  });

  it('have no status where no task is chosen', () => {
    const plate = layOut([group('B03')]);
    expect(colouring(plate, undefined).look(plate.wells.get('B03')!)).toBe('plain');
    expect(colouring(plate, undefined).words(plate.wells.get('B03')!)).toBe('1 image');
  });

  it('are walked with keys, and never left', () => {
    const plate = { rows: 8, columns: 12 };
    expect(walk({ row: 0, column: 0 }, 'ArrowUp', plate)).toEqual({ row: 0, column: 0 });
    expect(walk({ row: 0, column: 0 }, 'ArrowRight', plate)).toEqual({ row: 0, column: 1 });
    expect(walk({ row: 2, column: 5 }, 'End', plate)).toEqual({ row: 2, column: 11 });
    expect(walk({ row: 2, column: 5 }, 'x', plate)).toBeUndefined();
  });

  it('are chosen as a block, as far as they hold images', () => {
    const plate = layOut(['A01', 'A02', 'B01', 'D04'].map((well) => group(well)));
    expect(between(plate, { row: 1, column: 1 }, { row: 0, column: 0 }).map(({ name }) => name)).toEqual([
      'A01',
      'A02',
      'B01',
    ]);
  });
});

describe('a row of wells', () => {
  const names = ['B01', 'B02', 'B03', 'B05', 'B06', 'B07', 'B08', 'B09', 'B10', 'B11', 'C01'];
  const plate = layOut(names.map((name) => group(name)));
  const around = (name: string) => {
    const { wells, before, after } = windowOfRow(plate, plate.wells.get(name)!);
    return [wells.map((well) => well.name).join(' '), before?.name, after?.name];
  };

  it('has the well in its middle, as far as the row reaches', () => {
    expect(around('B01')).toEqual(['B01 B02 B03 B05 B06 B07 B08 B09', undefined, 'B02']);
    expect(around('B06')).toEqual(['B01 B02 B03 B05 B06 B07 B08 B09', 'B05', 'B07']);
    expect(around('B11')).toEqual(['B03 B05 B06 B07 B08 B09 B10 B11', 'B10', undefined]);
    expect(around('C01')).toEqual(['C01', undefined, undefined]);
  });

  it('shows the same kind of image of each', () => {
    const [one, other] = [image('B/1'), image('B01')];
    const images = [
      { ...one, zarr_url: '/p.zarr/B/01/0' },
      { ...other, zarr_url: '/p.zarr/B/01/0_mip' },
    ];
    const well = plate.wells.get('B01')!;
    expect(imageOfWell(images, well, '0_mip')?.zarr_url).toBe('/p.zarr/B/01/0_mip');
    expect(imageOfWell(images, well, '1')?.zarr_url).toBe('/p.zarr/B/01/0');
    expect(imageOfWell(images, plate.wells.get('B02')!, '0')).toBeUndefined();
  });
});

describe('values of an attribute', () => {
  const of = (well: string, nuclei?: unknown, num_images = 1) =>
    group(well, undefined, { num_images, values: nuclei === undefined ? {} : { nuclei: nuclei as string } });

  it('are numbers on a scale: the mean of the images of a well', () => {
    const plate = layOut([of('A01', 0), of('A01', 10, 3), of('A02', 12), of('A03')]);
    const { wells } = plate;
    expect(wellValue(wells.get('A01')!, 'nuclei')).toEqual({ value: 7.5, several: ['0', '10'] });
    expect(wellValue(wells.get('A03')!, 'nuclei')).toBeUndefined();
    const scale = scaleOf(wells.values(), 'nuclei');
    expect(scale).toEqual({ kind: 'numbers', least: 7.5, most: 12, means: true });
    const colours = ['A01', 'A02', 'A03'].map((name) => colourOf(scale, wellValue(wells.get(name)!, 'nuclei')));
    expect(colours).toEqual(['v0', 'v6', undefined]);
    const { words } = colouring(plate, { attribute: 'nuclei' });
    expect(words(wells.get('A01')!)).toBe('nuclei mean 7.5 of 2 values, 4 images');
    expect(words(wells.get('A02')!)).toBe('nuclei 12, 1 image');
    expect(colouring(plate, { attribute: 'nuclei' }).words(wells.get('A03')!)).toBe('nuclei no value, 1 image');
  });

  it('are words far apart on the scale, and mixed where images of a well differ', () => {
    const plate = layOut([of('A01', 'few'), of('A02', 'many'), of('A03', 'few'), of('A03', 'many')]);
    const scale = scaleOf(plate.wells.values(), 'nuclei');
    expect(scale).toEqual({
      kind: 'words',
      values: [
        { value: 'few', colour: 'v0' },
        { value: 'many', colour: 'v4' },
      ],
    });
    const { look, words } = colouring(plate, { attribute: 'nuclei' });
    expect([look(plate.wells.get('A03')!), words(plate.wells.get('A03')!)]).toEqual([
      'mixed',
      'nuclei mixed (few, many), 2 images',
    ]);
    const only = layOut(['a', 'b', 'c', 'd', 'e', 'f'].map((word) => of('A01', word)));
    expect(colouring(only, { attribute: 'nuclei' }).words(only.wells.get('A01')!)).toBe(
      'nuclei mixed (a, b, c, d and 2 more), 6 images',
    );
  });

  it('have the same colours on all plates where that is wanted', () => {
    const plate = layOut([of('A01', 10), of('A02', 20)]);
    const [one, two] = [plate.wells.get('A01')!, plate.wells.get('A02')!];
    const alone = colouring(plate, { attribute: 'nuclei' });
    expect([alone.look(one), alone.look(two)]).toEqual(['v0', 'v6']);
    const together = colouring(plate, { attribute: 'nuclei' }, [0, 10, 20, 70]);
    expect(together.scale).toEqual({ kind: 'numbers', least: 0, most: 70, means: false });
    expect([together.look(one), together.look(two)]).toEqual(['v1', 'v2']);
    const words = colouring(layOut([of('A01', 'many')]), { attribute: 'nuclei' }, ['few', 'many', 'none']);
    expect(words.scale).toMatchObject({
      kind: 'words',
      values: [{ value: 'few' }, { value: 'many' }, { value: 'none' }],
    });
  });

  it('that are all the same have a colour too', () => {
    const { wells } = layOut([of('A01', 3)]);
    expect(colourOf(scaleOf(wells.values(), 'nuclei'), { value: 3, several: [] })).toBe('v3');
    expect(scaleOf(wells.values(), 'other')).toEqual({ kind: 'nothing' });
  });
});

describe('what is told about wells', () => {
  it('are their attributes and types', () => {
    const images = [
      image('A01', { nuclei: 3, types: { is_3D: true }, attributes: { treatment: 'DMSO' } }),
      image('A01', { nuclei: 9, attributes: { treatment: 'control' } }),
    ];
    expect(factsOf(images)).toEqual([
      { key: 'nuclei', words: '3 to 9' },
      { key: 'treatment', words: 'control, DMSO' },
      { key: 'is_3D', words: '1 of 2 images' },
    ]);
    expect(factsOf(images.slice(0, 1)).at(-1)).toEqual({ key: 'is_3D', words: 'true' });
  });

  it('begins with what failed, well by well', () => {
    const images = [
      image('B01', { status: 'failed' }),
      image(undefined, { status: 'failed' }),
      image('A02', { status: 'failed' }),
      image('A01', { status: 'done' }),
      image('A03', { status: 'failed', unit: { ...unit, cause: 'stopped' } }),
    ];
    expect(troubles(images).map(({ attributes }) => attributes['well'])).toEqual(['A02', 'B01', undefined]);
  });
});

it('a filter for a plate that is gone is taken away', () => {
  const query = newQuery({ attributes: { plate: ['P3'], well: ['A01', 'A02'] }, page: 2 });
  expect(forgetGone(query, { plate: ['P1'], well: ['A01'] })).toMatchObject({ attributes: { well: ['A01'] }, page: 1 });
  expect(forgetGone(query, { plate: ['P3'], well: ['A01', 'A02'] })).toBeUndefined();
});

describe('the map of a plate is drawn', () => {
  const side = (rows: number, columns: number, room: number) =>
    Math.round(zoomOf({ rows, columns }, room, true) * WIDE);

  it.each([
    ['with six wells as wide as its panel', 2, 3, 860, 273],
    ['with one well as large as a well may be', 1, 1, 860, 360],
    ['with 96 wells as before', 8, 12, 860, 67],
    ['with 1536 wells smaller than a letter', 32, 48, 860, 16],
  ])('%s', (_, rows, columns, room, expected) => {
    expect(side(rows, columns, room)).toBe(expected);
  });

  it('and never wider than the room there is', () => {
    for (const [rows, columns] of [
      [1, 1],
      [2, 3],
      [4, 6],
      [8, 12],
      [16, 24],
    ] as const) {
      for (const room of [300, 640, 1200]) {
        const zoom = zoomOf({ rows, columns }, room, true);
        expect(zoom * columns * WIDE).toBeLessThanOrEqual(room);
        expect(zoomOf({ rows, columns }, room, false) * columns * WIDE).toBeLessThanOrEqual(room);
      }
    }
  });
});
