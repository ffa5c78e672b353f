/** What tasks may write to harm the service or the dataset, by mistake or on purpose, and how little it does. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { JsonObject } from '@service/contract';

import { dataFolder, type Flow, type Lab, openLab, until } from '../support/lab.ts';
import { LONG } from '../support/long.ts';
import { serve, startService, type TestService } from '../support/server.ts';

const MOST_BYTES = 20_000;
const MOST_TOGETHER = 60_000;
const MOST_UNITS = 20;

let service: TestService;
let lab: Lab;

beforeAll(async () => {
  service = await startService({
    settings: {
      SERVICE_DATA_DIR: dataFolder(),
      SERVICE_MAX_NUM_THREADS: '4',
      SERVICE_MAX_OUTPUT_SIZE: String(MOST_BYTES),
      SERVICE_MAX_TASK_OUTPUT_SIZE: String(MOST_TOGETHER),
      SERVICE_MAX_UNITS_PER_TASK: String(MOST_UNITS),
    },
  });
  lab = await openLab(service);
});

afterEach(async () => expect((await service.anyone.get('/api/alive/')).status).toBe(200));

/** Written with `/Z` for the folder of the dataset. */
const inFolder = (text: string) => text.replaceAll('/Z', lab.folders.zarr);
const hex = (text: string) => Buffer.from(text).toString('hex');

/** Everything has failed, with these words everywhere, and the images are as before. */
async function expectRefused(flow: Flow, dataset: number, words: RegExp, index = 0) {
  const before = await lab.images(dataset);
  const job = await lab.run(flow, dataset);
  expect(job.failure?.message).toMatch(words);
  expect([job.status, job.failure.kind]).toEqual(['failed', 'output']);
  expect(job.log).toMatch(/^JOB ERROR/);
  const { run, units } = await lab.units(dataset, flow.steps[index]!);
  expect(run?.status).toBe('failed');
  expect(units.map((unit: { status: string }) => unit.status)).toEqual(units.map(() => 'failed'));
  expect(
    units.some((unit: { cause: string; message: string }) => unit.cause === 'output' && words.test(unit.message)),
  ).toBe(true);
  expect(await lab.images(dataset)).toEqual(before);
}

const update = (fields: string) => `{"image_list_updates": [{${fields}}]}`;

/** Of what engine/outputs.test.ts has without jobs. */
const someOf = <T>(cases: T[]): T[] => (LONG ? cases : cases.filter((_, number) => number % 6 === 0));

describe.concurrent('an output file', () => {
  const shapes: [string, string, RegExp][] = [
    ['is not JSON', '{"image_list_updates": [', /not valid JSON/],
    ['is empty', '', /empty/],
    ['begins with a byte order mark', '\ufeff{}', /not valid JSON/],
    ['is a list', '[]', /object or null/],
    ['is a number', '1', /object or null/],
    ['is a text', '"done"', /object or null/],
    ['has a key that nobody knows', '{"filters": {}}', /filters/],
    ['has null for a list', '{"image_list_updates": null}', /image_list_updates/],
    ['has an object for a list', '{"image_list_removals": {}}', /image_list_removals/],
    ['has a number for an update', '{"image_list_updates": [1]}', /image_list_updates\.0/],
    ['has an update without an address', update('"types": {}'), /image_list_updates\.0\.zarr_url/],
    ['has a number for an address', update('"zarr_url": 1'), /image_list_updates\.0\.zarr_url/],
    ['has a relative address', update('"zarr_url": "a"'), /image_list_updates\.0\.zarr_url/],
    ['has a number for an origin', update('"zarr_url": "/Z/a", "origin": 1'), /image_list_updates\.0\.origin/],
    ['has a list for attributes', update('"zarr_url": "/Z/a", "attributes": []'), /image_list_updates\.0\.attributes/],
    ['has an object for an attribute', update('"zarr_url": "/Z/a", "attributes": {"k": {}}'), /attributes\.k/],
    ['has a text for a type', update('"zarr_url": "/Z/a", "types": {"t": "perhaps"}'), /types\.t/],
    ['has NaN for an attribute', update('"zarr_url": "/Z/a", "attributes": {"size": NaN}'), /attributes\.size.*NaN/],
    [
      'has -Infinity for an attribute',
      update('"zarr_url": "/Z/a", "attributes": {"size": -Infinity}'),
      /attributes\.size/,
    ],
    ['has an endless number', update(`"zarr_url": "/Z/a", "attributes": {"size": 1e9999}`), /attributes\.size/],
    ['has a NUL in an attribute', update('"zarr_url": "/Z/a", "attributes": {"k": "a\\u0000b"}'), /attributes\.k/],
    ['has half a character', update('"zarr_url": "/Z/a", "attributes": {"k": "\\ud800"}'), /attributes\.k/],
    [
      'has a NUL in a name',
      update('"zarr_url": "/Z/a", "attributes": {"\\u0000": 1}'),
      /image_list_updates\.0\.attributes/,
    ],
    ['has a NUL in an address', update('"zarr_url": "/Z/a\\u0000"'), /image_list_updates\.0\.zarr_url/],
  ];
  const others: [string, string, RegExp][] = [
    ['is too large', `{"image_list_updates": ${' '.repeat(MOST_BYTES)}[]}`, /at most 20000.*SERVICE_MAX_OUTPUT_SIZE/],
    ['has an image elsewhere', update('"zarr_url": "/elsewhere/a"'), /\/elsewhere\/a/],
    ['has an image beside the folder', update('"zarr_url": "/Zz/a"'), /zarrz\/a/],
    ['has the folder as an image', update('"zarr_url": "/Z/"'), /\/zarr/],
    ['has a way up', update('"zarr_url": "/Z/../a"'), /image_list_updates\.0\.zarr_url/],
    ['has an object store', update('"zarr_url": "s3://bucket/a"'), /s3:\/\/bucket\/a/],
    [
      'updates an image twice',
      '{"image_list_updates": [{"zarr_url": "/Z/n"}, {"zarr_url": "/Z/n/", "types": {"t": true}}]}',
      /\/n twice/,
    ],
    [
      'updates and removes an image',
      '{"image_list_updates": [{"zarr_url": "/Z/a"}], "image_list_removals": ["/Z/a"]}',
      /updates and removes/,
    ],
    ['removes an unknown image', '{"image_list_removals": ["/Z/unknown"]}', /\/unknown/],
    ['removes a number', '{"image_list_removals": [1]}', /image_list_removals\.0/],
    ['has a deep nest', `{"image_list_updates": ${'['.repeat(9000)}${']'.repeat(9000)}}`, /./],
  ];
  it.each([...someOf(shapes), ...others])('that %s fails its unit, its run and its job', async (_, text, words) => {
    const plan = { '*': { raw_hex: hex(inFolder(text)) } };
    const flow = await lab.workflow([{ type: 'non_parallel', output_types: { made: true }, plan }]);
    await expectRefused(flow, await lab.dataset(['a', 'b']), words);
  });

  it('that is not text fails as well', async () => {
    const flow = await lab.workflow([{ type: 'non_parallel', plan: { '*': { raw_hex: 'fffe7b7d' } } }]);
    await expectRefused(flow, await lab.dataset(['a']), /UTF-8/);
  });

  it.each<[string, string, RegExp]>([
    ['says what only others may', '{"image_list_updates": []}', /image_list_updates/],
    [
      'has an item without an address',
      '{"parallelization_list": [{"init_args": {}}]}',
      /parallelization_list\.0\.zarr_url/,
    ],
    [
      'has a key that nobody knows',
      '{"parallelization_list": [{"zarr_url": "/Z/a", "args": {}}]}',
      /parallelization_list\.0\.args/,
    ],
    [
      'has a list for arguments',
      '{"parallelization_list": [{"zarr_url": "/Z/a", "init_args": []}]}',
      /parallelization_list\.0\.init_args/,
    ],
    [
      'has more items than allowed',
      JSON.stringify({
        parallelization_list: Array.from({ length: MOST_UNITS + 1 }, (_, n) => ({ zarr_url: `/Z/${n}` })),
      }),
      /run 21 times.*at most 20/,
    ],
  ])('of an init phase that %s fails', async (_, text, words) => {
    const flow = await lab.workflow([{ type: 'compound', plan: { init: { raw_hex: hex(inFolder(text)) } } }]);
    const dataset = await lab.dataset(['a']);
    await expectRefused(flow, dataset, words);
    expect(await lab.unitsInWords(dataset, flow.steps[0]!)).toEqual(['failed:[a]']);
  });

  it('of one compute unit fails all units of the task', async () => {
    const items = ['a', 'b'].map((name) => ({ zarr_url: lab.urlOf(name) }));
    const plan = { init: { output: { parallelization_list: items } }, [lab.urlOf('b')]: { raw: '[]' } };
    const flow = await lab.workflow([{ type: 'compound', output_types: { made: true }, plan: plan }]);
    const dataset = await lab.dataset(['a']);
    await expectRefused(flow, dataset, /object or null/);
    expect(await lab.unitsInWords(dataset, flow.steps[0]!)).toEqual(['failed:[a]', 'failed:[a]', 'failed:[b]']);
  });
});

it('more images than a task may have units fail it before any unit exists', async () => {
  const flow = await lab.workflow([{ type: 'parallel' }]);
  const dataset = await lab.dataset(Array.from({ length: MOST_UNITS + 1 }, (_, number) => `image-${number}`));
  const job = await lab.run(flow, dataset);
  const { run, units } = await lab.units(dataset, flow.steps[0]!);
  expect([job.status, run?.status, units]).toEqual(['failed', 'failed', []]);
  expect(job.failure.message).toMatch(/run 21 times/);
});

describe('units of one task', () => {
  const write = (text: string) => ({ raw_hex: hex(inFolder(text)) });

  it.each<[string, string, string, RegExp]>([
    [
      'that update an image in two ways',
      update('"zarr_url": "/Z/n", "attributes": {"k": 1}'),
      update('"zarr_url": "/Z/n"'),
      /\/n twice/,
    ],
    [
      'of which one updates what the other removes',
      update('"zarr_url": "/Z/b"'),
      '{"image_list_removals": ["/Z/b"]}',
      /updates and removes/,
    ],
  ])('%s fail together', async (_, first, second, words) => {
    const plan = { [lab.urlOf('a')]: write(first), [lab.urlOf('b')]: write(second) };
    const flow = await lab.workflow([{ type: 'parallel', plan }]);
    await expectRefused(flow, await lab.dataset(['a', 'b']), words);
  });

  it('that say the same in other words agree', async () => {
    const plan = {
      [lab.urlOf('a')]: write(update('"zarr_url": "/Z/n", "attributes": {"k": 1.0}')),
      [lab.urlOf('b')]: write(update('"zarr_url": "/Z//n/", "attributes": {" k": 1}, "unknown": "left out"')),
    };
    const flow = await lab.workflow([{ type: 'parallel', plan }]);
    const dataset = await lab.dataset(['a', 'b']);
    expect((await lab.run(flow, dataset)).status).toBe('done');
    expect((await lab.images(dataset)).map((image) => lab.nameOf(image.zarr_url))).toEqual(['a', 'b', 'n']);
  });
});

describe('outputs of all units together', () => {
  const names = ['a', 'b', 'c', 'd'];
  /** So long that this many units say no more than may be read. */
  const LONG = MOST_TOGETHER / 3;
  const padded = (text: string) => text.padEnd(LONG);
  const TOO_MUCH = /80000 bytes together, and at most 60000 .* SERVICE_MAX_TASK_OUTPUT_SIZE/;

  it('may be as long as is read', async () => {
    const plan = Object.fromEntries(names.map((name) => [lab.urlOf(name), { output: {} }]));
    for (const name of names.slice(1)) {
      const text = padded(inFolder(update(`"zarr_url": "/Z/${name}", "types": {"said": true}`)));
      plan[lab.urlOf(name)] = { raw: text } as never;
    }
    const flow = await lab.workflow([{ type: 'parallel', plan }]);
    const dataset = await lab.dataset(names);
    expect((await lab.run(flow, dataset)).status).toBe('done');
    expect((await lab.images(dataset)).map(({ types }) => types['said'] ?? false)).toEqual([false, true, true, true]);
  });

  it('fail the task where they are longer, and none of them counts', async () => {
    const plan = { '*': { raw: padded(inFolder(update('"zarr_url": "/Z/new"'))) } };
    const flow = await lab.workflow([{ type: 'parallel', plan }]);
    await expectRefused(flow, await lab.dataset(names), TOO_MUCH);
  });

  it('fail it also where the service was started again meanwhile', async () => {
    const settings = { SERVICE_DATA_DIR: dataFolder(), SERVICE_MAX_TASK_OUTPUT_SIZE: String(MOST_TOGETHER) };
    const before = await startService({ settings });
    const own = await openLab(before);
    const gate = join(own.root, 'gate');
    const raw = padded(`{"image_list_updates": [{"zarr_url": "${own.urlOf('new')}"}]}`);
    const plan = { '*': { raw }, [own.urlOf('c')]: { raw, wait_for: gate }, [own.urlOf('d')]: { raw, wait_for: gate } };
    const flow = await own.workflow([{ type: 'parallel', plan }]);
    const dataset = await own.dataset(names);
    const { body } = await own.submit(flow, dataset);
    const units = () => own.unitsInWords(dataset, flow.steps[0]!);
    await until('the first units', async () => (await units()).filter((unit) => unit.startsWith('done')).length === 2);
    await before.app.close();
    const { app } = await serve(before.database, { settings });
    try {
      writeFileSync(gate, '');
      const { failure } = await until('the end', async () => {
        const jobs = before.database.db.selectFrom('jobs').select(['status', 'failure']).where('id', '=', body.id);
        const job = await jobs.executeTakeFirstOrThrow();
        return job.status === 'submitted' ? undefined : job;
      });
      expect(failure).toMatchObject({ kind: 'output', message: expect.stringMatching(TOO_MUCH) as string });
    } finally {
      await app.close();
    }
  });
});

describe('another dataset', () => {
  it('loses no image', async () => {
    const other = await lab.dataset(['theirs']);
    const plan = { '*': { output: { image_list_removals: [lab.urlOf('theirs')] } } };
    const flow = await lab.workflow([{ type: 'non_parallel', plan }]);
    await expectRefused(flow, await lab.dataset(['a']), /theirs/);
    expect(await lab.images(other)).toHaveLength(1);
  });

  it('keeps its image when the same address comes into this one', async () => {
    const other = await lab.dataset([{ zarr_url: 'both', attributes: { k: 'theirs' } }]);
    const plan = {
      '*': { output: { image_list_updates: [{ zarr_url: lab.urlOf('both'), attributes: { k: 'mine' } }] } },
    };
    const flow = await lab.workflow([{ type: 'non_parallel', plan: plan }]);
    const dataset = await lab.dataset(['a']);
    expect((await lab.run(flow, dataset)).status).toBe('done');
    expect((await lab.images(dataset)).at(-1)!.attributes).toEqual({ k: 'mine' });
    expect((await lab.images(other))[0]!.attributes).toEqual({ k: 'theirs' });
  });
});

describe('symbolic links', () => {
  it.each([
    ['a folder on the way', 'link/image', /link\/image/],
    ['the image itself', 'link', /link/],
  ])('%s may not lead out of the dataset', async (_, name, words) => {
    const lab = await openLab(service);
    const outside = join(lab.root, 'outside');
    mkdirSync(outside);
    const images = [{ zarr_url: lab.urlOf(name) }];
    const plan = { '*': { link: [lab.urlOf('link'), outside], output: { image_list_updates: images } } };
    const flow = await lab.workflow([{ type: 'non_parallel', plan: plan }]);
    const dataset = await lab.dataset(['a']);
    const job = await lab.run(flow, dataset);
    expect([job.status, job.failure.kind]).toEqual(['failed', 'output']);
    expect(job.failure.message).toMatch(words);
    expect(await lab.images(dataset)).toHaveLength(1);
  });

  it('the folder of the dataset may be one', async () => {
    const linked = join(lab.root, 'linked');
    symlinkSync(lab.folders.zarr, linked);
    const plan = { '*': { output: { image_list_updates: [{ zarr_url: join(linked, 'new') }] } } };
    const flow = await lab.workflow([{ type: 'converter_non_parallel', plan: plan }]);
    const dataset = await lab.dataset([], linked);
    expect((await lab.run(flow, dataset)).status).toBe('done');
    expect((await lab.images(dataset)).map((image) => image.zarr_url)).toEqual([join(linked, 'new')]);
  });
});

describe('a log', () => {
  /** What both endpoints say about the only unit. */
  async function logOf(flow: Flow, dataset_id: number): Promise<string> {
    const workflowtask_id = flow.steps[0]!;
    const { run, units } = await lab.units(dataset_id, workflowtask_id);
    const { client } = lab.owner;
    const query = { dataset_id, workflowtask_id, history_run_id: run!.id, history_unit_id: units[0].id as number };
    const ofUnit = await client.get(`${lab.base}/status/unit-log/`, { query });
    const body = { dataset_id, workflowtask_id, zarr_url: units[0].zarr_urls[0] };
    const ofImage = await client.post(`${lab.base}/status/image-log/`, body);
    expect([ofUnit.status, ofImage.status, ofImage.body === ofUnit.body]).toEqual([200, 200, true]);
    return ofUnit.body as string;
  }

  it.each<[string, JsonObject, string, string]>([
    ['with NUL characters', { print_hex: hex('a\0b\n'), exit: 1 }, 'a\0b\n', 'ab'],
    ['that is not UTF-8', { print_hex: `61fffe${hex('b\n')}`, exit: 1 }, 'a\ufffd\ufffdb\n', 'a\ufffd\ufffdb'],
  ])('%s is shown as far as it can be, and the job ends', async (_, step, log, inJob) => {
    const flow = await lab.workflow([{ type: 'parallel', plan: { '*': step } }]);
    const dataset = await lab.dataset(['a']);
    const job = await lab.run(flow, dataset);
    expect(job.status).toBe('failed');
    expect(job.log).toContain(inJob);
    expect(await logOf(flow, dataset)).toBe(log);
  });

  it('of 100 MB is shown in part, and only its end is repeated in the log of the job', async () => {
    const plan = { '*': { print: 'first line', long_log: 100 * 2 ** 20, raise: 'no channel' } };
    const flow = await lab.workflow([{ type: 'parallel', plan }]);
    const dataset = await lab.dataset(['a']);
    const job = await lab.run(flow, dataset);
    expect([job.status, job.failure.message]).toEqual(['failed', expect.stringContaining('ValueError: no channel')]);
    expect(job.log.length).toBeLessThan(25_000);
    const log = await logOf(flow, dataset);
    expect(log).toMatch(/^first line\n/);
    expect(log).toContain('bytes are left out here');
    expect(log.trimEnd()).toMatch(/ValueError: no channel$/);
    expect(log.length).toBeLessThan(10 * 2 ** 20);
    expect(await lab.members(job)).toContain('workflow.log');
  });
});
