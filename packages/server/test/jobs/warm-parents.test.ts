/** Imports that last from job to job. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { dataFolder, isAlive, type Lab, openLab, until } from '../support/lab.ts';
import { startService, type TestService } from '../support/server.ts';

const open = async (settings: Record<string, string> = {}) => {
  const service = await startService({ settings: { SERVICE_DATA_DIR: dataFolder(), ...settings } });
  return { service, lab: await openLab(service, { origin: 'pypi' }) };
};

/** A script whose library writes a line when it is imported, and how often that was. */
function makeTask({ root }: Lab, name: string) {
  const [imported, script] = [join(root, `${name}-imported`), join(root, `${name}.py`)];
  writeFileSync(join(root, `${name}_library.py`), `open(${JSON.stringify(imported)}, "a").write("x")\n`);
  writeFileSync(imported, '');
  writeFileSync(script, `import ${name}_library\nprint("ran")\n`);
  return { command: `/usr/bin/python3 ${script}`, imports: () => readFileSync(imported, 'utf8').length };
}

const numbers = async ({ url }: TestService) => {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return { count: value('warm_parents'), memory: value('warm_parents_memory_bytes') };
};

it('a package is imported once for all tasks, phases and jobs, and the processes are counted', async () => {
  const { service, lab } = await open();
  const [one, many] = [makeTask(lab, 'one'), makeTask(lab, 'many')];
  const flow = await lab.workflow([
    { type: 'non_parallel', command: one.command },
    { type: 'parallel', command: many.command },
    { type: 'parallel', command: many.command },
  ]);
  for (const images of [['a', 'b', 'c'], ['d'], ['e', 'f']]) {
    const dataset = await lab.dataset(images);
    expect((await lab.run(flow, dataset)).status).toBe('done');
    const { units } = await lab.units(dataset, flow.steps[1]!);
    for (const unit of units) expect(readFileSync(unit.logfile, 'utf8')).toBe('ran\n');
  }
  expect([one.imports(), many.imports()]).toEqual([1, 1]);
  const known = await until('the numbers of the process', async () => {
    const found = await numbers(service);
    return found.memory > 0 ? found : undefined;
  });
  expect(known.count).toBe(1);
});

it('a task that starts cold imports by itself, also where its imports are ready', async () => {
  const { lab } = await open();
  const task = makeTask(lab, 'task');
  const warm = await lab.workflow([{ type: 'parallel', command: task.command }]);
  const meta_parallel = { warm_start: false };
  const cold = await lab.workflow([{ type: 'parallel', command: task.command, meta_parallel }]);
  await lab.run(warm, await lab.dataset(['a', 'b']));
  expect(task.imports()).toBe(1);
  await lab.run(cold, await lab.dataset(['c', 'd']));
  expect(task.imports()).toBe(3);
  await lab.run(warm, await lab.dataset(['e', 'f']));
  expect(task.imports()).toBe(3);
});

it('nothing lasts where the setting says so', async () => {
  const { service, lab } = await open({ SERVICE_WARM_IDLE_SECONDS: '0' });
  const task = makeTask(lab, 'task');
  const flow = await lab.workflow([{ type: 'parallel', command: task.command }]);
  await lab.run(flow, await lab.dataset(['a', 'b']));
  await lab.run(flow, await lab.dataset(['c', 'd']));
  expect(task.imports()).toBe(2);
  expect(await numbers(service)).toEqual({ count: NaN, memory: NaN });
});

it('a job that is stopped ends with its units, and the next one finds the imports', async () => {
  const { lab } = await open();
  const [imported, pids] = [join(lab.root, 'imported'), join(lab.root, 'pids')];
  const script = join(lab.root, 'sleeps.py');
  writeFileSync(join(lab.root, 'library.py'), `open(${JSON.stringify(imported)}, "a").write("x")\n`);
  writeFileSync(
    script,
    `import os, time, library\nopen(${JSON.stringify(pids)}, "a").write("%d\\n" % os.getpid())\ntime.sleep(60)\n`,
  );
  const flow = await lab.workflow([{ type: 'parallel', command: `/usr/bin/python3 ${script}` }]);
  const begun = () => {
    try {
      return readFileSync(pids, 'utf8').trim().split('\n').map(Number);
    } catch {
      return [];
    }
  };
  for (const [index, images] of [
    ['a', 'b'],
    ['c', 'd'],
  ].entries()) {
    const { id } = (await lab.submit(flow, await lab.dataset(images))).body;
    await until('units that run', () => begun().length === 2 * (index + 1));
    await lab.owner.client.get(`${lab.base}/job/${id}/stop/`);
    expect((await lab.end(id)).status).toBe('failed');
    expect(begun().filter(isAlive)).toEqual([]);
  }
  expect(readFileSync(imported, 'utf8')).toBe('x');
});
