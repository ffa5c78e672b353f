import { describe, expect, it } from 'vitest';

import { type JsonObject, parseJson } from '@service/contract';

import type { SlurmOptions } from '../../../src/engine/slurm/options.ts';
import { ask, type Asked, BATCHING, optionsFor } from './support.ts';

const problemOf = (asked: Asked) => {
  const answer = ask(asked);
  return 'problem' in answer ? answer.problem : undefined;
};
const withMeta = (json: string) => ask({ meta: parseJson(json) as JsonObject });

describe('what a task asks Slurm for', () => {
  it('is what the resource says, where the task says nothing', () => {
    expect(optionsFor()).toEqual({
      partition: 'main',
      cpus_per_task: 2,
      mem: 1000,
      use_mem_per_cpu: false,
      job_name: 'task',
      constraint: null,
      gres: null,
      gpus: null,
      time: null,
      account: null,
      exclude: null,
      nodelist: null,
      nodes: null,
      shebang_line: '#!/bin/bash',
      extra_lines: [],
      worker_init: [],
      user_local_exports: {},
      needs_gpu: false,
      tasks_per_job: null,
      parallel_tasks_per_job: null,
      batching_config: BATCHING,
      retry: null,
    });
  });

  it.each<[string, Partial<SlurmOptions>]>([
    ['{"cpus_per_task": 4}', { cpus_per_task: 4 }],
    ['{"cpus_per_task": "4"}', { cpus_per_task: 4 }],
    ['{"cpus_per_task": 4.0}', { cpus_per_task: 4 }],
    ['{"mem": 93}', { mem: 93 }],
    ['{"mem": 93.0}', { mem: 93 }],
    ['{"mem": "93"}', { mem: 93 }],
    ['{"mem": "71M"}', { mem: 71 }],
    ['{"mem": "3G"}', { mem: 3000 }],
    ['{"mem": "2T"}', { mem: 2_000_000 }],
    ['{"mem": "10MM"}', { mem: 10 }],
    ['{"mem": "0"}', { mem: 0 }],
    ['{"time": "1-12:00", "gres": "gpu:1", "gpus": "2"}', { time: '1-12:00', gres: 'gpu:1', gpus: '2' }],
    [
      '{"constraint": "a&b", "nodelist": "n[1-3]", "exclude": " n4 "}',
      { constraint: 'a&b', nodelist: 'n[1-3]', exclude: 'n4' },
    ],
    ['{"nodes": "2"}', { nodes: 2 }],
    ['{"tasks_per_job": 10, "parallel_tasks_per_job": "2"}', { tasks_per_job: 10, parallel_tasks_per_job: 2 }],
    ['{"tasks_per_job": 0, "parallel_tasks_per_job": -1}', { tasks_per_job: null, parallel_tasks_per_job: null }],
    ['{"cpus_per_task": null, "mem": null, "time": null, "account": null, "extra_lines": null, "retry": null}', {}],
    ['{"partition": "other", "shebang_line": "#!/bin/zsh", "use_mem_per_cpu": true, "max_num_jobs": 1, "x": {}}', {}],
  ])('with %s', (json, expected) => {
    expect(withMeta(json)).toEqual({ options: { ...optionsFor(), ...expected } });
  });

  it.each<[string, RegExp]>([
    [
      '{"cpus_per_task": 0}',
      /^cpus_per_task must be a whole number above 0\. Change it in the settings of the task\.$/,
    ],
    ['{"cpus_per_task": "many"}', /^cpus_per_task must be/],
    ['{"cpus_per_task": 1.5}', /^cpus_per_task must be/],
    ...['10K', '10k', '10m', '1.5G', '10 M', 'M10', '10GM', 'abc', ''].map((mem): [string, RegExp] => [
      JSON.stringify({ mem }),
      /^mem must be a number of MB, or digits followed by M, G or T/,
    ]),
    ['{"mem": 0}', /^mem must be/],
    ['{"time": 60}', /^time must be a text/],
    ['{"time": "two hours"}', /^time "two hours" is not a time that Slurm knows\. Possible are "90" \(minutes\)/],
    ['{"gpus": 1}', /^gpus must be a text/],
    ['{"gres": "  "}', /^gres must be a text/],
    ['{"constraint": ["a"]}', /^constraint must be a text/],
    ['{"nodes": 0}', /^nodes must be a whole number above 0/],
    ['{"account": "lab"}', /^account cannot be set for a task: choose the account when you submit the job/],
    ['{"extra_lines": "module load x"}', /^extra_lines must be a list of texts/],
    ['{"extra_lines": [1]}', /^extra_lines must be a list/],
    ['{"tasks_per_job": "some"}', /^tasks_per_job must be a whole number, or null/],
    ['{"parallel_tasks_per_job": false}', /^parallel_tasks_per_job must be/],
    [
      '{"mem": "x", "cpus_per_task": "y"}',
      /^cpus_per_task must be .* mem must be .* Change it in the settings of the task\.$/,
    ],
    ...['"yes"', '1', 'null', '" true"', '[]'].map((value): [string, RegExp] => [
      `{"needs_gpu": ${value}}`,
      /^needs_gpu must be true or false/,
    ]),
  ])('not with %s', (json, problem) => {
    expect(withMeta(json)).toEqual({ problem: expect.stringMatching(problem) });
  });

  it.each<[JsonObject, RegExp]>([
    [{ partition: null }, /^Slurm needs partition,.* Ask an administrator to add partition to default_slurm_config/],
    [
      { mem: null, cpus_per_task: null },
      /^Slurm needs cpus_per_task, mem,.* Set cpus_per_task and mem in the settings of the task, or ask/,
    ],
    [{ nodes: -1 }, /^nodes must be a whole number above 0/],
    [{ time: '1 day' }, /^time "1 day" is not a time that Slurm knows/],
  ])('not where the resource has %j', (section, problem) => {
    expect(problemOf({ section })).toMatch(problem);
  });

  it('can be said by the task alone, where the resource leaves it open', () => {
    const section = { mem: null, cpus_per_task: null };
    expect(optionsFor({ section, meta: { mem: '2G', cpus_per_task: 3 } })).toMatchObject({
      mem: 2000,
      cpus_per_task: 3,
    });
  });
});

describe('a task that needs a GPU', () => {
  const section = {
    account: 'lab',
    constraint: 'new',
    time: '1:00:00',
    nodes: 1,
    use_mem_per_cpu: true,
    extra_lines: ['a'],
  };

  it.each([true, 'true', 'True', 'TRUE'])('takes the GPU section with needs_gpu %j', (needs_gpu) => {
    expect(optionsFor({ gpu: { partition: 'gpu' }, meta: { needs_gpu } })).toMatchObject({
      partition: 'gpu',
      needs_gpu: true,
    });
  });

  it.each([false, 'false', 'False', undefined])('does not take it with needs_gpu %j', (needs_gpu) => {
    const meta = needs_gpu === undefined ? {} : { needs_gpu };
    expect(optionsFor({ gpu: { partition: 'gpu' }, meta })).toMatchObject({ partition: 'main', needs_gpu: false });
  });

  it('has everything else from the default section', () => {
    const options = optionsFor({ section, gpu: { partition: 'gpu', gres: 'gpu:1' }, meta: { needs_gpu: true } });
    expect(options).toEqual({ ...optionsFor({ section }), partition: 'gpu', gres: 'gpu:1', needs_gpu: true });
  });

  it('has what the GPU section sets, lines replaced as a whole', () => {
    const gpu = { mem: '8G', shebang_line: '#!/bin/zsh', extra_lines: ['b'], time: '2:00:00', account: 'gpu-lab' };
    expect(optionsFor({ section, gpu, meta: { needs_gpu: true } })).toMatchObject({
      mem: 8000,
      shebang_line: '#!/bin/zsh',
      extra_lines: ['b'],
      time: '2:00:00',
      account: 'gpu-lab',
      constraint: 'new',
      use_mem_per_cpu: true,
    });
  });

  it('is served by the default section where there is no other', () => {
    expect(optionsFor({ meta: { needs_gpu: true } })).toMatchObject({ partition: 'main', needs_gpu: true });
  });
});

describe('the name of a job', () => {
  it.each([
    ['Cellpose 3D', 'Cellpose_3D'],
    ['a  b', 'a__b'],
    ['Convert (v1.2): x', 'Convert_(v1.2):_x'],
    ['Zellkörper 細胞', 'Zellkörper_細胞'],
    ['x"; rm -rf / #', 'x___rm_-rf____'],
    ['a\n#SBATCH --uid=0', 'a__SBATCH_--uid=0'],
    ["$(id) `id` \\'", '_(id)__id____'],
    ['🔬', '_'],
  ])('%j: %s', (taskName, name) => {
    expect(optionsFor({ taskName }).job_name).toBe(name);
  });

  it('has an end', () => {
    expect(optionsFor({ taskName: 'x'.repeat(5000) }).job_name).toHaveLength(200);
  });
});

describe('the account', () => {
  it.each([
    [null, null, null],
    ['lab', null, 'lab'],
    ['lab', 'mine', 'mine'],
    [null, 'mine', 'mine'],
  ])('of the resource %j, of the job %j: %j', (ofResource, account, expected) => {
    expect(optionsFor({ section: { account: ofResource }, account }).account).toBe(expected);
  });

  it.each([
    '#SBATCH --account=x',
    '#SBATCH --account x',
    '#SBATCH  --acco=x',
    '#SBATCH -A x',
    '#SBATCH -Ax',
    '#SBATCH -HA x',
    '#SBATCH --partition=p --account=x',
    '#SBATCH --comment="# x" --account=x',
    '#SBATCH "--account=x"',
    '#SBATCH --acc"ount"=x',
    '#SBATCH \\-\\-account=x',
    '#SBATCH--account=x',
  ])('is not chosen by the line %s', (line) => {
    const words = /must not choose an account.*Choose the account when you submit the job/;
    expect(problemOf({ workerInit: `module load a\n${line}` })).toMatch(words);
    expect(problemOf({ meta: { extra_lines: [line] } })).toMatch(words);
  });

  it.each([
    '#SBATCH --acctg-freq=30',
    '#SBATCH --partition=p # --account=x',
    '#SBATCH --comment=-A',
    '#SBATCH --comment="--account=x"',
    ' #SBATCH --account=x',
    'echo --account=x',
  ])('has nothing to do with the line %s', (line) => {
    expect(optionsFor({ workerInit: line }).worker_init).toEqual([line]);
  });

  it('may be chosen in lines of the resource', () => {
    const extra_lines = ['#SBATCH --account=x'];
    expect(optionsFor({ section: { extra_lines } }).extra_lines).toEqual(extra_lines);
  });
});

describe('lines of the script', () => {
  it('of the resource come first, then those of the task, each once', () => {
    const section = { extra_lines: ['b', 'a', 'b'] };
    expect(optionsFor({ section, meta: { extra_lines: ['c', ' a ', 'c', 'd'] } }).extra_lines).toEqual([
      'b',
      'a',
      'c',
      'd',
    ]);
  });

  it('of the job stay as they are: repetitions and blank lines do no harm', () => {
    const workerInit = 'if a; then\n  b\nfi\n\n\nif c; then\r\n  b\nfi';
    expect(optionsFor({ section: { extra_lines: ['fi'] }, workerInit })).toMatchObject({
      extra_lines: ['fi'],
      worker_init: ['if a; then', '  b', 'fi', '', '', 'if c; then', '  b', 'fi'],
    });
  });

  it.each(['#SBATCH --array=0-3', '#SBATCH -a 1', '#SBATCH --wait', '#SBATCH -W', '#SBATCH --test-only'])(
    '%s would take the job out of our hands',
    (line) => {
      const words = /^The line "#SBATCH .*" cannot be used: the service decides about --(array|wait|test-only) itself/;
      expect(problemOf({ section: { extra_lines: [line] } })).toMatch(words);
      expect(problemOf({ meta: { extra_lines: [line] } })).toMatch(words);
      expect(problemOf({ workerInit: line })).toMatch(words);
    },
  );

  it.each(['#SBATCH --wait-all-nodes=1', '#SBATCH --qos=a', '#SBATCH --requeue', 'sleep 1 # --wait'])(
    '%s is fine',
    (line) => {
      expect(optionsFor({ meta: { extra_lines: [line] } }).extra_lines).toEqual([line]);
    },
  );
});
