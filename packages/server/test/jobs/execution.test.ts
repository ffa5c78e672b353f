/** What a job does with its tasks: which images they get, with which arguments they start, and what is known afterwards. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import type { JsonObject } from '@service/contract';

import {
  dataFolder,
  type Flow,
  type Lab,
  type LabJob,
  openLab,
  SCRIPTED,
  type TaskSpec,
  until,
} from '../support/lab.ts';
import { oneIn } from '../support/long.ts';
import { startService, type TestService } from '../support/server.ts';

const PRIVATE = [
  'POSTGRES_PASSWORD',
  'JWT_SECRET_KEY',
  'SERVICE_MAIL_SETTINGS',
  'OAUTH_CLIENT_SECRET',
  'FRACTAL_OTHER',
];
const STATUS = '__wftask_dataset_image_status__';

let service: TestService;
let lab: Lab;
let count = 0;

beforeAll(async () => {
  for (const name of PRIVATE) vi.stubEnv(name, 'kept from tasks');
  vi.stubEnv('OMP_NUM_THREADS', '3');
  service = await startService({ settings: { SERVICE_DATA_DIR: dataFolder(), SERVICE_MAX_NUM_THREADS: '4' } });
  lab = await openLab(service);
});

afterAll(() => void vi.unstubAllEnvs());

const newPath = () => join(lab.root, `file-${++count}`);
const release = (path: string) => writeFileSync(path, '');
const output = (...updates: object[]) => ({ output: { image_list_updates: updates } as unknown as JsonObject });
const text = ({ working_dir }: LabJob, file: string) => readFileSync(join(working_dir, file), 'utf8');
const ofTask = (flow: Flow, index: number) => `${lab.base}/workflow/${flow.id}/wftask/${flow.steps[index]}/`;

/** The images that each task was started for, as the names of their units. */
const selected = async (flow: Flow, dataset: number) =>
  Promise.all(
    flow.steps.map(async (step) =>
      (await lab.units(dataset, step)).units.map((unit: { zarr_urls: string[] }) =>
        unit.zarr_urls.map(lab.nameOf).join(),
      ),
    ),
  );
const available = async (flow: Flow, dataset: number) =>
  Promise.all(flow.steps.map(async (step) => (await lab.units(dataset, step)).run?.num_available_images));

describe('the images of a task', () => {
  it('follow the types that the tasks before it made', async () => {
    const flow = await lab.workflow([
      { type: 'converter_non_parallel' },
      { type: 'parallel', input_types: { corr: false }, output_types: { corr: true } },
      { type: 'parallel', input_types: { '3D': true }, output_types: { '3D': false } },
      { type: 'parallel' },
    ]);
    const dataset = await lab.dataset([
      { zarr_url: 'flat' },
      { zarr_url: 'deep', types: { '3D': true } },
      { zarr_url: 'done', types: { corr: true, '3D': true } },
    ]);
    await lab.run(flow, dataset);
    expect(await selected(flow, dataset)).toEqual([[''], ['flat', 'deep'], ['deep', 'done'], ['flat', 'deep', 'done']]);
    expect(await available(flow, dataset)).toEqual([0, 2, 2, 3]);
  });

  it('follow the filters of the job, which its own types overrule, for itself alone', async () => {
    const flow = await lab.workflow([
      { type: 'parallel' },
      { type: 'parallel', input_types: { x: false } },
      { type: 'parallel', type_filters: { y: true } },
      { type: 'parallel' },
    ]);
    const dataset = await lab.dataset([
      { zarr_url: 'x', types: { x: true } },
      { zarr_url: 'xy', types: { x: true, y: true } },
      { zarr_url: 'none' },
    ]);
    await lab.run(flow, dataset, { type_filters: { x: true } });
    expect(await selected(flow, dataset)).toEqual([['x', 'xy'], ['none'], ['xy'], ['x', 'xy']]);
  });

  it('pass the attribute filters of the job, also those that an earlier task made', async () => {
    const made = output({ zarr_url: '{url}_new', origin: '{url}' }, { zarr_url: '{url}_other', attributes: { n: 2 } });
    const flow = await lab.workflow([{ type: 'parallel', plan: { [lab.urlOf('one')]: made } }, { type: 'parallel' }]);
    const dataset = await lab.dataset([
      { zarr_url: 'one', attributes: { n: 1, well: 'A' } },
      { zarr_url: 'true', attributes: { n: true, well: 'A' } },
      { zarr_url: 'text', attributes: { n: '1', well: 'A' } },
      { zarr_url: 'elsewhere', attributes: { n: 1, well: 'B' } },
      { zarr_url: 'nothing' },
    ]);
    await lab.run(flow, dataset, { attribute_filters: { n: [1], well: ['A', 'C'] } });
    expect(await selected(flow, dataset)).toEqual([
      ['one', 'true'],
      ['one', 'true', 'one_new'],
    ]);
    expect(await available(flow, dataset)).toEqual([5, 7]);
  });

  it('are chosen by their status once, and what is made from them is chosen too', async () => {
    const flow = await lab.workflow([
      {
        type: 'parallel',
        plan: { '*': { exit: 1 }, [lab.urlOf('a')]: {}, [lab.urlOf('d')]: {} },
      },
      { type: 'parallel' },
    ]);
    const dataset = await lab.dataset(['a', 'b', 'c', 'd', 'e']);
    expect((await lab.run(flow, dataset, { last_task_index: 0 })).status).toBe('failed');
    const plan = { '*': output({ zarr_url: '{url}_of', origin: '{url}' }, { zarr_url: '{url}_alone' }) };
    await lab.owner.client.patch(ofTask(flow, 0), { args_parallel: { plan } });
    const job = await lab.run(flow, dataset, { attribute_filters: { [STATUS]: ['failed'] } });
    expect(job.status).toBe('done');
    expect(await selected(flow, dataset)).toEqual([
      ['b', 'c', 'e'],
      ['b', 'c', 'e', 'b_of', 'c_of', 'e_of'],
    ]);
    const images = await lab.images(dataset);
    const made = ['b', 'c', 'e'].flatMap((name) => [`${name}_of`, `${name}_alone`]);
    expect(images.map((image) => lab.nameOf(image.zarr_url))).toEqual(['a', 'b', 'c', 'd', 'e', ...made]);
    expect(images.filter((image) => STATUS in image.attributes)).toEqual([]);
  });

  it('are none when a status is asked for and the first task is a converter', async () => {
    const flow = await lab.workflow([{ type: 'converter_non_parallel' }, { type: 'parallel' }]);
    const job = await lab.run(flow, await lab.dataset(['a']), { attribute_filters: { [STATUS]: ['unset'] } });
    expect([job.status, job.failure]).toEqual([
      'failed',
      {
        kind: 'no_images',
        workflowtask_id: flow.steps[1],
        num_images: 0,
        zarr_url: null,
        message: expect.stringContaining('no image has the status unset'),
      },
    ]);
  });

  it('may be asked for by status for the first task only', async () => {
    const flow = await lab.workflow([
      { type: 'parallel', plan: { [lab.urlOf('b')]: { exit: 1 } } },
      { type: 'parallel' },
    ]);
    const dataset = await lab.dataset(['a', 'b', 'c']);
    await lab.run(flow, dataset);
    await lab.owner.client.patch(ofTask(flow, 0), { args_parallel: {} });
    const job = await lab.run(flow, dataset, { first_task_image_status: ['failed', 'unset'] });
    expect(job.status).toBe('done');
    expect(await selected(flow, dataset)).toEqual([['b'], ['a', 'b', 'c']]);
  });
});

describe('while a task runs', () => {
  it('the resource may be closed: the task ends well, the next one does not begin', async () => {
    const [lab, gate] = [await openLab(service), newPath()];
    const flow = await lab.workflow([{ type: 'parallel', plan: { '*': { wait_for: gate } } }, { type: 'parallel' }]);
    const dataset = await lab.dataset(['a']);
    const { body } = await lab.submit(flow, dataset);
    await until('the first unit', () => lab.starts().length === 1);
    const { resource_id } = lab;
    const prevent = { prevent_new_submissions: true };
    await service.database.db.updateTable('resources').set(prevent).where('id', '=', resource_id).execute();
    release(gate);
    const job = await lab.end(body.id);
    expect([job.status, job.failure.kind]).toEqual(['failed', 'submissions_off']);
    const runs = await Promise.all(flow.steps.map(async (step) => (await lab.units(dataset, step)).run?.status));
    expect(runs).toEqual(['done', 'failed']);
    expect(await lab.unitsInWords(dataset, flow.steps[1]!)).toEqual([]);
    expect(await lab.accounting()).toEqual([[1, 0]]);
  });

  it('what people do to the images stays', async () => {
    const [lab, gate] = [await openLab(service), newPath()];
    const changed = output({ zarr_url: '{url}', attributes: { by: 'task' } });
    const flow = await lab.workflow([
      { type: 'parallel', output_types: { t: true }, plan: { '*': { wait_for: gate, ...changed } } },
    ]);
    const dataset = await lab.dataset([
      { zarr_url: 'a' },
      { zarr_url: 'b', attributes: { old: 1 } },
      { zarr_url: 'gone', types: { skip: true } },
    ]);
    const { body } = await lab.submit(flow, dataset, { type_filters: { skip: false } });
    await until('both units', () => lab.starts().length === 2);
    const at = `${lab.base}/dataset/${dataset}/images/`;
    const { client } = lab.owner;
    const url = lab.urlOf;
    expect((await client.post(at, { zarr_url: url('new') })).status).toBe(201);
    expect((await client.patch(at, { zarr_url: url('b'), attributes: { by: 'hand', kept: 1 } })).status).toBe(200);
    expect((await client.delete(at, { query: { zarr_url: url('gone') } })).status).toBe(204);
    release(gate);
    expect((await lab.end(body.id)).status).toBe('done');
    expect(await lab.images(dataset)).toEqual([
      { zarr_url: url('a'), origin: null, attributes: { by: 'task' }, types: { t: true } },
      { zarr_url: url('b'), origin: null, attributes: { by: 'task', kept: 1 }, types: { t: true } },
      { zarr_url: url('new'), origin: null, attributes: {}, types: {} },
    ]);
  });

  it('images may go one by one and many at a time', async () => {
    const lab = await openLab(service, { origin: 'pypi' });
    const names = Array.from({ length: 120 }, (_, number) => `image-${number}`);
    const flow = await lab.workflow([{ type: 'parallel', output_types: { t: true } }]);
    const dataset = await lab.dataset(names);
    const { body } = await lab.submit(flow, dataset);
    await until('first units', () => lab.starts().length > 5);
    const at = `${lab.base}/dataset/${dataset}/images/`;
    const urls = names.map(lab.urlOf);
    const answers = await Promise.all([
      ...urls.slice(0, 40).map((zarr_url) => lab.owner.client.delete(at, { query: { zarr_url } })),
      ...[40, 60, 80].map((from) =>
        lab.owner.client.post(`${at}bulk/`, { zarr_urls: urls.slice(from, from + 20), remove: true }),
      ),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([...urls.slice(0, 40).map(() => 204), 200, 200, 200]);
    expect((await lab.end(body.id)).status).toBe('done');
    const { rows } = await sql<object>`
      select count(*)::int as num_done_images, 0 as num_submitted_images, 0 as num_failed_images
      from history_image_cache where dataset_id = ${dataset}`.execute(service.database.db);
    expect((await lab.statuses(flow, dataset))[flow.steps[0]!]).toMatchObject(rows[0]!);
  });

  it('what people do to the workflow does not reach the job', async () => {
    const [lab, gate] = [await openLab(service), newPath()];
    const flow = await lab.workflow([
      { type: 'parallel', plan: { '*': { wait_for: gate } } },
      { type: 'parallel', args: { sigma: 1 } },
    ]);
    const dataset = await lab.dataset(['a']);
    const { body } = await lab.submit(flow, dataset);
    await until('the first unit', () => lab.starts().length === 1);
    const at = `${lab.base}/workflow/${flow.id}/wftask/${flow.steps[1]}/`;
    const edit = await lab.owner.client.patch(at, { args_parallel: { sigma: 2 }, alias: 'renamed' });
    expect(edit.status).toBe(200);
    release(gate);
    expect((await lab.end(body.id)).status).toBe('done');
    expect(lab.starts()[1]!.args['sigma']).toBe(1);
    const { run } = await lab.units(dataset, flow.steps[1]!);
    expect(run).toMatchObject({ workflowtask_dump: { alias: null, args_parallel: { sigma: 1 } } });
  });
});

describe('arguments', () => {
  it('reach the task with their numbers as written', async () => {
    const numbers = '"f": 1.0, "i": 12345678901234567890, "e": 1e-7, "nested": [2.50]';
    const flow = await lab.workflow([{ type: 'compound' }]);
    const items = `{"parallelization_list": [{"zarr_url": "/x", "init_args": {${numbers}, "n": NaN, "m": -Infinity}}]}`;
    const plan = `"plan": {"init": {"raw": ${JSON.stringify(items)}}}`;
    const patched = await lab.owner.client.raw(ofTask(flow, 0), {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: `{"args_non_parallel": {${plan}, ${numbers}}, "args_parallel": {${numbers}}}`,
    });
    expect(patched.status).toBe(200);
    const job = await lab.run(flow, await lab.dataset(['a']));
    expect(job.status).toBe('done');
    const [folder] = lab.files(job)[0]!.split('/');
    const compact = '"f":1.0,"i":12345678901234567890,"e":1e-7,"nested":[2.50]';
    expect(text(job, `${folder}/non_par--args.json`)).toContain(compact);
    expect(text(job, `${folder}/par-000000-0000000-args.json`)).toBe(
      `{"zarr_url":"/x","init_args":{${compact},"n":NaN,"m":-Infinity},${compact}}`,
    );
  });
});

it('folders are named after their tasks, whatever the names are', async () => {
  const names = ['My Tásk-1.0 (beta)', 'Illum Corr!', '../up', 'a'.repeat(100)];
  const flow = await lab.workflow(names.map((name) => ({ type: 'parallel', name })));
  const job = await lab.run(flow, await lab.dataset(['a']));
  expect(job.status).toBe('done');
  const folders = [...new Set(lab.files(job).map((file) => file.split('/')[0]))];
  expect(folders).toEqual(['0_my_tásk_1_0__beta_', '1_illum_corr_', '2____up', `3_${'a'.repeat(100)}`, 'workflow.log']);
});

it('the folder of jobs may have a name with spaces and brackets', async () => {
  const lab = await openLab(service);
  const jobs_local_dir = join(lab.root, 'jobs [a] (b) $c');
  mkdirSync(jobs_local_dir);
  await service.database.db
    .updateTable('resources')
    .set({ jobs_local_dir })
    .where('id', '=', lab.resource_id)
    .execute();
  const job = await lab.run(await lab.workflow([{ type: 'parallel' }]), await lab.dataset(['a']));
  expect([job.status, job.working_dir.startsWith(jobs_local_dir)]).toEqual(['done', true]);
});

it('a task sees the environment of the service without its settings, and where it may keep things', async () => {
  const flow = await lab.workflow([{ type: 'parallel', plan: { '*': { environ: true } } }]);
  const job = await lab.run(flow, await lab.dataset(['a']));
  const log = lab.files(job).find((file) => file.endsWith('-log.txt'))!;
  const { environ, cwd } = JSON.parse(text(job, log)) as { environ: Record<string, string>; cwd: string };
  expect(cwd).toBe(process.cwd());
  expect(environ).toMatchObject({
    FRACTAL_CACHE_DIR: join(lab.root, 'fractal/.fractal_cache'),
    OMP_NUM_THREADS: '3',
    PATH: process.env['PATH'],
  });
  expect(Object.values(environ)).not.toContain('kept from tasks');
  expect(Object.keys(environ).filter((name) => /^(SERVICE|POSTGRES|JWT|OAUTH)_/.test(name))).toEqual([]);
});

describe.concurrent('a command that cannot be started', () => {
  it.each(
    oneIn<[string, string, RegExp]>(2, [
      ['is not there', '/nowhere/python3 task.py', /\/nowhere\/python3/],
      ['is not in the path', 'no-such-program-here', /no-such-program-here/],
      ['is not executable', SCRIPTED, /scripted_task\.py/],
      ['has characters of a shell', '/usr/bin/python3 task.py; ls', /;/],
      ['has half a quotation', `/usr/bin/python3 'task.py`, /quotation/],
    ]),
  )('because it %s fails its units with the reason', async (_, command, words) => {
    const flow = await lab.workflow([{ type: 'parallel', command }]);
    const dataset = await lab.dataset(['a', 'b']);
    const job = await lab.run(flow, dataset);
    const { units, run } = await lab.units(dataset, flow.steps[0]!);
    expect([job.status, run?.status]).toEqual(['failed', 'failed']);
    expect(job.failure.message).toMatch(words);
    for (const unit of units) {
      expect(unit).toMatchObject({
        status: 'failed',
        cause: 'start',
        exit_code: null,
        message: expect.stringMatching(words),
      });
    }
  });
});

it('every unit tells how it went', async () => {
  const traceback = {
    cause: 'error',
    exit_code: 1,
    signal: null,
    message: expect.stringContaining('ValueError: no channel'),
  };
  const cases: Record<string, [JsonObject, object]> = {
    fine: [{}, { status: 'done', cause: null, message: null, exit_code: 0, signal: null, num_warnings: 0 }],
    warned: [
      { print: 'UserWarning: a\nall is well\nwarning' },
      { status: 'done', has_warnings: true, num_warnings: 2, exit_code: 0 },
    ],
    raised: [{ raise: 'no channel' }, { status: 'failed', ...traceback }],
    left: [
      { exit: 7, print: 'warning' },
      { status: 'failed', cause: 'error', exit_code: 7, has_warnings: true },
    ],
    crashed: [{ signal: 11 }, { status: 'failed', cause: 'signal', exit_code: null, signal: 11 }],
  };
  const plan = Object.fromEntries(Object.entries(cases).map(([name, [step]]) => [lab.urlOf(name), step]));
  const flow = await lab.workflow([{ type: 'parallel', plan }]);
  const dataset = await lab.dataset(Object.keys(cases));
  const job = await lab.run(flow, dataset);
  const { units } = await lab.units(dataset, flow.steps[0]!);
  for (const [index, [, expected]] of Object.values(cases).entries()) expect(units[index]).toMatchObject(expected);
  for (const unit of units) {
    expect(unit.peak_memory_bytes).toBeGreaterThan(1e6);
    expect(unit.cpu_seconds).toBeGreaterThan(0);
    expect(Date.parse(unit.timestamp_ended)).toBeGreaterThan(Date.parse(unit.timestamp_started));
    expect([unit.is_init, unit.memory_limit_bytes, unit.node]).toEqual([false, null, null]);
  }
  expect(await lab.statuses(flow, dataset)).toMatchObject({
    [flow.steps[0]!]: {
      has_warnings: true,
      num_images_with_warnings: 2,
      progress: { waiting: 0, running: 0, done: 2, failed: 3 },
      causes: { error: 2, signal: 1 },
    },
  });
  expect(job.failure).toMatchObject({ kind: 'task', num_images: 3, workflowtask_id: flow.steps[0] });
});

describe('a folder that lies where the one of the job was to be', () => {
  it('fails the job and is left as it is: nothing is written there, zipped or removed', async () => {
    const { pool } = service.database;
    const taken = join(lab.root, 'taken');
    mkdirSync(taken);
    // large enough for the folder of a job to be removed after zipping
    writeFileSync(join(taken, 'precious'), randomBytes(2 ** 21));
    await pool.query(`
      create function take_folder() returns trigger language plpgsql as $$ begin new.working_dir := '${taken}'; return new; end $$;
      create trigger take_folder before update of working_dir on jobs for each row execute function take_folder()`);
    try {
      const job = await lab.run(await lab.workflow([{ type: 'parallel' }]), await lab.dataset(['a']));
      expect(job).toMatchObject({ status: 'failed', failure: { kind: 'internal' }, workflow_log: null });
      expect(job.log).toBe(`The folder of the job exists already: ${taken}`);
      await until('the end of its work', async () => (await pool.query('select from background_work')).rowCount === 0);
      expect(readdirSync(taken)).toEqual(['precious']);
      expect(existsSync(`${taken}.zip`)).toBe(false);
    } finally {
      await pool.query('drop trigger take_folder on jobs; drop function take_folder()');
    }
  });
});

describe('the log of a job', () => {
  it('that is done is its workflow log', async () => {
    const flow = await lab.workflow([{ type: 'parallel', name: 'First one' }]);
    const job = await lab.run(flow, await lab.dataset(['a']));
    expect(job.log).toBe(text(job, 'workflow.log'));
    expect(job.log).toBe(job.workflow_log);
    const line = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - WF(\d+)_job(\d+) - (DEBUG|INFO) - .+$/;
    for (const one of job.log.trimEnd().split('\n')) {
      expect(one.match(line)?.slice(1, 3)).toEqual([String(flow.id), String(job.id)]);
    }
    expect(job.log).toContain('First one');
  });

  it('that failed tells the first failed unit, with the markers that clients look for', async () => {
    const plan = { '*': { raise: 'no channel' }, [lab.urlOf('a')]: { print: 'fine' } };
    const flow = await lab.workflow([{ type: 'parallel', plan }]);
    const dataset = await lab.dataset(['a', 'b', 'c']);
    const job = await lab.run(flow, dataset);
    const lines = job.log.split('\n');
    expect(lines[0]).toMatch(new RegExp(`^JOB ERROR.*\\b${job.id}\\b`));
    expect(lines[1]).toBe('TRACEBACK:');
    expect(job.log).toContain('Task failed with returncode=1.');
    expect(job.log).toContain('par-000000-0000001-log.txt');
    expect(job.log).toContain('Traceback (most recent call last):');
    expect(job.log.trimEnd().split('\n').at(-1)).toBe('ValueError: no channel');
    expect(job.log).not.toContain(' - INFO - ');
    expect(job.workflow_log).toContain(' - ERROR - ');
    expect(job.workflow_log).toBe(text(job, 'workflow.log'));
    expect(job.executor_error_log).toBeNull();
    expect(await lab.members(job)).toContain('workflow.log');
  });

  it('grows while it runs', async () => {
    const gate = newPath();
    const flow = await lab.workflow([{ type: 'parallel', plan: { '*': { wait_for: gate } } }]);
    const { body } = await lab.submit(flow, await lab.dataset(['a']));
    const show = async () =>
      (await lab.owner.client.get(`${lab.base}/job/${body.id}/`, { query: { show_tmp_logs: true } })).body;
    const shown = await until('a log', async () =>
      (await show()).log?.includes('Submit task 1') ? show() : undefined,
    );
    expect(shown.status).toBe('submitted');
    expect((await lab.job(body.id)).log).toBeNull();
    release(gate);
    expect((await lab.end(body.id)).status).toBe('done');
  });
});

describe.concurrent('parallel_tasks_per_job', () => {
  it.each(
    oneIn<[unknown, string[]]>(2, [
      [2, ['000000', '000000', '000001']],
      ['2', ['000000', '000000', '000001']],
      [true, ['000000', '000001', '000002']],
      [5, ['000000', '000000', '000000']],
      [null, ['000000', '000000', '000000']],
      [0, ['000000', '000000', '000000']],
      [-1, ['000000', '000000', '000000']],
    ]),
  )('%j names the files of three units', async (value, batches) => {
    const meta_parallel = { parallel_tasks_per_job: value } as JsonObject;
    const flow = await lab.workflow([{ type: 'parallel', meta_parallel }]);
    const job = await lab.run(flow, await lab.dataset(['a', 'b', 'c']));
    const names = lab.files(job).filter((file) => file.endsWith('-args.json'));
    expect(names.map((name) => name.split('-').at(-3))).toEqual(batches);
  });

  it.each<[JsonObject[string]]>([['x'], [1.5], [[]], [{}]])(
    '%j fails the task before any unit exists',
    async (value) => {
      const flow = await lab.workflow([{ type: 'parallel', meta_parallel: { parallel_tasks_per_job: value } }]);
      const dataset = await lab.dataset(['a']);
      const job = await lab.run(flow, dataset);
      const { run, units } = await lab.units(dataset, flow.steps[0]!);
      expect([job.status, run?.status, units]).toEqual(['failed', 'failed', []]);
      expect(job.failure.message).toContain('parallel_tasks_per_job');
    },
  );

  it('is how many run at a time, and the next begins as soon as one is done', async () => {
    const lab = await openLab(service, { runner: { parallel_tasks_per_job: 2 } });
    const ends = newPath();
    const plan = { '*': { sleep: 0.1 }, [lab.urlOf('a')]: { sleep: 1.5 } };
    const flow = await lab.workflow([{ type: 'parallel', plan, args: { ends } }]);
    await lab.run(flow, await lab.dataset(['a', 'b', 'c', 'd', 'e']));
    const spans = lab.linesOf<{ url: string; start: number; end: number }>(ends);
    const together = spans.map(({ start }) => spans.filter((one) => one.start <= start && start < one.end).length);
    expect(Math.max(...together)).toBe(2);
    expect(spans.map(({ url }) => lab.nameOf(url)).at(-1)).toBe('a');
  });
});

describe('a package is imported', () => {
  interface Case extends Pick<TaskSpec, 'meta_parallel'> {
    origin: 'pypi' | 'other';
    runner?: JsonObject;
    imports: number;
  }
  it.each<[string, Case]>([
    ['once where the service installed it', { origin: 'pypi', imports: 1 }],
    ['by every unit where somebody else did', { origin: 'other', imports: 3 }],
    ['by every unit where the task says so', { origin: 'pypi', meta_parallel: { warm_start: false }, imports: 3 }],
    ['by every unit where the resource says so', { origin: 'pypi', runner: { warm_start: false }, imports: 3 }],
  ])('%s', async (_, { origin, runner = {}, imports, ...spec }) => {
    const lab = await openLab(service, { origin, runner });
    const [imported, script] = [join(lab.root, 'imported'), join(lab.root, 'task.py')];
    writeFileSync(
      join(lab.root, 'library.py'),
      `open(${JSON.stringify(imported)}, "a").write("x")\nprint("a warning")\n`,
    );
    writeFileSync(script, 'import library\nprint("ran")\n');
    const flow = await lab.workflow([{ type: 'parallel', command: `/usr/bin/python3 ${script}`, ...spec }]);
    const dataset = await lab.dataset(['a', 'b', 'c']);
    expect((await lab.run(flow, dataset)).status).toBe('done');
    expect(readFileSync(imported, 'utf8').length).toBe(imports);
    const { units } = await lab.units(dataset, flow.steps[0]!);
    for (const unit of units) expect(readFileSync(unit.logfile, 'utf8')).toBe('a warning\nran\n');
    expect(units.map((unit: { has_warnings: boolean }) => unit.has_warnings)).toEqual([true, true, true]);
  });
});
