/** `jobs_runner_config` of a resource; the shebang line beside it. */
import { describe, expect, it } from 'vitest';

import { ResourceWrite } from '../src/index.ts';
import { changed, problemsOf, valueOf } from './support/reading.ts';
import { local, slurmSsh, slurmSudo } from './support/resources.ts';

const SLURM = { slurm_sudo: slurmSudo(), slurm_ssh: slurmSsh() };
type Kind = keyof typeof SLURM;
const KINDS = Object.keys(SLURM) as Kind[];

type Config = Record<string, Record<string, unknown> | null>;
const configOf = (input: unknown) =>
  (valueOf(ResourceWrite, input) as unknown as { jobs_runner_config: Config }).jobs_runner_config;

const withConfig = (kind: Kind, path: string[], value: unknown) =>
  changed(SLURM[kind], ['jobs_runner_config', ...path], value);

/** Both Slurm kinds have the same rules; only the tag in the path differs. */
function refusedForBoth(path: string[], value: unknown, type: string, inside: (string | number)[] = []) {
  for (const kind of KINDS) {
    expect(problemsOf(ResourceWrite, withConfig(kind, path, value))).toEqual([
      { loc: ['body', kind, 'jobs_runner_config', ...path, ...inside], type },
    ]);
  }
}

describe('the runner configuration of a local resource', () => {
  const withLocal = (config: unknown) => ({ ...local(), jobs_runner_config: config });

  it.each<[unknown, number | null]>([
    [{}, null],
    [{ parallel_tasks_per_job: null }, null],
    [{ parallel_tasks_per_job: 0 }, 0],
    [{ parallel_tasks_per_job: -1 }, -1],
    [{ parallel_tasks_per_job: '4' }, 4],
  ])('%j is stored with %j tasks at once', (config, parallel_tasks_per_job) => {
    expect(configOf(withLocal(config))).toEqual({ parallel_tasks_per_job });
  });

  it.each<[unknown, string, string]>([
    [{ parallel_tasks_per_job: 'all' }, 'parallel_tasks_per_job', 'int_parsing'],
    [{ parallel_tasks_per_job: 1.5 }, 'parallel_tasks_per_job', 'int_from_float'],
    [{ default_slurm_config: {} }, 'default_slurm_config', 'extra_forbidden'],
  ])('%j is refused at %s with %s', (config, field, type) => {
    expect(problemsOf(ResourceWrite, withLocal(config))).toEqual([
      { loc: ['body', 'local', 'jobs_runner_config', field], type },
    ]);
  });
});

describe('the runner configuration of a Slurm resource', () => {
  it.each<[string, unknown, string]>([
    ['default_slurm_config', undefined, 'missing'],
    ['default_slurm_config', null, 'model_attributes_type'],
    ['default_slurm_config', 'main', 'model_attributes_type'],
    ['gpu_slurm_config', 'gpu', 'model_attributes_type'],
    ['batching_config', undefined, 'missing'],
    ['batching_config', null, 'model_attributes_type'],
    ['user_local_exports', null, 'dict_type'],
    ['user_local_exports', ['A'], 'dict_type'],
    ['user_local_exports', { ' ': 'models' }, 'value_error'],
    ['user_local_exports', { A: 'x', ' A ': 'y' }, 'value_error'],
    ['user_local_exports', { 'A\u0000': 'x' }, 'value_error'],
    ['user_local_exports', { 'A\ud800': 'x' }, 'value_error'],
    ['parallel_tasks_per_job', 1, 'extra_forbidden'],
  ])('%s: %j is refused with %s', (field, value, type) => {
    refusedForBoth([field], value, type);
  });

  it.each<[unknown, string]>([
    ['', 'string_too_short'],
    [' ', 'string_too_short'],
    [5, 'string_type'],
    [null, 'string_type'],
  ])('user_local_exports names the entry whose value is %j: %s', (value, type) => {
    refusedForBoth(['user_local_exports'], { B: 'fine', A: value }, type, ['A']);
  });

  it.each(KINDS)('%s: exports are trimmed on both sides and may be absent', (kind) => {
    const exported = (value: unknown) =>
      configOf(withConfig(kind, ['user_local_exports'], value))['user_local_exports'];
    expect(exported({ ' A ': ' models ' })).toEqual({ A: 'models' });
    expect(exported(undefined)).toEqual({});
  });

  it.each(KINDS)('%s: the set for GPUs may be absent, null or empty', (kind) => {
    const gpu = (value: unknown) => configOf(withConfig(kind, ['gpu_slurm_config'], value))['gpu_slurm_config'];
    expect([gpu(undefined), gpu(null)]).toEqual([null, null]);
    expect(gpu({})).toMatchObject({ partition: null, extra_lines: [], use_mem_per_cpu: false });
  });
});

describe('a config set', () => {
  const TEXTS = ['partition', 'constraint', 'gres', 'exclude', 'nodelist', 'time', 'account', 'gpus'];
  const SETS = ['default_slurm_config', 'gpu_slurm_config'];

  it.each(TEXTS)('takes a str* or null as %s', (field) => {
    for (const set of SETS) {
      const kept = (value: unknown) => configOf(withConfig('slurm_ssh', [set, field], value))[set]![field];
      expect([kept(' a '), kept(null), kept(undefined)]).toEqual(['a', null, null]);
      refusedForBoth([set, field], ' ', 'string_too_short');
      refusedForBoth([set, field], 60, 'string_type');
    }
  });

  it.each<[string, unknown, string]>([
    ['cpus_per_task', 0, 'greater_than'],
    ['cpus_per_task', -1, 'greater_than'],
    ['cpus_per_task', 'x', 'int_parsing'],
    ['nodes', 'x', 'int_parsing'],
    ['extra_lines', null, 'list_type'],
    ['extra_lines', '#SBATCH', 'list_type'],
    ['shebang_line', null, 'string_type'],
    ['shebang_line', 5, 'string_type'],
    ['use_mem_per_cpu', null, 'bool_type'],
    ['use_mem_per_cpu', 'maybe', 'bool_parsing'],
    ['pre_submission_commands', [], 'extra_forbidden'],
  ])('%s: %j is refused with %s', (field, value, type) => {
    for (const set of SETS) refusedForBoth([set, field], value, type);
  });

  it('names the extra line that is wrong', () => {
    refusedForBoth(['default_slurm_config', 'extra_lines'], ['fine', ' '], 'string_too_short', [1]);
    refusedForBoth(['default_slurm_config', 'extra_lines'], [5], 'string_type', [0]);
  });

  it.each<[string, unknown, unknown]>([
    ['cpus_per_task', '2', 2],
    ['cpus_per_task', null, null],
    ['mem', null, null],
    ['nodes', 0, 0],
    ['nodes', -1, -1],
    ['nodes', null, null],
    ['extra_lines', [' a ', 'a'], ['a', 'a']],
    ['use_mem_per_cpu', 'on', true],
    ['shebang_line', ' #!/bin/bash ', ' #!/bin/bash '],
    ['shebang_line', '', ''],
  ])('%s: %j is stored as %j', (field, value, expected) => {
    for (const set of SETS) {
      expect(configOf(withConfig('slurm_sudo', [set, field], value))[set]![field]).toEqual(expected);
    }
  });
});

describe('a batching set', () => {
  const NUMBERS = ['target_num_jobs', 'max_num_jobs', 'target_cpus_per_job', 'max_cpus_per_job'];
  const MEMORIES = ['target_mem_per_job', 'max_mem_per_job'];

  it.each([...NUMBERS, ...MEMORIES])('needs %s', (field) => {
    refusedForBoth(['batching_config', field], undefined, 'missing');
  });

  it.each(NUMBERS)('takes a number above 0 as %s', (field) => {
    refusedForBoth(['batching_config', field], 0, 'greater_than');
    refusedForBoth(['batching_config', field], null, 'int_type');
    refusedForBoth(['batching_config', field], '4G', 'int_parsing');
  });

  it.each(MEMORIES)('takes memory as %s', (field) => {
    expect(configOf(withConfig('slurm_ssh', ['batching_config', field], '4G'))['batching_config']![field]).toBe(4000);
    refusedForBoth(['batching_config', field], '4GB', 'value_error');
  });

  it('has no other fields', () => {
    refusedForBoth(['batching_config', 'parallelism'], 1, 'extra_forbidden');
  });

  it('does not compare targets with limits', () => {
    expect(
      configOf(withConfig('slurm_ssh', ['batching_config', 'target_num_jobs'], 99))['batching_config'],
    ).toMatchObject({
      target_num_jobs: 99,
      max_num_jobs: 4,
    });
  });
});

describe('memory', () => {
  const PLACE = ['default_slurm_config', 'mem'];
  const megabytes = (mem: unknown) => configOf(withConfig('slurm_ssh', PLACE, mem))['default_slurm_config']!['mem'];

  it.each<[unknown, number]>([
    [1, 1],
    [500, 500],
    ['500', 500],
    ['100M', 100],
    ['2G', 2000],
    ['3T', 3_000_000],
    [' 2G ', 2000],
    ['010M', 10],
    ['0', 0],
    ['10MM', 10],
  ])('%j is %d MB', (input, expected) => {
    expect(megabytes(input)).toBe(expected);
  });

  it.each<[unknown]>(
    ['', ' ', 'G', 'M10', '-1', '+1', '1.5G', '1.0', '1_0', '1 G', '2g', '2m', '2GB', '2K', '2GM', 'x', '１G'].map(
      (text) => [text],
    ),
  )('is not written %j', (input) => {
    refusedForBoth(PLACE, input, 'value_error');
  });

  it.each<[unknown]>([[1.5], [[1]], [{}]])('is not %j', (input) => {
    refusedForBoth(PLACE, input, 'value_error');
  });

  it.each([0, -5])('as a number is above 0, unlike %d', (input) => {
    refusedForBoth(PLACE, input, 'greater_than');
  });
});

describe('a shebang line for the whole resource', () => {
  const lines = (input: object) => {
    const { default_slurm_config, gpu_slurm_config } = configOf(input);
    return [default_slurm_config!['shebang_line'], gpu_slurm_config?.['shebang_line']];
  };
  const withLine = (kind: Kind, ...named: string[]) =>
    named.reduce<Record<string, unknown>>(
      (resource, set) => changed(resource, ['jobs_runner_config', set, 'shebang_line'], '#!/bin/zsh'),
      { ...SLURM[kind], shebang_line: '#!/bin/bash' },
    );

  it.each(KINDS)('%s: fills the config sets that name none', (kind) => {
    expect(lines(SLURM[kind])).toEqual(['#!/bin/sh', '#!/bin/sh']);
    expect(lines(withLine(kind))).toEqual(['#!/bin/bash', '#!/bin/bash']);
    expect(lines(withLine(kind, 'gpu_slurm_config'))).toEqual(['#!/bin/bash', '#!/bin/zsh']);
    expect(lines(withLine(kind, 'default_slurm_config', 'gpu_slurm_config'))).toEqual(['#!/bin/zsh', '#!/bin/zsh']);
  });

  it.each(KINDS)('%s: is returned nested only, and makes no set for GPUs', (kind) => {
    const without = changed(withLine(kind), ['jobs_runner_config', 'gpu_slurm_config'], null);
    expect(valueOf(ResourceWrite, without)).not.toHaveProperty('shebang_line');
    expect(lines(without)).toEqual(['#!/bin/bash', undefined]);
  });

  it('of a local resource is an extra key like others', () => {
    expect(valueOf(ResourceWrite, { ...local(), shebang_line: '#!/bin/bash' })).toEqual(
      valueOf(ResourceWrite, local()),
    );
  });
});
