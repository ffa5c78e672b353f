/** What a resource may be, what is stored of it, and what is said about mistakes. */
import { describe, expect, it } from 'vitest';

import { ResourceWrite } from '../src/index.ts';
import { changed, problemsOf, valueOf } from './support/reading.ts';
import { local, slurmSsh, slurmSudo } from './support/resources.ts';

const EXAMPLES = { local: local(), slurm_sudo: slurmSudo(), slurm_ssh: slurmSsh() };
type Kind = keyof typeof EXAMPLES;
const KINDS = Object.keys(EXAMPLES) as Kind[];

const stored = (input: unknown) => valueOf(ResourceWrite, input) as Record<string, unknown>;

const problemsWith = (kind: Kind, field: string, value: unknown) =>
  problemsOf(ResourceWrite, changed(EXAMPLES[kind], [field], value));
const storedWith = (kind: Kind, field: string, value: unknown) => stored(changed(EXAMPLES[kind], [field], value));

/** All that a config set has once defaults are filled in. */
const CONFIG_SET = {
  partition: null,
  cpus_per_task: null,
  mem: null,
  constraint: null,
  gres: null,
  exclude: null,
  nodelist: null,
  nodes: null,
  time: null,
  account: null,
  extra_lines: [],
  gpus: null,
  shebang_line: '#!/bin/sh',
  use_mem_per_cpu: false,
};

const PIXI_DEFAULTS = {
  PIXI_CONCURRENT_SOLVES: 4,
  PIXI_CONCURRENT_DOWNLOADS: 4,
  TOKIO_WORKER_THREADS: 2,
  DEFAULT_ENVIRONMENT: 'default',
  DEFAULT_PLATFORM: 'linux-64',
  SLURM_CONFIG: null,
};

describe('the complete examples', () => {
  it('local: is stored with its defaults', () => {
    expect(stored(local())).toEqual({
      ...local(),
      host: null,
      jobs_slurm_python_worker: null,
      prevent_new_submissions: false,
      tasks_python_config: { ...local().tasks_python_config, pip_cache_dir: null },
    });
  });

  const storedSlurm = (example: ReturnType<typeof slurmSsh> | ReturnType<typeof slurmSudo>) => ({
    ...example,
    jobs_runner_config: {
      ...example.jobs_runner_config,
      default_slurm_config: { ...CONFIG_SET, partition: 'main', cpus_per_task: 1, mem: 100 },
      gpu_slurm_config: { ...CONFIG_SET, partition: 'gpu', extra_lines: ['#SBATCH --gres=gpu:1'] },
    },
  });

  it('scheduler over SSH: is stored with its defaults and memory in MB', () => {
    expect(stored(slurmSsh())).toEqual({
      ...storedSlurm(slurmSsh()),
      tasks_pixi_config: {
        ...PIXI_DEFAULTS,
        ...slurmSsh().tasks_pixi_config,
        SLURM_CONFIG: { partition: 'main', cpus: 4, mem: '8G', mem_per_cpu: null, time: '60', preamble: [] },
      },
    });
  });

  it('scheduler over sudo: is stored without host, and pixi needs no SLURM_CONFIG', () => {
    expect(stored(slurmSudo())).toEqual({
      ...storedSlurm(slurmSudo()),
      host: null,
      tasks_pixi_config: { ...PIXI_DEFAULTS, ...slurmSudo().tasks_pixi_config },
    });
  });

  it.each(KINDS)('%s: what is stored reads as itself, so clients can send it back', (kind) => {
    const once = stored(EXAMPLES[kind]);
    expect(stored(once)).toEqual(once);
  });

  it.each(KINDS)('%s: extra top-level keys are ignored, since clients send whole read objects', (kind) => {
    const read = { id: 3, timestamp_created: '2026-01-31T12:00:00Z', tasks_pip_cache_dir: '/old' };
    expect(stored({ ...EXAMPLES[kind], ...read })).toEqual(stored(EXAMPLES[kind]));
  });
});

describe('the type', () => {
  it.each<[string, unknown, string]>([
    ['absent', undefined, 'union_tag_not_found'],
    ['null', null, 'union_tag_not_found'],
    ['unknown', 'slurm', 'union_tag_invalid'],
    ['in upper case', 'LOCAL', 'union_tag_invalid'],
    ['a number', 1, 'union_tag_invalid'],
    ['a list', ['local'], 'union_tag_invalid'],
  ])('is refused for the whole body when it is %s', (_, type, expected) => {
    expect(problemsWith('local', 'type', type)).toEqual([{ loc: ['body'], type: expected }]);
  });

  it.each<[unknown]>([[[]], ['local'], [5], [true]])('is missing in a body that is no object: %j', (body) => {
    expect(problemsOf(ResourceWrite, body)).toEqual([{ loc: ['body'], type: 'union_tag_not_found' }]);
  });
});

describe('the fields of every resource', () => {
  const REQUIRED = [
    'name',
    'jobs_local_dir',
    'tasks_local_dir',
    'jobs_runner_config',
    'tasks_python_config',
    'tasks_pixi_config',
  ];

  it.each<[string, unknown, string]>([
    ...REQUIRED.map((field): [string, unknown, string] => [field, undefined, 'missing']),
    ['name', '  ', 'string_too_short'],
    ['name', 5, 'string_type'],
    ['name', null, 'string_type'],
    ['name', 'a\u0000', 'value_error'],
    ['jobs_local_dir', 'srv/jobs', 'value_error'],
    ['jobs_local_dir', '/srv/../jobs', 'value_error'],
    ['jobs_local_dir', 's3://bucket/key', 'value_error'],
    ['tasks_local_dir', '', 'string_too_short'],
    ['tasks_local_dir', null, 'string_type'],
    ['jobs_poll_interval', 'soon', 'int_parsing'],
    ['jobs_poll_interval', null, 'int_type'],
    ['jobs_poll_interval', 0.5, 'int_from_float'],
    ['prevent_new_submissions', null, 'bool_type'],
    ['prevent_new_submissions', 'maybe', 'bool_parsing'],
    ['jobs_runner_config', null, 'model_attributes_type'],
    ['jobs_runner_config', [], 'model_attributes_type'],
    ['tasks_python_config', '3.12', 'model_attributes_type'],
    ['tasks_pixi_config', null, 'dict_type'],
    ['tasks_pixi_config', [], 'dict_type'],
    ['tasks_pixi_config', 'none', 'dict_type'],
  ])('%s: %j is refused with %s, the type in its place', (field, value, type) => {
    for (const kind of KINDS) expect(problemsWith(kind, field, value)).toEqual([{ loc: ['body', kind, field], type }]);
  });

  it.each<[string, unknown, unknown]>([
    ['name', ' Cluster ', 'Cluster'],
    ['jobs_local_dir', '/srv//jobs/./', '/srv/jobs'],
    ['jobs_poll_interval', undefined, 5],
    ['jobs_poll_interval', '7', 7],
    ['jobs_poll_interval', -1, -1],
    ['prevent_new_submissions', undefined, false],
    ['prevent_new_submissions', 'yes', true],
    ['tasks_pixi_config', {}, {}],
  ])('%s: %j is stored as %j', (field, value, expected) => {
    for (const kind of KINDS) expect(storedWith(kind, field, value)[field]).toEqual(expected);
  });

  it('are all checked in one go', () => {
    const places = problemsOf(ResourceWrite, { type: 'local', host: 'x' }).map(({ loc }) => loc.join('.'));
    expect(places.sort()).toEqual([...REQUIRED, 'host'].map((field) => `body.local.${field}`).sort());
  });
});

describe('the fields that depend on the type', () => {
  it.each<[Kind, string, unknown, string]>([
    ['local', 'host', 'login', 'none_required'],
    ['local', 'host', '', 'none_required'],
    ['slurm_sudo', 'host', 'login', 'none_required'],
    ['slurm_ssh', 'host', undefined, 'missing'],
    ['slurm_ssh', 'host', null, 'string_type'],
    ['slurm_ssh', 'host', ' ', 'string_too_short'],
    ['local', 'jobs_slurm_python_worker', '/usr/bin/python3', 'none_required'],
    ['slurm_sudo', 'jobs_slurm_python_worker', undefined, 'missing'],
    ['slurm_sudo', 'jobs_slurm_python_worker', null, 'string_type'],
    ['slurm_ssh', 'jobs_slurm_python_worker', undefined, 'missing'],
    ['slurm_ssh', 'jobs_slurm_python_worker', 'python3', 'value_error'],
    ['slurm_sudo', 'shebang_line', 5, 'string_type'],
    ['slurm_ssh', 'shebang_line', 5, 'string_type'],
  ])('%s %s: %j is refused with %s', (kind, field, value, type) => {
    expect(problemsWith(kind, field, value)).toEqual([{ loc: ['body', kind, field], type }]);
  });

  it.each<[Kind, string, unknown, unknown]>([
    ['local', 'host', null, null],
    ['slurm_sudo', 'host', null, null],
    ['slurm_sudo', 'host', undefined, null],
    ['slurm_ssh', 'host', ' login ', 'login'],
    ['local', 'jobs_slurm_python_worker', null, null],
    ['slurm_sudo', 'jobs_slurm_python_worker', '/opt//python', '/opt/python'],
  ])('%s %s: %j is stored as %j', (kind, field, value, expected) => {
    expect(storedWith(kind, field, value)[field]).toBe(expected);
  });
});
