/** `tasks_python_config` and `tasks_pixi_config` of a resource. */
import { describe, expect, it } from 'vitest';

import { ResourceWrite } from '../src/index.ts';
import { changed, type Loc, problemsOf, valueOf } from './support/reading.ts';
import { local, slurmSsh, slurmSudo } from './support/resources.ts';

const EXAMPLES = { local: local(), slurm_sudo: slurmSudo(), slurm_ssh: slurmSsh() };
type Kind = keyof typeof EXAMPLES;
const KINDS = Object.keys(EXAMPLES) as Kind[];
type Config = Record<string, unknown>;

/** How one of the two configurations reads, and what is wrong with it, for every kind of resource. */
const configuration = (field: 'tasks_python_config' | 'tasks_pixi_config') => ({
  stored: (config: unknown, kind: Kind = 'local') =>
    (valueOf(ResourceWrite, { ...EXAMPLES[kind], [field]: config }) as unknown as Record<string, Config>)[field],
  refused: (config: unknown, loc: Loc, type: string) => {
    for (const kind of KINDS) {
      expect(problemsOf(ResourceWrite, { ...EXAMPLES[kind], [field]: config })).toEqual([
        { loc: ['body', kind, field, ...loc], type },
      ]);
    }
  },
});

describe('the Python configuration', () => {
  const { stored, refused } = configuration('tasks_python_config');
  const fine: Config = { default_version: '3.12', versions: { '3.12': '/usr/bin/python3.12' } };

  it.each(['3.9', '3.10', '3.11', '3.12', '3.13', '3.14', '3.15'])('may have version %s', (version) => {
    const config = { default_version: version, versions: { [version]: '/python' } };
    expect(stored(config)).toEqual({ ...config, pip_cache_dir: null });
  });

  it('is stored trimmed, normalised, with its defaults, without extras', () => {
    const config = {
      default_version: ' 3.12 ',
      versions: { '3.11': '/a//b', '3.12': ' /c/ ' },
      pip_cache_dir: '/cache/',
      extra: 1,
    };
    expect(stored(config)).toEqual({
      default_version: '3.12',
      versions: { '3.11': '/a/b', '3.12': '/c' },
      pip_cache_dir: '/cache',
    });
  });

  it.each<[string, Config, Loc, string]>([
    ['no default version', { versions: fine['versions'] }, ['default_version'], 'missing'],
    ['a number as default version', { ...fine, default_version: 3.12 }, ['default_version'], 'string_type'],
    ['a blank default version', { ...fine, default_version: ' ' }, ['default_version'], 'string_too_short'],
    ['a default version that is none of the versions', { ...fine, default_version: '3.11' }, [], 'value_error'],
    ['a default version that every object inherits', { ...fine, default_version: 'constructor' }, [], 'value_error'],
    ['no version at all', { ...fine, versions: {} }, [], 'value_error'],
    ['no versions', { default_version: '3.12' }, ['versions'], 'missing'],
    ['versions as null', { ...fine, versions: null }, ['versions'], 'dict_type'],
    ['versions as a list', { ...fine, versions: ['3.12'] }, ['versions'], 'dict_type'],
    ['a relative interpreter', { ...fine, versions: { '3.12': 'python3' } }, ['versions', '3.12'], 'value_error'],
    ['an interpreter that is null', { ...fine, versions: { '3.12': null } }, ['versions', '3.12'], 'string_type'],
    ['a relative cache folder', { ...fine, pip_cache_dir: 'cache' }, ['pip_cache_dir'], 'value_error'],
    ['an empty cache folder', { ...fine, pip_cache_dir: '' }, ['pip_cache_dir'], 'string_too_short'],
  ])('is refused: %s', (_, config, loc, type) => {
    refused(config, loc, type);
  });

  it.each(['3.8', '3.16', '3', '3.12.1', ' 3.12', ''])('has no version %j', (version) => {
    const versions = { '3.12': '/python', [version]: '/python' };
    refused({ default_version: '3.12', versions }, ['versions', version, '[key]'], 'literal_error');
  });
});

describe('the pixi configuration', () => {
  const { stored, refused } = configuration('tasks_pixi_config');
  const slurm: Config = { partition: 'main', cpus: 4, mem: '8G', time: '60' };
  const fine: Config = { default_version: '0.47.0', versions: { '0.47.0': '/pixi/0.47.0' }, SLURM_CONFIG: slurm };

  it.each(KINDS)('%s: {} means that there is no pixi, and stays {}', (kind) => {
    expect(stored({}, kind)).toEqual({});
  });

  it.each(KINDS)('%s: defaults are filled in, extras dropped', (kind) => {
    expect(stored({ ...fine, extra: 1, SLURM_CONFIG: { ...slurm, extra: 1 } }, kind)).toEqual({
      ...fine,
      PIXI_CONCURRENT_SOLVES: 4,
      PIXI_CONCURRENT_DOWNLOADS: 4,
      TOKIO_WORKER_THREADS: 2,
      DEFAULT_ENVIRONMENT: 'default',
      DEFAULT_PLATFORM: 'linux-64',
      SLURM_CONFIG: { ...slurm, mem_per_cpu: null, preamble: [] },
    });
  });

  it.each<[string, Config]>([
    ['a trailing slash', { '1': '/pixi/1/' }],
    ['several folders of one parent', { '1': '/pixi/1', '0.9': '/pixi/0.9' }],
    ['relative folders', { '1': 'pixi/1' }],
    ['spaces around', { ' 1 ': ' /pixi/1 ' }],
  ])('takes folders with %s', (_, versions) => {
    const { versions: kept } = stored({ ...fine, default_version: '1', versions }) as { versions: Config };
    expect(Object.keys(kept)).toContain('1');
    expect(kept['1']).toMatch(/pixi\/1\/?$/);
  });

  it.each<[string, unknown, Loc, string]>([
    ['no versions', changed(fine, ['versions'], undefined), ['versions'], 'missing'],
    ['versions as null', { ...fine, versions: null }, ['versions'], 'dict_type'],
    ['an empty folder', { ...fine, versions: { '0.47.0': ' ' } }, ['versions', '0.47.0'], 'string_too_short'],
    ['a folder that is a number', { ...fine, versions: { '0.47.0': 5 } }, ['versions', '0.47.0'], 'string_type'],
    ['an empty version', { ...fine, versions: { ' ': '/pixi/0.47.0' } }, ['versions'], 'value_error'],
    ['equal versions', { ...fine, versions: { '1': '/pixi/1', ' 1': '/pixi/1' } }, ['versions'], 'value_error'],
    ['no default version', changed(fine, ['default_version'], undefined), ['default_version'], 'missing'],
    ['a number as default version', { ...fine, default_version: 1 }, ['default_version'], 'string_type'],
    ['a default version that is none of the versions', { ...fine, default_version: '1' }, [], 'value_error'],
    ['a default version that every object inherits', { ...fine, default_version: 'toString' }, [], 'value_error'],
    ['folders of two parents', { ...fine, versions: { '0.47.0': '/a/0.47.0', '1': '/b/1' } }, [], 'value_error'],
    ['a folder of another name', { ...fine, versions: { '0.47.0': '/pixi/0.47' } }, [], 'value_error'],
    ['null solves', { ...fine, PIXI_CONCURRENT_SOLVES: null }, ['PIXI_CONCURRENT_SOLVES'], 'int_type'],
    ['many downloads', { ...fine, PIXI_CONCURRENT_DOWNLOADS: 'many' }, ['PIXI_CONCURRENT_DOWNLOADS'], 'int_parsing'],
    ['half a thread', { ...fine, TOKIO_WORKER_THREADS: 0.5 }, ['TOKIO_WORKER_THREADS'], 'int_from_float'],
    ['null as environment', { ...fine, DEFAULT_ENVIRONMENT: null }, ['DEFAULT_ENVIRONMENT'], 'string_type'],
    ['a number as platform', { ...fine, DEFAULT_PLATFORM: 64 }, ['DEFAULT_PLATFORM'], 'string_type'],
    ['SLURM_CONFIG as a text', { ...fine, SLURM_CONFIG: 'main' }, ['SLURM_CONFIG'], 'model_attributes_type'],
    ['SLURM_CONFIG as a list', { ...fine, SLURM_CONFIG: [] }, ['SLURM_CONFIG'], 'model_attributes_type'],
  ])('is refused: %s', (_, config, loc, type) => {
    refused(config, loc, type);
  });

  it.each<[unknown, unknown]>([
    ['3', 3],
    [0, 0],
    [-1, -1],
  ])('has no bounds for its numbers: %j is %j', (input, expected) => {
    expect(stored({ ...fine, TOKIO_WORKER_THREADS: input })).toMatchObject({ TOKIO_WORKER_THREADS: expected });
  });

  it.each<[string, unknown, Loc, string]>([
    ['no partition', changed(slurm, ['partition'], undefined), ['partition'], 'missing'],
    ['a blank partition', { ...slurm, partition: ' ' }, ['partition'], 'string_too_short'],
    ['no cpus', changed(slurm, ['cpus'], undefined), ['cpus'], 'missing'],
    ['0 cpus', { ...slurm, cpus: 0 }, ['cpus'], 'greater_than'],
    ['cpus as null', { ...slurm, cpus: null }, ['cpus'], 'int_type'],
    ['no time', changed(slurm, ['time'], undefined), ['time'], 'missing'],
    ['time as a number', { ...slurm, time: 60 }, ['time'], 'string_type'],
    ['memory without unit', { ...slurm, mem: '8' }, ['mem'], 'value_error'],
    ['memory with a small unit', { ...slurm, mem: '8g' }, ['mem'], 'value_error'],
    ['memory with bytes', { ...slurm, mem: '8GB' }, ['mem'], 'value_error'],
    ['memory as a number', { ...slurm, mem: 8000 }, ['mem'], 'string_type'],
    ['blank memory', { ...slurm, mem: ' ' }, ['mem'], 'string_too_short'],
    ['memory with U+0000', { ...slurm, mem: '8\u0000G' }, ['mem'], 'value_error'],
    ['memory with a lone surrogate', { ...slurm, mem: '8\ud800G' }, ['mem'], 'value_error'],
    ['memory per cpu without unit', { ...slurm, mem: null, mem_per_cpu: '8' }, ['mem_per_cpu'], 'value_error'],
    ['both memories', { ...slurm, mem_per_cpu: '1G' }, [], 'value_error'],
    ['neither memory', { ...slurm, mem: null }, [], 'value_error'],
    ['preamble as null', { ...slurm, preamble: null }, ['preamble'], 'list_type'],
    ['a preamble line that is a number', { ...slurm, preamble: ['a', 5] }, ['preamble', 1], 'string_type'],
  ])('is refused for its SLURM_CONFIG: %s', (_, config, loc, type) => {
    refused({ ...fine, SLURM_CONFIG: config }, ['SLURM_CONFIG', ...loc], type);
  });

  it.each<[Config, Config]>([
    [{ mem: '8K' }, { mem: '8K', mem_per_cpu: null }],
    [{ mem: ' 8M ' }, { mem: '8M', mem_per_cpu: null }],
    [
      { mem: undefined, mem_per_cpu: '1T' },
      { mem: null, mem_per_cpu: '1T' },
    ],
    [
      { mem: null, mem_per_cpu: '1G' },
      { mem: null, mem_per_cpu: '1G' },
    ],
    [{ preamble: ['', ' a '] }, { preamble: ['', ' a '] }],
    [{ cpus: '4' }, { cpus: 4 }],
  ])('stores a SLURM_CONFIG with %j as %j', (change, expected) => {
    // What is undefined here is absent in JSON.
    const config = JSON.parse(JSON.stringify({ ...slurm, ...change })) as Config;
    expect(stored({ ...fine, SLURM_CONFIG: config })).toMatchObject({ SLURM_CONFIG: expected });
  });

  it.each([undefined, null])('needs SLURM_CONFIG over SSH, and there only: %s', (value) => {
    const config = changed(fine, ['SLURM_CONFIG'], value);
    expect(problemsOf(ResourceWrite, { ...EXAMPLES.slurm_ssh, tasks_pixi_config: config })).toEqual([
      { loc: ['body', 'slurm_ssh'], type: 'value_error' },
    ]);
    expect(stored(config, 'slurm_sudo')).toMatchObject({ SLURM_CONFIG: null });
    expect(stored(config, 'local')).toMatchObject({ SLURM_CONFIG: null });
  });
});
