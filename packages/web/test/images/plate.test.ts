import { describe, expect, it } from 'vitest';

import { type ListedImage, newQuery, STATUS_KEY } from '../../src/lib/images/filters.ts';
import { imageState, seconds, worse } from '../../src/lib/images/image-state.ts';
import { colouring } from '../../src/routes/v2/projects/[project_id]/datasets/[dataset_id]/colouring.ts';
import { forgetGone } from '../../src/routes/v2/projects/[project_id]/datasets/[dataset_id]/forget.ts';
import {
  between,
  cellName,
  colourOf,
  countLooks,
  layOut,
  readWell,
  rowName,
  scaleOf,
  walk,
  wellValue,
} from '../../src/routes/v2/projects/[project_id]/datasets/[dataset_id]/plate.ts';
import {
  chosenTask,
  firstTask,
  ranTasks,
  workflowsOf,
} from '../../src/routes/v2/projects/[project_id]/datasets/[dataset_id]/ran-tasks.ts';
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
      ['failed', 'Killed for memory'],
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
      const { rows, columns } = layOut(
        wells.map((well) => image(well)),
        false,
      );
      return [rows, columns];
    };
    expect(size('A01', 'B03')).toEqual([2, 3]);
    expect(size('H12')).toEqual([8, 12]);
    expect(size('A13')).toEqual([16, 24]);
    expect(size('AF48')).toEqual([32, 48]);
  });

  it('hold their images and the worst of them', () => {
    const plate = layOut(
      [
        image('B03', { status: 'done' }),
        image('B/3', { status: 'failed' }),
        image('B04', { status: 'unset' }),
        image(7),
      ],
      true,
    );
    expect(plate.wells.get('B03')).toMatchObject({ look: 'failed', values: ['B03', 'B/3'] });
    expect(plate.wells.size).toBe(2);
    expect([...countLooks(plate.wells.values())]).toEqual([
      ['failed', 1],
      ['unset', 1],
    ]);
  });

  it('have no status where no task is chosen', () => {
    const plate = layOut([image('B03')], false);
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
    const plate = layOut(
      ['A01', 'A02', 'B01', 'D04'].map((well) => image(well)),
      false,
    );
    expect(between(plate, { row: 1, column: 1 }, { row: 0, column: 0 }).map(({ name }) => name)).toEqual([
      'A01',
      'A02',
      'B01',
    ]);
  });
});

describe('values of an attribute', () => {
  it('are numbers on a scale: the mean of a well', () => {
    const plate = layOut(
      [image('A01', { nuclei: 0 }), image('A01', { nuclei: 10 }), image('A02', { nuclei: 12 }), image('A03')],
      false,
    );
    const { wells } = plate;
    expect(wellValue(wells.get('A01')!, 'nuclei')).toBe(5);
    expect(wellValue(wells.get('A03')!, 'nuclei')).toBeUndefined();
    const scale = scaleOf(wells.values(), 'nuclei');
    expect(scale).toEqual({ kind: 'numbers', least: 5, most: 12 });
    expect([5, 12, undefined].map((value) => colourOf(scale, value))).toEqual(['v0', 'v6', undefined]);
    expect(colouring(plate, { attribute: 'nuclei' }).words(wells.get('A01')!)).toBe('nuclei 5, 2 images');
    expect(colouring(plate, { attribute: 'nuclei' }).words(wells.get('A03')!)).toBe('nuclei no value, 1 image');
  });

  it('are words far apart on the scale, or none where images of a well differ', () => {
    const plate = layOut(
      [
        image('A01', { nuclei: 'few' }),
        image('A02', { nuclei: 'many' }),
        image('A03', { nuclei: 'few' }),
        image('A03', { nuclei: 'many' }),
      ],
      false,
    );
    const scale = scaleOf(plate.wells.values(), 'nuclei');
    expect(scale).toEqual({
      kind: 'words',
      values: [
        { value: 'few', colour: 'v0' },
        { value: 'many', colour: 'v4' },
      ],
    });
    expect(colourOf(scale, wellValue(plate.wells.get('A03')!, 'nuclei'))).toBeUndefined();
  });

  it('that are all the same have a colour too', () => {
    const { wells } = layOut([image('A01', { nuclei: 3 })], false);
    expect(colourOf(scaleOf(wells.values(), 'nuclei'), 3)).toBe('v3');
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
    const { wells } = layOut(
      [image('B01', { status: 'failed' }), image('A02', { status: 'failed' }), image('A01', { status: 'done' })],
      true,
    );
    expect(troubles([...wells.values()]).map(({ well }) => well.name)).toEqual(['A02', 'B01']);
  });
});

it('a filter for a plate that is gone is taken away', () => {
  const query = newQuery({ attributes: { plate: ['P3'], well: ['A01', 'A02'] }, page: 2 });
  expect(forgetGone(query, { plate: ['P1'], well: ['A01'] })).toMatchObject({ attributes: { well: ['A01'] }, page: 1 });
  expect(forgetGone(query, { plate: ['P3'], well: ['A01', 'A02'] })).toBeUndefined();
});

describe('tasks whose work can be shown', () => {
  const step = (id: number, name: string, task_type = 'parallel') => ({ id, alias: null, task: { name }, task_type });
  const done = { status: 'submitted' as const };
  const ran = [
    {
      workflow: {
        id: 5,
        name: 'Measure',
        task_list: [step(1, 'Convert', 'converter_compound'), step(2, 'Correct'), step(3, 'Measure')],
      },
      job: { failure: null, last_task_index: 2, task_statuses: { 1: done, 2: done, 3: done } },
    },
    {
      workflow: { id: 4, name: 'Segment', task_list: [step(8, 'Segment'), step(9, 'Never')] },
      job: { failure: null, last_task_index: 1, task_statuses: { 8: done, 9: null } },
    },
  ] as unknown as Parameters<typeof ranTasks>[0];

  it('have run, and are no converters', () => {
    expect(ranTasks(ran).map(({ id }) => id)).toEqual([2, 3, 8]);
    expect(workflowsOf([{ workflow_id: 5 }, { workflow_id: null }, { workflow_id: 4 }, { workflow_id: 5 }])).toEqual([
      5, 4,
    ]);
  });

  it('begin with the failed one, else with the last of the newest job', () => {
    const tasks = ranTasks(ran);
    expect(firstTask(ran, tasks)).toBe(3);
    const failure = { kind: 'task', workflowtask_id: 2, message: '', num_images: 1 } as const;
    expect(firstTask([{ ...ran[0]!, job: { ...ran[0]!.job, failure } }, ran[1]!], tasks)).toBe(2);
    expect(firstTask([], [])).toBeUndefined();
  });

  it('are chosen in the address', () => {
    const tasks = ranTasks(ran);
    expect(chosenTask('8', tasks, 3)?.id).toBe(8);
    expect(chosenTask(null, tasks, 3)?.id).toBe(3);
    expect(chosenTask('77', tasks, 3)?.id).toBe(3);
    expect(chosenTask('none', tasks, 3)).toBeUndefined();
  });
});
