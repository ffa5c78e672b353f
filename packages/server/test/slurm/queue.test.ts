/** The scheduler's queue, read for everybody at once: one bad id, and what people write into their jobs. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { type Commands, HostAway, localHost } from '../../src/hosts/index.ts';
import { sudoRefusal } from '../../src/hosts/sudo.ts';
import { createSharedQueue, createSlurmQueue } from '../../src/slurm/queue.ts';
import { until } from '../support/until.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'service-queue-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A squeue that runs every job that it is asked for, in the words of this program of Python. */
function queueOf(name: string, program: string) {
  const [script, log] = [join(folder, `${name}.py`), join(folder, `${name}.log`)];
  const prelude = [
    'import json, os, sys',
    `open(${JSON.stringify(log)}, 'a').write(json.dumps(sys.argv[1:]) + chr(10))`,
    "ids = [word for argument in sys.argv if argument.startswith('--jobs=') for word in argument[7:].split(',')]",
  ];
  writeFileSync(script, [...prelude, program].join('\n'));
  const commands: Commands = {
    run: ([program_, ...words], options) => localHost.run(['python3', script, program_, ...words], options),
  };
  const queue = createSlurmQueue({ shared: createSharedQueue(commands), username: 'alice' });
  const asked = () =>
    (existsSync(log) ? readFileSync(log, 'utf8') : '')
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as string[]);
  return { queue, commands, asked };
}

const RUNS = "for one in ids: print('%s|N/A|%s|RUNNING|None|n1' % (one, one))";

it('many who wait are answered with one question', async () => {
  const { queue, asked } = queueOf('many', RUNS);
  const readings = await Promise.all([queue.read([7], 100), queue.read([8, 9], 100), queue.read([9], 100)]);
  expect(readings.map((reading) => 'jobs' in reading && [...reading.jobs.keys()])).toEqual([
    [7, 8, 9],
    [7, 8, 9],
    [7, 8, 9],
  ]);
  expect(asked()).toHaveLength(1);
});

it('who asks while squeue is slow is asked for next, and nobody is forgotten', async () => {
  const slow = 'import time\nif "7" in ids: time.sleep(1.5)';
  const { queue, asked } = queueOf('slow', `${slow}\n${RUNS}`);
  const first = queue.read([7], 0);
  await until('the first question', () => asked().length === 1);
  // longer than two questions are apart
  const others = [queue.read([8], 0), queue.read([9], 600)];
  const readings = await Promise.all([first, ...others]);
  expect(readings.map((reading) => 'jobs' in reading && [...reading.jobs.keys()])).toEqual([[7], [8, 9], [8, 9]]);
  expect(asked()).toHaveLength(2);
});

it('an id that squeue does not take stops nobody but those who asked for it', async () => {
  const { queue, asked } = queueOf(
    'bad',
    `if '666' in ids:\n    sys.exit('squeue: error: Invalid job id: 666')\n${RUNS}`,
  );
  const [honest, hostile, other] = await Promise.all([
    queue.read([7, 8], 100),
    queue.read([9, 666], 100),
    queue.read(
      Array.from({ length: 50 }, (_, index) => 1000 + index),
      100,
    ),
  ]);
  expect('jobs' in honest && [honest.jobs.get(7)!.elements.get(0)!.state, honest.jobs.has(8)]).toEqual([
    'RUNNING',
    true,
  ]);
  expect('jobs' in other && other.jobs.has(1049)).toBe(true);
  expect(hostile).toMatchObject({ problem: 'squeue: error: Invalid job id: 666' });
  expect(asked().length).toBeLessThan(20);
});

it('a controller that is away is asked once, and says nothing about any job', async () => {
  const { queue, asked } = queueOf(
    'away',
    "sys.exit('slurm_load_jobs error: Unable to contact slurm controller (connect failure)')",
  );
  const problem = { problem: 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' };
  expect(await Promise.all([queue.read([7], 100), queue.read([8], 100)])).toMatchObject([problem, problem]);
  expect(asked()).toHaveLength(1);
});

it('a squeue that prints without end is a problem like any other', async () => {
  const { queue } = queueOf('endless', "while True: sys.stdout.write('1|' * 100000)");
  expect(await queue.read([7], 100)).toMatchObject({ problem: 'squeue printed more than 32 MiB and was ended.' });
});

it('a job is found by its token alone, whatever people write into theirs', async () => {
  const token = 'service-0123456789abcdef';
  const lines = [
    `12|${token}`,
    `13|${token}`,
    `13|${token}`,
    `14|mine|${token}`,
    `-1|${token}`,
    `99999999999|${token}`,
    `NaN|${token}`,
    `15,16|${token}`,
    `17|${token} and more`,
    `0|${token}`,
  ];
  const { queue } = queueOf('token', `print(${JSON.stringify(lines.join('\n'))})`);
  expect(await queue.find({ token })).toEqual({ ids: [12, 13] });
  await expect(queue.find({ token: 'service-x|$(id)' })).rejects.toThrow('is not a token of the service');
});

/** A cluster that hides jobs from the service, and a person who is asked by this. */
function hiding(name: string, run: Commands['run']) {
  const program = "if sys.argv[1] == 'scontrol': print('PrivateData = jobs')";
  const { commands } = queueOf(name, program);
  let asked = 0;
  const person: Commands = {
    run: (command, options) => {
      asked += 1;
      return run(command, options);
    },
  };
  const queue = createSlurmQueue({ shared: createSharedQueue(commands), username: 'alice', person });
  return { queue, asked: () => asked };
}

it.each<[string, Commands['run'], number]>([
  ['sudo does not allow it', () => Promise.reject(sudoRefusal('a password is required', ['squeue'], 'alice')), 1],
  ['no process can be started', () => Promise.reject(new Error('spawn EAGAIN')), 2],
  ['the machine is away', () => Promise.reject(new HostAway('away')), 2],
])('of a hidden job nothing is known while %s', async (name, run, times) => {
  const { queue, asked } = hiding(`hidden-${name.replaceAll(' ', '-')}`, run);
  for (let turn = 0; turn < 2; turn++) expect(await queue.read([7], 0)).toEqual({ jobs: new Map(), complete: false });
  expect(asked()).toBe(times);
});

it('of an id that the person is refused nothing is known either', async () => {
  const { commands } = queueOf('refusing', `sys.exit('squeue: error: Invalid argument: 7')`);
  const { queue } = hiding('hidden-refusing', (command, options) => commands.run(command, options));
  expect(await queue.read([7], 0)).toEqual({ jobs: new Map(), complete: false });
});
