/**
 * What tasks of each type do with the images of a dataset, in jobs of the service with real processes: which images they
 * get, with which arguments, what their outputs change, and what the history counts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

import type { JsonObject } from '@service/contract';

import { dataFolder, type Flow, type Lab, type LabImage, type LabJob, openLab, type TaskSpec } from '../support/lab.ts';
import { startService, type TestService } from '../support/server.ts';

let service: TestService;
let lab: Lab;

beforeAll(async () => {
  service = await startService({ settings: { SERVICE_DATA_DIR: dataFolder() } });
  lab = await openLab(service);
});

/** Cases are written with `/data/z` for the folder of the dataset, which is another one in each run. */
const withFolder = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('/data/z', lab.folders.zarr)) as T;
const withoutFolder = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value).replaceAll(lab.folders.zarr, '/data/z')) as T;

interface Counters {
  status: string;
  num_done_images: number;
  num_failed_images: number;
  num_available_images: number;
}

/** Of each task: status, done, failed, available. */
async function countersOf(flow: Flow, dataset: number) {
  const statuses = (await lab.statuses(flow, dataset)) as Record<string, Counters | null>;
  return flow.steps.map((step) => {
    const one = statuses[step];
    return one && [one.status, one.num_done_images, one.num_failed_images, one.num_available_images];
  });
}

const imagesOf = async (dataset: number) => withoutFolder(await lab.images(dataset));

/** The arguments of a unit as its file has them, without those that script the task. */
function argsOf({ working_dir }: LabJob, file: string): JsonObject {
  const { plan, starts, task, ...args } = JSON.parse(readFileSync(join(working_dir, file), 'utf8')) as JsonObject;
  expect([plan, starts, task]).not.toContain(undefined);
  return withoutFolder(args);
}

async function play(specs: TaskSpec[], images: (string | LabImage)[], body: JsonObject = {}) {
  const flow = await lab.workflow(withFolder(specs));
  const dataset = await lab.dataset(withFolder(images));
  return { flow, dataset, ...(await again(flow, dataset, body)) };
}

async function again(flow: Flow, dataset: number, body: JsonObject = {}) {
  const before = (await lab.accounting()).length;
  const job = await lab.run(flow, dataset, body);
  return {
    job,
    images: await imagesOf(dataset),
    counters: await countersOf(flow, dataset),
    accounting: (await lab.accounting()).slice(before),
    units: await Promise.all(flow.steps.map((step) => lab.unitsInWords(dataset, step))),
    runs: await Promise.all(flow.steps.map(async (step) => (await lab.runs(dataset, step)).at(-1)?.status ?? null)),
  };
}

const image = (name: string, fields: Partial<LabImage> = {}): LabImage => ({
  zarr_url: `/data/z/${name}`,
  origin: null,
  attributes: {},
  types: {},
  ...fields,
});
const update = (...updates: object[]) => ({ output: { image_list_updates: updates } as unknown as JsonObject });

const UNIT = ['args.json', 'log.txt', 'metadiff.json'];
const filesOf = (folder: string, stem: string, endings = UNIT) =>
  endings.map((ending) => `${folder}/${stem}-${ending}`);

it('a plate is converted, corrected, projected and measured', async () => {
  const wells = ['01', '02'];
  const at = (plate: string, well: string, name = '0') => `/data/z/${plate}.zarr/A/${well}/${name}`;
  const projected = (well: string) =>
    update({
      zarr_url: at('p_mip', well, '0_corr'),
      origin: at('p', well, '0_corr'),
      attributes: { plate: 'p_mip.zarr' },
      types: { '3D': false },
    });
  const converted = (well: string) =>
    update({ zarr_url: at('p', well), attributes: { plate: 'p.zarr', well: `A${well}` }, types: { '3D': true } });
  const { job, images, counters, accounting, units, runs } = await play(
    [
      {
        name: 'Convert Plate',
        type: 'converter_compound',
        args: { image_dir: '/raw' },
        plan: {
          init: {
            output: {
              parallelization_list: [
                { zarr_url: at('p', '01'), init_args: { raw: 'a.tif' } },
                { zarr_url: `${at('p', '02')}/`, init_args: { raw: 'b.tif' } },
              ],
            },
          },
          [at('p', '01')]: converted('01'),
          [at('p', '02')]: converted('02'),
        },
      },
      {
        name: 'Illum Corr!',
        type: 'parallel',
        input_types: { corr: false },
        output_types: { corr: true },
        plan: { '*': update({ zarr_url: '{url}_corr', origin: '{url}' }) },
      },
      {
        name: 'Project',
        type: 'compound',
        input_types: { '3D': true },
        output_types: { '3D': false },
        plan: {
          init: { output: { parallelization_list: wells.map((well) => ({ zarr_url: at('p_mip', well, '0_corr') })) } },
          [at('p_mip', '01', '0_corr')]: projected('01'),
          [at('p_mip', '02', '0_corr')]: projected('02'),
        },
      },
      { name: 'Measure', type: 'parallel' },
    ],
    [],
  );
  const wellOf = (plate: string, well: string) => ({ attributes: { plate: `${plate}.zarr`, well: `A${well}` } });
  expect(job.status).toBe('done');
  expect(images).toEqual([
    ...wells.map((well) => image(`p.zarr/A/${well}/0`, { ...wellOf('p', well), types: { '3D': true } })),
    ...wells.map((well) =>
      image(`p.zarr/A/${well}/0_corr`, {
        ...wellOf('p', well),
        origin: at('p', well),
        types: { '3D': true, corr: true },
      }),
    ),
    ...wells.map((well) =>
      image(`p_mip.zarr/A/${well}/0_corr`, {
        ...wellOf('p_mip', well),
        origin: at('p', well, '0_corr'),
        types: { '3D': false, corr: true },
      }),
    ),
  ]);
  expect(units).toEqual([
    ['done:[]', 'done:[p.zarr/A/01/0]', 'done:[p.zarr/A/02/0]'],
    ['done:[p.zarr/A/01/0]', 'done:[p.zarr/A/02/0]'],
    ['done:[p.zarr/A/01/0_corr,p.zarr/A/02/0_corr]', 'done:[p_mip.zarr/A/01/0_corr]', 'done:[p_mip.zarr/A/02/0_corr]'],
    ['done:[p_mip.zarr/A/01/0_corr]', 'done:[p_mip.zarr/A/02/0_corr]'],
  ]);
  expect(runs).toEqual(['done', 'done', 'done', 'done']);
  expect(counters).toEqual([
    ['done', 0, 0, 0],
    ['done', 2, 0, 2],
    ['done', 2, 0, 2],
    ['done', 2, 0, 2],
  ]);
  expect(accounting).toEqual([
    [3, 2],
    [2, 2],
    [3, 2],
    [2, 0],
  ]);
  const par = (number: number) => `par-000000-000000${number}`;
  expect(argsOf(job, '0_convert_plate/non_par--args.json')).toEqual({ zarr_dir: '/data/z', image_dir: '/raw' });
  expect(argsOf(job, `0_convert_plate/${par(1)}-args.json`)).toEqual({
    zarr_url: at('p', '02'),
    init_args: { raw: 'b.tif' },
    image_dir: '/raw',
  });
  expect(argsOf(job, `1_illum_corr_/${par(0)}-args.json`)).toEqual({ zarr_url: at('p', '01') });
  expect(argsOf(job, '2_project/non_par--args.json')).toEqual({
    zarr_dir: '/data/z',
    zarr_urls: wells.map((well) => at('p', well, '0_corr')),
  });
  expect(argsOf(job, `2_project/${par(1)}-args.json`)).toEqual({
    zarr_url: at('p_mip', '02', '0_corr'),
    init_args: {},
  });
  const files = [
    ...['0_convert_plate', '2_project'].flatMap((folder) => filesOf(folder, 'non_par-')),
    ...['0_convert_plate', '1_illum_corr_', '2_project'].flatMap((folder) =>
      [0, 1].flatMap((number) => filesOf(folder, par(number))),
    ),
    ...[0, 1].flatMap((number) => filesOf('3_measure', par(number), ['args.json', 'log.txt'])),
    'workflow.log',
  ].sort();
  expect(await lab.members(job)).toEqual(files);
  expect(lab.files(job)).toEqual(files);
});

it('a non-parallel task unsets and adds attributes, and removes an image', async () => {
  const { flow, dataset, job, images, counters, accounting, units } = await play(
    [
      {
        type: 'non_parallel',
        output_types: { o: true },
        plan: {
          '*': {
            output: {
              image_list_updates: [{ zarr_url: '/data/z/a', attributes: { k2: null, k3: 3 } }],
              image_list_removals: ['/data/z/c/'],
            },
          },
        },
      },
    ],
    [
      image('a', { attributes: { k1: 'v1', k2: 'v2' }, types: { t: true } }),
      image('b', { attributes: { k1: 'v1' } }),
      image('c'),
    ],
  );
  expect(job.status).toBe('done');
  expect(images).toEqual([
    image('a', { attributes: { k1: 'v1', k3: 3 }, types: { t: true, o: true } }),
    image('b', { attributes: { k1: 'v1' } }),
  ]);
  expect(units).toEqual([['done:[a,b,c]']]);
  expect(counters).toEqual([['done', 2, 0, 3]]);
  expect(accounting).toEqual([[1, 0]]);
  const remembered = await service.database.db
    .selectFrom('history_image_cache')
    .select('zarr_url')
    .where('dataset_id', '=', dataset)
    .where('workflowtask_id', '=', flow.steps[0]!)
    .orderBy('zarr_url')
    .execute();
  expect(remembered.map((row) => lab.nameOf(row.zarr_url))).toEqual(['a', 'b']);
});

describe('an image that is made again from an origin', () => {
  const BEFORE = [
    image('3d', { attributes: { well: 'B03' }, types: { is_3D: true, ic: true } }),
    image('2d', { attributes: { well: 'XX' }, types: { is_3D: false, junk: true } }),
  ];
  const flat = (fields: object) => ({ zarr_url: '/data/z/2d', types: { is_3D: false }, ...fields });

  it.each<[string, object, LabImage[]]>([
    [
      'takes everything from it',
      flat({ origin: '/data/z/3d' }),
      [
        BEFORE[0]!,
        image('2d', { origin: '/data/z/3d', attributes: { well: 'B03' }, types: { is_3D: false, ic: true } }),
      ],
    ],
    ['keeps what it has when it is its own origin', flat({ origin: '/data/z/2d' }), BEFORE],
    ['keeps what it has without an origin', flat({}), BEFORE],
    [
      'begins with nothing when the origin is unknown',
      { zarr_url: '/data/z/new', origin: '/data/z/nope', types: { is_3D: false } },
      [...BEFORE, image('new', { origin: '/data/z/nope', types: { is_3D: false } })],
    ],
  ])('%s', async (_, output, expected) => {
    const { job, images } = await play([{ type: 'non_parallel', plan: { '*': update(output) } }], BEFORE);
    expect([job.status, images]).toEqual(['done', expected]);
  });
});

describe('the types that a task makes', () => {
  it.each<[string, TaskSpec['plan'], object[]]>([
    ['go to all images when it says nothing', {}, [{ x: true }, { x: true }]],
    [
      'go to the named ones when it says something',
      { '/data/z/a': update({ zarr_url: '/data/z/a' }) },
      [{ x: true }, {}],
    ],
  ])('%s', async (_, plan, expected) => {
    const spec: TaskSpec = { type: 'parallel', output_types: { x: true }, plan: plan ?? {} };
    const { images, accounting, units } = await play([spec], ['a', 'b']);
    expect(images.map(({ types }) => types)).toEqual(expected);
    expect(accounting).toEqual([[2, 0]]);
    expect(units).toEqual([['done:[a]', 'done:[b]']]);
  });
});

describe('some units fail', () => {
  it.each<[string, JsonObject]>([
    ['nothing', {}],
    ['an update', update({ zarr_url: '/data/z/a' })],
  ])('and the others, which say %s, keep their results', async (_, ofA) => {
    const { job, images, counters, accounting, units, runs } = await play(
      [{ type: 'parallel', output_types: { corr: true }, plan: { '/data/z/a': ofA, '/data/z/b': { exit: 3 } } }],
      ['a', 'b'],
    );
    expect(images).toEqual([image('a', { types: { corr: true } }), image('b')]);
    expect([job.status, runs, units]).toEqual(['failed', ['failed'], [['done:[a]', 'failed:[b]']]]);
    expect(counters).toEqual([['failed', 1, 1, 2]]);
    expect(accounting).toEqual([[2, 0]]);
  });

  it('and all of a compound task with them', async () => {
    const item = (name: string) => ({ zarr_url: `/data/z/${name}` });
    const { images, counters, accounting, units, runs } = await play(
      [
        {
          type: 'compound',
          output_types: { corr: true },
          plan: {
            init: { output: { parallelization_list: [item('a'), item('a'), item('b')] } },
            '/data/z/b': { exit: 3 },
          },
        },
      ],
      ['a', 'b'],
    );
    expect(images).toEqual([image('a'), image('b')]);
    expect([runs, units]).toEqual([['failed'], [['failed:[a,b]', 'failed:[a]', 'failed:[b]']]]);
    expect(counters).toEqual([['failed', 0, 2, 2]]);
    expect(accounting).toEqual([[3, 0]]);
  });
});

describe('units that say the same', () => {
  it('say it once', async () => {
    const { images, counters, accounting } = await play(
      [
        {
          type: 'parallel',
          plan: {
            '*': {
              output: {
                image_list_updates: [{ zarr_url: '/data/z/shared', attributes: { k: 1 } }],
                image_list_removals: ['/data/z/old'],
              },
            },
          },
        },
      ],
      ['a', 'b', 'old'],
    );
    expect(images).toEqual([image('a'), image('b'), image('shared', { attributes: { k: 1 } })]);
    expect(counters).toEqual([['done', 2, 0, 3]]);
    expect(accounting).toEqual([[3, 1]]);
  });

  it('and contradict each other fail the run, and nothing changes', async () => {
    const shared = (k: number) => update({ zarr_url: '/data/z/shared', attributes: { k } });
    const { job, images, accounting, units, runs } = await play(
      [{ type: 'parallel', output_types: { x: true }, plan: { '/data/z/a': shared(1), '/data/z/b': shared(2) } }],
      ['a', 'b'],
    );
    expect(images).toEqual([image('a'), image('b')]);
    expect([job.status, runs, units]).toEqual(['failed', ['failed'], [['failed:[a]', 'failed:[b]']]]);
    expect(job.failure).toMatchObject({ kind: 'output', message: expect.stringContaining('shared') });
    expect(accounting).toEqual([]);
  });
});

it('only what is missing runs again', async () => {
  const { dataset, flow, job, units } = await play(
    [{ type: 'parallel', plan: { '/data/z/b': { exit: 1 } } }],
    ['a', 'b', 'c'],
  );
  expect([job.status, units]).toEqual(['failed', [['done:[a]', 'failed:[b]', 'done:[c]']]]);
  const step = flow.steps[0]!;
  await lab.owner.client.patch(`${lab.base}/workflow/${flow.id}/wftask/${step}/`, { args_parallel: {} });
  const second = await again(flow, dataset, {
    attribute_filters: { __wftask_dataset_image_status__: ['failed', 'unset'] },
  });
  expect([second.job.status, second.units]).toEqual(['done', [['done:[b]']]]);
  expect(second.counters).toEqual([['done', 3, 0, 3]]);
  expect(second.images).toEqual([image('a'), image('b'), image('c')]);
  const runs = await lab.runs(dataset, step);
  expect(runs.map(({ status, num_available_images }) => [status, num_available_images])).toEqual([
    ['failed', 3],
    ['done', 3],
  ]);
  const { body } = await lab.owner.client.post(
    `${lab.base}/status/images/`,
    {},
    { query: { dataset_id: dataset, workflowtask_id: step, include_units: true } },
  );
  const [first, last] = runs.map((run) => run.id);
  const seen = body.items.map((item: { unit: { history_run_id: number } }) => item.unit.history_run_id);
  expect(seen).toEqual([first, last, first]);
});

describe('some of the tasks', () => {
  const TASKS: TaskSpec[] = [
    { type: 'parallel', output_types: { t0: true } },
    { type: 'parallel', input_types: { t0: true }, output_types: { t1: true } },
    { type: 'parallel', output_types: { t2: true } },
  ];
  const RANGE = { first_task_index: 1, last_task_index: 2 };

  it('find no image where an earlier task has not run', async () => {
    const { job, counters, accounting, runs, images } = await play(TASKS, ['a'], RANGE);
    expect([job.status, job.failure.kind]).toEqual(['failed', 'no_images']);
    expect(counters).toEqual([null, ['failed', 0, 0, 0], null]);
    expect([runs, accounting, images]).toEqual([[null, 'failed', null], [], [image('a')]]);
  });

  it('run where it has', async () => {
    const { job, images, accounting } = await play(TASKS, [image('a', { types: { t0: true } })], RANGE);
    expect([job.status, images[0]!.types]).toEqual(['done', { t0: true, t1: true, t2: true }]);
    expect([...new Set(lab.files(job).map((file) => file[0]))]).toEqual(['1', '2', 'w']);
    expect(accounting).toEqual([
      [1, 0],
      [1, 0],
    ]);
  });
});

it('what a task makes wins over what its output says', async () => {
  const { images } = await play(
    [
      {
        type: 'parallel',
        output_types: { q: true },
        plan: { '*': update({ zarr_url: '{url}', types: { p: false, q: false } }) },
      },
    ],
    [image('a', { types: { p: true, q: true } })],
  );
  expect(images[0]!.types).toEqual({ p: false, q: true });
});

describe('an output', () => {
  it.each<[string, JsonObject]>([
    ['with a new image elsewhere', update({ zarr_url: '/other/c' }).output],
    ['with the folder itself as an image', update({ zarr_url: '/data/z' }).output],
    ['with a way up in an address', update({ zarr_url: '/data/z/../q' }).output],
    ['with a list as an attribute', update({ zarr_url: '/data/z/n', attributes: { a: [1] } }).output],
    ['with an unknown key', { filters: {} }],
  ])('%s is refused', async (_, output) => {
    const { job, images, units, runs } = await play(
      [{ type: 'parallel', output_types: { x: true }, plan: { '*': { output } } }],
      ['a'],
    );
    expect(images).toEqual([image('a')]);
    expect([job.status, job.failure.kind, runs, units]).toEqual(['failed', 'output', ['failed'], [['failed:[a]']]]);
  });

  it('may be a little careless', async () => {
    const { images } = await play(
      [
        {
          type: 'parallel',
          plan: { '*': update({ zarr_url: '{url}', attributes: { ' e ': 2 }, types: { t: 'true', u: 1 } }) },
        },
      ],
      ['a'],
    );
    expect(images).toEqual([image('a', { attributes: { e: 2 }, types: { t: true, u: true } })]);
  });
});
