import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { SlurmOptions } from '../../../src/engine/slurm/options.ts';
import { type PacksSubmission, packsScript } from '../../../src/engine/slurm/script.ts';
import { sbatchArguments } from './sbatch-lines.ts';
import { optionsFor } from './support.ts';

interface Parts extends Partial<Omit<PacksSubmission, 'options'>> {
  options?: Partial<SlurmOptions>;
}

const submit = ({ options, ...parts }: Parts = {}) =>
  packsScript({
    options: { ...optionsFor({ taskName: 'Cellpose 3D' }), ...options },
    single: false,
    parallel: 2,
    base: 0,
    count: 5,
    round: 0,
    worker: '/jobs/5/in/worker.pyz',
    inputs: '/jobs/5/in',
    outputs: '/home/alice/5/out',
    taskFolder: '/home/alice/5/0_task',
    python: '/opt/python3',
    cacheDir: '/home/alice/cache',
    ...parts,
  });

function scriptOf(parts: Parts = {}): string {
  const script = submit(parts);
  if ('problem' in script) throw new Error(script.problem);
  return script.text;
}
const lines = (parts: Parts = {}) => scriptOf(parts).split('\n');
const requests = (parts: Parts = {}) => sbatchArguments(scriptOf(parts));

describe('a submission script', () => {
  it('has a request, lines of others, and a worker for each pack', () => {
    const options = {
      extra_lines: ['module load cuda', '#SBATCH --qos=long'],
      worker_init: ['source env', '', '#SBATCH --nice=5', 'echo done'],
      user_local_exports: { MODELS: 'models', OTHER: "it's" },
      constraint: 'a&b',
      gres: 'gpu:1',
      gpus: '1',
      time: '1-0',
      account: 'lab',
      exclude: 'n1',
      nodelist: 'n[2-3]',
      nodes: 1,
    };
    expect(scriptOf({ options, round: 3, base: 1000 })).toBe(`#!/bin/bash
#SBATCH --partition=main
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=2000M
#SBATCH --job-name=Cellpose_3D
#SBATCH --constraint="a&b"
#SBATCH --gres=gpu:1
#SBATCH --gpus=1
#SBATCH --time=1-0
#SBATCH --account=lab
#SBATCH --exclude=n1
#SBATCH --nodelist="n[2-3]"
#SBATCH --nodes=1
#SBATCH --qos=long
#SBATCH --nice=5
#SBATCH --no-requeue
#SBATCH --array=0-4
#SBATCH --error=/home/alice/5/0_task/par-001%3a-slurm-%j.err
#SBATCH --output=/home/alice/5/0_task/par-001%3a-slurm-%j.out
#SBATCH -D /home/alice/5/0_task
module load cuda
source env

echo done
export MODELS='/home/alice/cache/models'
export OTHER='/home/alice/cache/it'\\''s'
printf 'Host: %s\\nFolder: %s\\n' "$(uname -n)" "$(pwd)"
date +'Start: %Y-%m-%dT%H:%M:%S%z'
service_worker=
service_ended=
trap 'service_ended=yes; [ -z "$service_worker" ] || kill -TERM "$service_worker" 2>/dev/null' TERM
'/opt/python3' -I -S '/jobs/5/in/worker.pyz' --pack '/jobs/5/in' '/home/alice/5/out' 3 "$((1000 + SLURM_ARRAY_TASK_ID))" &
service_worker=$!
if [ -n "$service_ended" ]; then sleep 1; kill -TERM "$service_worker" 2>/dev/null; fi
wait "$service_worker"
code=$?
while kill -0 "$service_worker" 2>/dev/null; do
  wait "$service_worker"
  code=$?
done
date +'End: %Y-%m-%dT%H:%M:%S%z'
exit "$code"
`);
  });

  it.each<[string, Parts, string[]]>([
    ['two units at a time', {}, ['--cpus-per-task=4', '--mem=2000M']],
    ['one at a time', { parallel: 1 }, ['--cpus-per-task=2', '--mem=1000M']],
    ['a last array with fewer units', { parallel: 8, count: 1, units: 3 }, ['--cpus-per-task=6', '--mem=3000M']],
    ['more units than at a time', { units: 10 }, ['--cpus-per-task=4', '--mem=2000M']],
    ['memory by CPU', { options: { use_mem_per_cpu: true } }, ['--cpus-per-task=4', '--mem-per-cpu=500M']],
    [
      'very little memory by CPU',
      { options: { use_mem_per_cpu: true, mem: 1 } },
      ['--cpus-per-task=4', '--mem-per-cpu=1M'],
    ],
  ])('asks for what %s need', (_, parts, expected) => {
    expect(requests(parts)).toEqual(expect.arrayContaining(['--ntasks=1', ...expected]));
    expect(requests(parts).filter((word) => /^--(ntasks|cpus|mem)/.test(word))).toHaveLength(3);
  });

  it('starts a worker on each of several nodes', () => {
    const parts = { options: { nodes: 3 }, units: 100 };
    expect(requests(parts)).toEqual(
      expect.arrayContaining(['--ntasks=3', '--ntasks-per-node=1', '--nodes=3', '--cpus-per-task=4', '--mem=2000M']),
    );
    expect(lines(parts).find((line) => line.includes('worker.pyz'))).toMatch(
      /^srun --ntasks=3 --ntasks-per-node=1 --cpus-per-task=4 --export=ALL --kill-on-bad-exit=0 '\/opt\/python3' .* --nodes$/,
    );
    expect(requests({ ...parts, units: 4, count: 1, parallel: 8 })).toContain('--cpus-per-task=4');
  });

  it.each<[Parts, string | undefined, string, string]>([
    [{}, '--array=0-4', 'par-%6a-slurm-%j', '"$((0 + SLURM_ARRAY_TASK_ID))"'],
    [{ count: 1 }, undefined, 'par-000000-slurm-%j', '0'],
    [{ count: 1, base: 17 }, undefined, 'par-000017-slurm-%j', '17'],
    [{ count: 1, single: true }, undefined, 'non_par-slurm-%j', '0'],
    [{ count: 1000, base: 2000 }, '--array=0-999', 'par-002%3a-slurm-%j', '"$((2000 + SLURM_ARRAY_TASK_ID))"'],
    [{ count: 1001 }, '--array=0-1000', 'par-%6a-slurm-%j', '"$((0 + SLURM_ARRAY_TASK_ID))"'],
  ])('%j: %s, %s, pack %s', (parts, array, stem, pack) => {
    const words = requests(parts);
    expect(words.find((word) => word.startsWith('--array'))).toBe(array);
    expect(words.find((word) => word.startsWith('--output'))).toBe(`--output=/home/alice/5/0_task/${stem}.out`);
    expect(words.find((word) => word.startsWith('--error'))).toBe(`--error=/home/alice/5/0_task/${stem}.err`);
    expect(
      lines(parts)
        .find((line) => line.includes('worker.pyz'))
        ?.endsWith(` ${pack} &`),
    ).toBe(true);
  });

  it.each([
    ['#SBATCH --requeue', false],
    ['#SBATCH --requ', false],
    ['#SBATCH --no-requeue', true],
    ['#SBATCH --qos=requeue', true],
    ['echo "#SBATCH --requeue"', true],
  ])('with the line %s it says --no-requeue: %s', (line, says) => {
    for (const key of ['extra_lines', 'worker_init']) {
      const all = lines({ options: { [key]: [line] } });
      all.splice(all.indexOf(line), 1);
      expect(all.includes('#SBATCH --no-requeue')).toBe(says);
    }
  });

  it('decides itself where the job runs and writes', () => {
    const extra_lines = ['#SBATCH --output=/x --chdir=/y -e /z', '#SBATCH -D /w'];
    const words = requests({ options: { extra_lines } });
    const last = (pattern: RegExp) => words.findLastIndex((word) => pattern.test(word));
    expect(words[last(/^(--output|-o)/)]).toMatch(/^--output=\/home/);
    expect(words[last(/^(--error|-e)/)]).toMatch(/^--error=\/home/);
    expect(words[last(/^(-D|--chdir)/) + 1]).toBe('/home/alice/5/0_task');
  });

  it('says when units share the time of a job', () => {
    expect(submit({ options: { time: '1:00:00' } })).toHaveProperty('warnings', [
      'The time limit 1:00:00 is for a job as a whole, and 2 processes run in it at a time.',
    ]);
    expect(submit({ options: { time: '1:00:00' }, parallel: 1 })).toHaveProperty('warnings', []);
    expect(submit()).toHaveProperty('warnings', []);
  });

  it('writes a percent sign in a folder so that Slurm does not replace it', () => {
    expect(requests({ taskFolder: '/d/50%j', count: 1 })).toEqual(
      expect.arrayContaining(['--output=/d/50%%j/par-000000-slurm-%j.out', '-D', '/d/50%j']),
    );
  });
});

const HOSTILE = [
  'a b',
  "a'b",
  'a"b',
  'a#b',
  '# a',
  '$(evil)',
  '`evil`',
  ';evil;',
  '& evil &',
  '| evil',
  '> evil',
  '"; evil; "',
  "'; evil; '",
  "'\\''; evil; '",
  '" --uid=0 "',
  "' --uid=0 '",
  '--uid=0',
  ' --uid=0 -A x',
  '${IFS}evil',
  '$((evil))',
  '%j%%',
  '*?[a-z]',
  '~root',
  '!!',
  '(evil)',
  '{a,evil}',
  'é 細胞 🔬\u2028evil',
];
const CONTROLS = ['a\nevil', 'a\n#SBATCH --uid=0', '\nevil', 'a\revil', 'a\0b', 'a\tb', '\u001b[31m', 'a\u0085evil'];

const WORDS: [Exclude<keyof SlurmOptions, 'retry'>, string][] = [
  ['partition', '--partition='],
  ['job_name', '--job-name='],
  ['constraint', '--constraint='],
  ['gres', '--gres='],
  ['gpus', '--gpus='],
  ['time', '--time='],
  ['account', '--account='],
  ['exclude', '--exclude='],
  ['nodelist', '--nodelist='],
];
const PATHS = ['inputs', 'outputs', 'taskFolder', 'python', 'cacheDir'] as const;

describe('hostile values', () => {
  const usual = requests();

  it.each(
    WORDS.flatMap(([key, option]) => [...HOSTILE, 'a\\b', 'a\\', '\\"'].map((value) => [key, option, value] as const)),
  )('%s %s%j stays one word', (key, option, value) => {
    const words = requests({ options: { [key]: value } });
    const others = (list: string[]) => list.filter((word) => !word.startsWith(option));
    expect(words.filter((word) => word.startsWith(option))).toEqual([`${option}${value}`]);
    expect(others(words)).toEqual(others(usual));
  });

  it.each(
    [...WORDS.map(([key]) => key), 'shebang_line'].flatMap((key) => CONTROLS.map((value) => [key, value] as const)),
  )('%s %j is refused', (key, value) => {
    const options = { [key]: key === 'shebang_line' ? `#!/bin/sh${value}` : value };
    expect(submit({ options })).toEqual({
      problem: `${key} has a line break or another control character. Remove it, and submit the job again.`,
    });
  });

  it.each(
    PATHS.flatMap((key) =>
      [...CONTROLS.map((value) => `/a/${value}`), 'relative', '-x', ''].map((path) => [key, path] as const),
    ),
  )('%s %j is refused', (key, path) => {
    const options = { user_local_exports: { A: 'b' } };
    expect(submit({ options, [key]: path })).toEqual({
      problem: expect.stringMatching(
        /^The path .*(control character|does not begin with "\/")\. Choose another folder\.$/s,
      ),
    });
  });

  it.each([...HOSTILE, 'A=b', 'A B', '1A', '', 'A\n', 'Ä'])('a variable %j is refused', (name) => {
    expect(submit({ options: { user_local_exports: { [name]: 'x' } } })).toEqual({
      problem: expect.stringMatching(/^user_local_exports has the name .* letters, digits and "_"\.$/s),
    });
  });

  it.each(CONTROLS)('a value %j of a variable is refused', (value) => {
    expect(submit({ options: { user_local_exports: { A: value } } })).toEqual({
      problem: expect.stringMatching(/^user_local_exports\.A has a line break or another control character/),
    });
  });

  it.each(CONTROLS.filter((value) => !value.includes('\t')))('a line %j is refused: it would be two', (line) => {
    const words =
      /of extra_lines or worker_init has a line break or another control character inside\. Make each line an element/;
    expect(submit({ options: { extra_lines: [line] } })).toEqual({ problem: expect.stringMatching(words) });
    expect(submit({ options: { worker_init: [line] } })).toEqual({ problem: expect.stringMatching(words) });
  });

  it.each(['', '/bin/sh', 'evil', '#SBATCH --uid=0'])('a first line %j is refused', (shebang_line) => {
    expect(submit({ options: { shebang_line } })).toEqual({ problem: expect.stringContaining('begin with "#!"') });
  });

  it('a backslash in the folder, which tells Slurm to replace nothing, is refused', () => {
    expect(submit({ taskFolder: '/a\\b' })).toEqual({ problem: expect.stringContaining('has a backslash') });
  });
});

describe('in a shell', () => {
  let folder: string;
  let log: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'script-'));
    log = join(folder, 'log');
    for (const name of ['evil', 'uname', 'date', 'srun', 'touch'])
      command(join(folder, 'bin', name), `echo ${name} >> "$LOG"`);
    symlinkSync('/bin/sleep', join(folder, 'bin/sleep'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function command(path: string, ...body: string[]): string {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, ['#!/bin/sh', ...body, ''].join('\n'));
    chmodSync(path, 0o755);
    return path;
  }
  const environment = () => ({ PATH: join(folder, 'bin'), LOG: log, SLURM_ARRAY_TASK_ID: '3' });

  function written(text: string): string {
    const path = join(folder, 'script.sh');
    writeFileSync(path, text);
    return path;
  }

  function run(shell: string, text: string) {
    rmSync(log, { force: true });
    const { status, stderr } = spawnSync(shell, [written(text)], { cwd: folder, env: environment(), encoding: 'utf8' });
    return { status, stderr, ran: existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : [] };
  }

  it.each(HOSTILE.flatMap((value) => ['/bin/sh', '/bin/bash'].map((shell) => [value, shell] as const)))(
    '%j in every value: %s runs the worker, and nothing else',
    (value, shell) => {
      const place = join(folder, 'places', value.replaceAll('/', '_'));
      const python = command(join(place, 'python'), 'printf "%s\\n" "$@" "$MODELS" >> "$LOG"', 'exit 7');
      const options = {
        ...Object.fromEntries(WORDS.map(([key]) => [key, value])),
        user_local_exports: { MODELS: value },
      };
      const text = scriptOf({
        options,
        python,
        worker: `${place}/worker.pyz`,
        inputs: place,
        outputs: place,
        taskFolder: place.replaceAll('\\', '_'),
        cacheDir: place,
        base: 1000,
      });
      expect(spawnSync(shell, ['-n', written(text)]).status).toBe(0);
      expect(run(shell, text)).toEqual({
        status: 7,
        stderr: '',
        ran: [
          'uname',
          'date',
          '-I',
          '-S',
          `${place}/worker.pyz`,
          '--pack',
          place,
          place,
          '0',
          '1003',
          `${place}/${value}`,
          'date',
        ],
      });
    },
  );

  it('lines of others run before the worker, in the environment that it gets', () => {
    const python = command(join(folder, 'python'), 'echo "worker $A $MODELS $worker $code" >> "$LOG"');
    const options = {
      extra_lines: ['export A=1 worker=theirs code=7', '#SBATCH --qos=x'],
      worker_init: ['if [ "$A" = 1 ]; then', '\ttouch', 'fi', 'if true; then', '\ttouch', 'fi'],
      user_local_exports: { MODELS: 'm' },
    };
    expect(run('/bin/sh', scriptOf({ options, python, count: 1 }))).toEqual({
      status: 0,
      stderr: '',
      ran: ['touch', 'touch', 'uname', 'date', 'worker 1 /home/alice/cache/m theirs 7', 'date'],
    });
  });

  const SIGNALLED = { 'the shell alone': 1, 'all processes of the job': -1 };
  it.each([
    ['/bin/sh', 'the shell alone'],
    ['/bin/sh', 'all processes of the job'],
    ['/bin/bash', 'the shell alone'],
    ['/bin/bash', 'all processes of the job'],
  ] as const)('%s waits for its worker when Slurm ends the job by a signal to %s', async (shell, whom) => {
    rmSync(log, { force: true });
    const python = command(
      join(folder, 'python'),
      // where both hear of it, the worker hears it twice
      'trap \'trap "" TERM; echo tidied >> "$LOG"; exit 9\' TERM',
      'echo ready',
      'while :; do /bin/sleep 0.05; done',
    );
    const process_ = spawn(shell, [written(scriptOf({ python }))], { cwd: folder, env: environment(), detached: true });
    for await (const chunk of process_.stdout) if (String(chunk).includes('ready')) break;
    const exited = once(process_, 'exit');
    process.kill(SIGNALLED[whom] * process_.pid!, 'SIGTERM');
    const [code] = (await exited) as [number];
    // a worker that ends together with the signal may leave its code behind; nobody asks for that
    if (whom === 'the shell alone') expect(code).toBe(9);
    else expect(code).toBeGreaterThan(0);
    expect(readFileSync(log, 'utf8')).toBe('uname\ndate\ntidied\ndate\n');
  });

  it.each(['/bin/sh', '/bin/bash'])(
    '%s waits for its worker also when the signal comes as the worker begins',
    (shell) => {
      const python = command(
        join(folder, 'python'),
        `trap 'trap "" TERM; echo tidied >> "$LOG"; exit 9' TERM`,
        'kill -TERM "$PPID"',
        'while :; do /bin/sleep 0.05; done',
      );
      for (let turn = 0; turn < 10; turn++) {
        expect(run(shell, scriptOf({ python }))).toEqual({
          status: 9,
          stderr: '',
          ran: ['uname', 'date', 'tidied', 'date'],
        });
      }
    },
  );
});
