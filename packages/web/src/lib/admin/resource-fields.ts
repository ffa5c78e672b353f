/** The form of a resource: which fields a kind has, what they are called, in which unit, and what they are for. */
import type { Resource } from '@service/contract';

export type ResourceKind = Resource['type'];

export interface ResourceField {
  /** Where the value is in the resource. */
  path: readonly string[];
  label: string;
  hint?: string;
  /** Stands behind the value: "CPUs". */
  unit?: string;
  placeholder?: string;
  optional?: true;
  kind:
    | { is: 'text' | 'number' | 'memory' | 'lines' }
    | { is: 'flag'; standard: boolean }
    /** One of the names of the map at a path. */
    | { is: 'choice'; among: readonly string[] }
    /** Names with a value each; `name` and `value` show what they look like. */
    | { is: 'map'; one: string; name: string; value: string };
}

export interface ResourceSection {
  title: string;
  about?: string;
  /** What is said about the values together is told here. */
  path?: readonly string[];
  /** It can be left out: the value at `path` without it, and what it begins with. */
  leftOut?: { as: unknown; begins: unknown };
  fields: ResourceField[];
}

const TEXT = { is: 'text' } as const;
const NUMBER = { is: 'number' } as const;
const MEMORY = { is: 'memory' } as const;
const LINES = { is: 'lines' } as const;
const MEMORY_HINT = 'A number with M, G or T.';

const general = (kind: ResourceKind): ResourceSection => ({
  title: 'General',
  fields: [
    { path: ['name'], label: 'Name', kind: TEXT, hint: 'Shown on the profile page of its users.' },
    ...(kind === 'slurm_ssh'
      ? [{ path: ['host'], label: 'Login node', kind: TEXT, placeholder: 'login.cluster.example.org' } as const]
      : []),
  ],
});

const PLACES: Record<ResourceKind, { jobs: string; tasks: string }> = {
  local: { jobs: 'Logs and other files of jobs.', tasks: 'Task packages are installed here.' },
  slurm_sudo: {
    jobs: 'On the shared file system: written by the service, readable for the people.',
    tasks: 'On the shared file system. Task packages are installed here.',
  },
  slurm_ssh: {
    jobs: 'On the machine of the service. Files on the cluster are in the folders of the profile.',
    tasks: 'On the machine of the service. On the cluster, packages are in the folder of the profile.',
  },
};

const folders = (kind: ResourceKind): ResourceSection => ({
  title: 'Folders',
  about: 'Absolute paths.',
  fields: [
    {
      path: ['jobs_local_dir'],
      label: 'Folder for jobs',
      kind: TEXT,
      hint: PLACES[kind].jobs,
      placeholder: '/data/jobs',
    },
    {
      path: ['tasks_local_dir'],
      label: 'Folder for task packages',
      kind: TEXT,
      hint: PLACES[kind].tasks,
      placeholder: '/data/tasks',
    },
  ],
});

/** An account of the machine, not of the service. */
const ACCOUNT_HINTS = {
  local:
    'Tasks and collections run as this account of the machine. Empty: the one of the settings, else the service’s own.',
  slurm_sudo:
    'Collections run as this account of the machine where sudo doesn’t allow the person’s own. Empty: the one of the settings, else the service’s own.',
};

const PYTHON = 'tasks_python_config';
const python = (kind: ResourceKind): ResourceSection => ({
  title: 'Python',
  about: 'Environments of task packages are made with these interpreters.',
  path: [PYTHON],
  fields: [
    {
      path: [PYTHON, 'versions'],
      label: 'Interpreters',
      kind: { is: 'map', one: 'version', name: '3.12', value: '/usr/bin/python3.12' },
      hint: 'A version, and the absolute path of its interpreter.',
    },
    {
      path: [PYTHON, 'default_version'],
      label: 'Default version',
      kind: { is: 'choice', among: [PYTHON, 'versions'] },
      hint: 'Used where a collection names no version.',
    },
    ...(kind === 'local'
      ? []
      : [
          {
            path: ['jobs_slurm_python_worker'],
            label: 'Python on the compute nodes',
            kind: TEXT,
            hint: 'Absolute path, Python 3.9 or later.',
            placeholder: '/usr/bin/python3',
          } as const,
        ]),
    {
      path: [PYTHON, 'pip_cache_dir'],
      label: 'Cache of pip',
      kind: TEXT,
      optional: true,
      hint: 'Absolute path. Empty: nothing is kept.',
    },
    {
      path: [PYTHON, 'uv'],
      label: 'Path of uv',
      kind: TEXT,
      optional: true,
      hint: 'Absolute path. Empty: the service brings its own.',
    },
    ...(kind === 'slurm_ssh'
      ? []
      : [
          {
            path: [PYTHON, 'account'],
            label: 'Account that runs people’s code',
            kind: TEXT,
            optional: true,
            placeholder: 'tasks',
            hint: ACCOUNT_HINTS[kind],
          } as const,
        ]),
  ],
});

const RUNNER = 'jobs_runner_config';
const WARM_START: ResourceField = {
  path: [RUNNER, 'warm_start'],
  label: 'Warm start',
  kind: { is: 'flag', standard: true },
  hint: 'Import Python modules once for many task processes.',
};
const POLLING: ResourceField = {
  path: ['jobs_poll_interval'],
  label: 'Read the queue every',
  kind: NUMBER,
  unit: 'seconds',
  optional: true,
  hint: 'Default: 5.',
};
const PROCESSES: ResourceField = {
  path: [RUNNER, 'parallel_tasks_per_job'],
  label: 'Processes of a task at a time',
  kind: NUMBER,
  unit: 'processes',
  optional: true,
  hint: 'In one job. Empty: as many as the service runs at once.',
};

const jobs = (kind: ResourceKind): ResourceSection => ({
  title: 'Jobs',
  path: [RUNNER],
  fields: [kind === 'local' ? PROCESSES : POLLING, WARM_START],
});

/** What `sbatch` is told; the same for all tasks and for those with a GPU. */
const slurmOptions = (set: string): ResourceField[] => {
  const at = (key: string) => [RUNNER, set, key];
  const optional = true as const;
  // no job starts without these three, unless the options of all tasks have them
  const needed = set === 'default_slurm_config' ? {} : { optional };
  return [
    { path: at('partition'), label: 'Partition', kind: TEXT, ...needed, placeholder: 'main' },
    { path: at('account'), label: 'Account', kind: TEXT, optional, hint: 'Where a job names no other.' },
    { path: at('cpus_per_task'), label: 'CPUs for a task', kind: NUMBER, unit: 'CPUs', ...needed },
    { path: at('mem'), label: 'Memory for a task', kind: MEMORY, ...needed, placeholder: '4G', hint: MEMORY_HINT },
    {
      path: at('time'),
      label: 'Time limit',
      kind: TEXT,
      unit: 'h:min:s',
      optional,
      placeholder: '04:00:00',
      hint: 'Days in front with a dash: 2-00:00:00.',
    },
    { path: at('nodes'), label: 'Nodes for a job', kind: NUMBER, unit: 'nodes', optional },
    { path: at('gpus'), label: 'GPUs', kind: TEXT, optional, placeholder: '1' },
    { path: at('gres'), label: 'Generic resources', kind: TEXT, optional, placeholder: 'gpu:a100:1' },
    { path: at('constraint'), label: 'Constraint', kind: TEXT, optional, hint: 'Features that a node must have.' },
    { path: at('nodelist'), label: 'Only these nodes', kind: TEXT, optional, placeholder: 'node[01-08]' },
    { path: at('exclude'), label: 'Never these nodes', kind: TEXT, optional, placeholder: 'node09' },
    { path: at('shebang_line'), label: 'First line of scripts', kind: TEXT, optional, placeholder: '#!/bin/sh' },
    {
      path: at('extra_lines'),
      label: 'More lines of scripts',
      kind: LINES,
      optional,
      hint: 'One per line, for example module load cuda or #SBATCH --qos=long.',
    },
    {
      path: at('use_mem_per_cpu'),
      label: 'Ask for memory per CPU',
      kind: { is: 'flag', standard: false },
      hint: 'Where the cluster refuses --mem.',
    },
  ];
};

const batching = (): ResourceSection => {
  const at = (key: string) => [RUNNER, 'batching_config', key];
  return {
    title: 'Images per Slurm job',
    about: 'Many images share a Slurm job. Targets are aimed at; maxima are never passed.',
    path: [RUNNER, 'batching_config'],
    fields: [
      { path: at('target_num_jobs'), label: 'Jobs, target', kind: NUMBER, unit: 'Slurm jobs', hint: 'For one task.' },
      { path: at('max_num_jobs'), label: 'Jobs, maximum', kind: NUMBER, unit: 'Slurm jobs', hint: 'For one task.' },
      { path: at('target_cpus_per_job'), label: 'CPUs of a job, target', kind: NUMBER, unit: 'CPUs' },
      { path: at('max_cpus_per_job'), label: 'CPUs of a job, maximum', kind: NUMBER, unit: 'CPUs' },
      { path: at('target_mem_per_job'), label: 'Memory of a job, target', kind: MEMORY, hint: MEMORY_HINT },
      { path: at('max_mem_per_job'), label: 'Memory of a job, maximum', kind: MEMORY, hint: MEMORY_HINT },
    ],
  };
};

const slurm = (): ResourceSection[] => [
  {
    title: 'Slurm options of all tasks',
    about: 'People can ask for more in the settings of a task.',
    path: [RUNNER, 'default_slurm_config'],
    fields: slurmOptions('default_slurm_config'),
  },
  {
    title: 'Slurm options of tasks with a GPU',
    about: 'What is set here replaces the options above.',
    path: [RUNNER, 'gpu_slurm_config'],
    leftOut: { as: null, begins: { gpus: '1' } },
    fields: slurmOptions('gpu_slurm_config'),
  },
  batching(),
  {
    title: 'Environment variables',
    about: 'Set for every task. A value is a folder below the cache in the person’s project folder.',
    path: [RUNNER, 'user_local_exports'],
    fields: [
      {
        path: [RUNNER, 'user_local_exports'],
        label: 'Variables',
        optional: true,
        kind: { is: 'map', one: 'variable', name: 'CELLPOSE_LOCAL_MODELS_PATH', value: 'cellpose' },
      },
    ],
  },
];

const PIXI = 'tasks_pixi_config';
const pixiSlurm = (): ResourceSection => {
  const at = (key: string) => [PIXI, 'SLURM_CONFIG', key];
  return {
    title: 'Pixi in a Slurm job',
    about: 'Pixi installs inside a Slurm job on this cluster. Enter one of the two kinds of memory.',
    path: [PIXI, 'SLURM_CONFIG'],
    leftOut: { as: null, begins: { partition: 'main', cpus: 4, mem: '8G', time: '01:00:00' } },
    fields: [
      { path: at('partition'), label: 'Partition', kind: TEXT },
      { path: at('cpus'), label: 'CPUs', kind: NUMBER, unit: 'CPUs' },
      { path: at('mem'), label: 'Memory', kind: TEXT, optional: true, hint: 'A number with K, M, G or T.' },
      { path: at('mem_per_cpu'), label: 'Memory per CPU', kind: TEXT, optional: true },
      { path: at('time'), label: 'Time limit', kind: TEXT, unit: 'h:min:s' },
      { path: at('preamble'), label: 'Lines before pixi', kind: LINES, optional: true, hint: 'One per line.' },
    ],
  };
};

const pixi = (kind: ResourceKind): ResourceSection[] => [
  {
    title: 'Pixi',
    about: 'For task packages that come as a pixi project.',
    path: [PIXI],
    leftOut: { as: {}, begins: { versions: {}, default_version: '' } },
    fields: [
      {
        path: [PIXI, 'versions'],
        label: 'Versions of pixi',
        kind: { is: 'map', one: 'version', name: '0.54.1', value: '/opt/pixi/0.54.1' },
        hint: 'Each in a folder with the name of its version, all in the same parent folder.',
      },
      {
        path: [PIXI, 'default_version'],
        label: 'Default version of pixi',
        kind: { is: 'choice', among: [PIXI, 'versions'] },
      },
      {
        path: [PIXI, 'DEFAULT_ENVIRONMENT'],
        label: 'Environment',
        kind: TEXT,
        optional: true,
        placeholder: 'default',
      },
      { path: [PIXI, 'DEFAULT_PLATFORM'], label: 'Platform', kind: TEXT, optional: true, placeholder: 'linux-64' },
      {
        path: [PIXI, 'PIXI_CONCURRENT_SOLVES'],
        label: 'Solves at a time',
        kind: NUMBER,
        optional: true,
        hint: 'Default: 4.',
      },
      {
        path: [PIXI, 'PIXI_CONCURRENT_DOWNLOADS'],
        label: 'Downloads at a time',
        kind: NUMBER,
        optional: true,
        hint: 'Default: 4.',
      },
      {
        path: [PIXI, 'TOKIO_WORKER_THREADS'],
        label: 'Threads of pixi',
        kind: NUMBER,
        unit: 'threads',
        optional: true,
        hint: 'Default: 2.',
      },
    ],
  },
  ...(kind === 'slurm_ssh' ? [pixiSlurm()] : []),
];

export const resourceSections = (kind: ResourceKind): ResourceSection[] => [
  general(kind),
  folders(kind),
  python(kind),
  jobs(kind),
  ...(kind === 'local' ? [] : slurm()),
  ...pixi(kind),
];
