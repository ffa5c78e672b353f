/** What people are told when a task fails: in the log of its job, in the failure of the job, and at each of its units. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

import type { HistoryUnit, JsonObject } from '@service/contract';

import { dataFolder, type Lab, openLab, until } from '../support/lab.ts';
import { serve, startService, type TestService } from '../support/server.ts';

let service: TestService;
let lab: Lab;

beforeAll(async () => {
  service = await startService({ settings: { SERVICE_DATA_DIR: dataFolder(), SERVICE_MAX_NUM_THREADS: '4' } });
  lab = await openLab(service);
});

const items = (...names: string[]) => ({
  output: { parallelization_list: names.map((name) => ({ zarr_url: lab.urlOf(name) })) } as JsonObject,
});

describe('the log of a job', () => {
  it('says that a killed unit may have run out of memory', async () => {
    const flow = await lab.workflow([{ type: 'parallel', plan: { '*': { print: 'reading', signal: 9 } } }]);
    const job = await lab.run(flow, await lab.dataset(['a']));
    expect(job.log).toContain('Task failed with returncode=-9.');
    expect(job.log).toContain('Killed by signal 9 (SIGKILL); the machine may have run out of memory');
    expect(job.log).toMatch(/Log:\nreading/);
  });

  it.each([
    ['a little', 101_000],
    ['a thousand times', 100_000_000],
  ])('ends with the traceback of a unit whose own log is %s too long', async (_, characters) => {
    const python = `print(("0123456789" * 9 + "\\n") * ${Math.ceil(characters / 91)}, flush=True)`;
    const flow = await lab.workflow([{ type: 'parallel', plan: { '*': { python, raise: 'no channel' } } }]);
    const job = await lab.run(flow, await lab.dataset(['a']));
    expect(job.log.trimEnd().split('\n').at(-1)).toBe('ValueError: no channel');
    expect(job.log).toContain('Traceback (most recent call last):');
    expect(job.log).toMatch(/The log has \d+ bytes/);
    expect(job.log).not.toMatch(/^\d{1,89}$/m);
    expect(job.log.length).toBeLessThan(110_000);
  });

  it('ends with the end of a long line without an end, cut between characters', async () => {
    const python = 'print("🔬" * 150_000, end="")';
    const flow = await lab.workflow([{ type: 'parallel', plan: { '*': { python, exit: 1 } } }]);
    const job = await lab.run(flow, await lab.dataset(['a']));
    expect(job.log).toMatch(/\n…(🔬)+$/u);
    expect(job.log).not.toContain('\ufffd');
  });

  it('counts tasks from 1, as pages do', async () => {
    const flow = await lab.workflow([
      { type: 'parallel', name: 'One' },
      { type: 'parallel', name: 'Two' },
    ]);
    const job = await lab.run(flow, await lab.dataset(['a']));
    expect(job.log).toMatch(/Submit task 1 \(One\)[^]*End of task 1 \(One\)[^]*Submit task 2 \(Two\)/);
    expect(job.log).toContain('tasks: 1 to 2');
    expect(job.log).not.toContain('task 0');
  });
});

describe('the failure of a job', () => {
  it('counts images and names the first, when a task works on one at a time', async () => {
    const plan = { '*': { raise: 'no channel' }, [lab.urlOf('a')]: {} };
    const flow = await lab.workflow([{ type: 'parallel', name: 'Correct', plan }]);
    const { failure } = await lab.run(flow, await lab.dataset(['a', 'b', 'c', 'd']));
    expect(failure).toMatchObject({ kind: 'task', num_images: 3, zarr_url: lab.urlOf('b') });
    expect(failure.message).toBe(
      `Correct failed for ${lab.urlOf('b')}: ValueError: no channel\nExit code 1\n2 other images failed.`,
    );
  });

  it('counts the images of a task that takes all of them at once', async () => {
    const flow = await lab.workflow([{ type: 'non_parallel', name: 'Plan', plan: { '*': { raise: 'no plate' } } }]);
    const { failure } = await lab.run(flow, await lab.dataset(['a', 'b', 'c']));
    expect(failure).toMatchObject({ num_images: 3, zarr_url: null });
    expect(failure.message).toBe('Plan failed: ValueError: no plate\nExit code 1');
  });

  it('counts the images of a compound task, whatever its units were made for', async () => {
    const plan = { init: items('m', 'n', 'o', 'p'), [lab.urlOf('n')]: { exit: 2 }, [lab.urlOf('p')]: { exit: 3 } };
    const flow = await lab.workflow([{ type: 'compound', name: 'Project', plan }]);
    const { failure } = await lab.run(flow, await lab.dataset(['a', 'b', 'c']));
    expect(failure).toMatchObject({ num_images: 3, zarr_url: lab.urlOf('n') });
    expect(failure.message).toMatch(/^Project failed for \S+\/n: Exit code 2\n1 other unit failed\.$/);
  });

  it('counts no images for a converter, which takes none', async () => {
    const flow = await lab.workflow([{ type: 'converter_non_parallel', plan: { '*': { exit: 1 } } }]);
    const { failure } = await lab.run(flow, await lab.dataset([]));
    expect(failure).toMatchObject({ num_images: 0, zarr_url: null });
  });

  it('counts all images when outputs do not fit together', async () => {
    const update = (value: number) => ({
      output: { image_list_updates: [{ zarr_url: lab.urlOf('n'), attributes: { k: value } }] } as unknown as JsonObject,
    });
    const plan = { [lab.urlOf('a')]: update(1), [lab.urlOf('b')]: update(2) };
    const flow = await lab.workflow([{ type: 'parallel', plan }]);
    const { failure } = await lab.run(flow, await lab.dataset(['a', 'b', 'c']));
    expect(failure).toMatchObject({ kind: 'output', num_images: 3 });
    expect(failure.message).toMatch(/"k":1.*"k":2/s);
  });

  it('shows the value of an output that is refused', async () => {
    const plan = { '*': { raw: '{"image_list_updates": [{"zarr_url": "plates/B03/0"}]}' } };
    const flow = await lab.workflow([{ type: 'parallel', plan }]);
    const { failure, log } = await lab.run(flow, await lab.dataset(['a']));
    for (const text of [failure.message, log]) {
      expect(text).toContain('image_list_updates.0.zarr_url');
      expect(text).toContain('It is "plates/B03/0".');
    }
  });

  it('names the types that were looked for when no image has them', async () => {
    const flow = await lab.workflow([
      { type: 'parallel', name: 'Measure', input_types: { is_3D: true }, type_filters: { corrected: false } },
    ]);
    const filters = { attribute_filters: { plate: ['p1', 'p2'] }, type_filters: { projected: true } };
    const { failure, log } = await lab.run(flow, await lab.dataset(['a']), filters);
    expect(failure.kind).toBe('no_images');
    for (const text of [failure.message, log]) {
      expect(text).toContain('projected = true, is_3D = true, corrected = false');
      expect(text).toContain('plate is "p1" or "p2"');
    }
  });
});

describe('the units of a compound task', () => {
  it('say which of them failed it, where they did not', async () => {
    const plan = { init: items('m', 'n', 'o'), [lab.urlOf('n')]: { raise: 'no label' } };
    const flow = await lab.workflow([{ type: 'compound', plan }]);
    const dataset = await lab.dataset(['a']);
    await lab.run(flow, dataset);
    const units = (await lab.units(dataset, flow.steps[0]!)).units as HistoryUnit[];
    const failed = units.find(({ cause }) => cause !== null)!;
    expect(failed).toMatchObject({ cause: 'error', zarr_urls: [lab.urlOf('n')] });
    const others = units.filter(({ cause }) => cause === null);
    expect(others).toHaveLength(3);
    for (const { status, message } of others) {
      expect(status).toBe('failed');
      expect(message).toBe(
        `This unit finished, but the task failed because of another one (${lab.urlOf('n')}): ValueError: no label`,
      );
    }
  });

  it('keep quiet when the task is done', async () => {
    const flow = await lab.workflow([{ type: 'compound', plan: { init: items('m', 'n') } }]);
    const dataset = await lab.dataset(['a']);
    await lab.run(flow, dataset);
    const { units } = await lab.units(dataset, flow.steps[0]!);
    expect(units.map(({ message }: HistoryUnit) => message)).toEqual([null, null, null]);
  });
});

describe('right after a submit', () => {
  it('a task has made no progress, and its images are counted as they are', async () => {
    const gate = join(lab.root, 'gate');
    const plan = { '*': { wait_for: gate }, [lab.urlOf('b')]: { exit: 1 } };
    const flow = await lab.workflow([
      { type: 'parallel', plan: { '*': {} } },
      { type: 'parallel', plan },
    ]);
    const dataset = await lab.dataset(['a', 'b']);
    writeFileSync(gate, '');
    const first = await lab.run(flow, dataset);
    expect((await lab.statuses(flow, dataset))[flow.steps[1]!]).toMatchObject({
      status: 'failed',
      progress: { done: 1, failed: 1 },
      causes: { error: 1 },
    });
    const slow = join(lab.root, 'slow');
    await lab.owner.client.patch(`${lab.base}/workflow/${flow.id}/wftask/${flow.steps[0]}/`, {
      args_parallel: { plan: { '*': { wait_for: slow } } },
    });
    const { body } = await lab.submit(flow, dataset);
    const status = (await lab.statuses(flow, dataset))[flow.steps[1]!];
    expect(status).toMatchObject({
      status: 'submitted',
      job_id: first.id,
      num_done_images: 1,
      num_failed_images: 1,
      progress: { waiting: 0, running: 0, done: 0, failed: 0 },
      causes: {},
      num_new_images: null,
    });
    writeFileSync(slow, '');
    await lab.end(body.id);
  });
});

describe('while Python imports for all units of a task', () => {
  it('the task is starting, and not any more when the first unit runs', async () => {
    const warm = await openLab(service, { origin: 'pypi' });
    const [imported, gate] = [join(warm.root, 'imported'), join(warm.root, 'gate')];
    const folder = join(warm.root, 'package');
    mkdirSync(folder);
    const waitFor = (path: string) =>
      `import os, time\nwhile not os.path.exists(${JSON.stringify(path)}): time.sleep(0.02)\n`;
    writeFileSync(join(folder, 'slow.py'), waitFor(imported));
    writeFileSync(join(folder, 'task.py'), `import slow\n${waitFor(gate)}`);
    const flow = await warm.workflow([{ type: 'parallel', command: `/usr/bin/python3 ${join(folder, 'task.py')}` }]);
    const dataset = await warm.dataset(['a', 'b', 'c']);
    const { body } = await warm.submit(flow, dataset);
    const status = async () => (await warm.statuses(flow, dataset))[flow.steps[0]!];
    const starting = await until('the imports', async () => ((await status()).is_starting ? status() : undefined));
    expect(starting).toMatchObject({ status: 'submitted', progress: { waiting: 3, running: 0 } });
    writeFileSync(imported, '');
    await until('a unit', async () => (await status()).progress.running > 0);
    expect((await status()).is_starting).toBe(false);
    writeFileSync(gate, '');
    expect((await warm.end(body.id)).status).toBe('done');
    expect((await status()).is_starting).toBe(false);
  });
});

it('a job that goes on after a restart of the service has each task once in its log', async () => {
  const settings = { SERVICE_DATA_DIR: dataFolder(), SERVICE_MAX_NUM_THREADS: '4' };
  const before = await startService({ settings });
  const own = await openLab(before);
  const gate = join(own.root, 'gate');
  const flow = await own.workflow([
    { type: 'parallel', name: 'One', plan: { '*': { wait_for: gate } } },
    { type: 'parallel', name: 'Two' },
  ]);
  const { body } = await own.submit(flow, await own.dataset(['a']));
  await until('the first unit', () => own.starts().length > 0);
  await before.app.close();
  const { app } = await serve(before.database, { settings });
  try {
    writeFileSync(gate, '');
    const { status, log } = await until(
      'the end',
      async () => {
        const jobs = before.database.db.selectFrom('jobs').select(['status', 'log']).where('id', '=', body.id);
        const job = await jobs.executeTakeFirstOrThrow();
        return job.status === 'submitted' ? undefined : job;
      },
      40,
    );
    expect([status, log]).toEqual(['done', expect.stringContaining('interrupted')]);
    expect(log!.match(/Submit task \d/g)).toEqual(['Submit task 1', 'Submit task 2']);
  } finally {
    await app.close();
  }
}, 60_000);
