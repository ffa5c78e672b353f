/**
 * Resources: where jobs run and task environments live. One of three kinds, told apart by `type`.
 *
 * What is stored is what validation gives back: defaults filled in, memory in MB, paths normalised.
 */
import { z } from 'zod';

import { isSupportedPython, PYTHONS } from '../pythons.ts';
import { textMap } from '../wire/maps.ts';
import { absolutePath } from '../wire/paths.ts';
import { addProblem, found, reader, type Reading, rule, valueError, wrong } from '../wire/problem.ts';
import {
  answer,
  boolean,
  integer,
  name,
  nothing,
  readInteger,
  readTrimmedText,
  smallInteger,
  text,
  trimmedText,
} from '../wire/scalars.ts';

export const RESOURCE_TYPES = ['local', 'slurm_sudo', 'slurm_ssh'] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

export const DEFAULT_SHEBANG = '#!/bin/sh';
/** A repeated unit and a zero are taken too, since existing configurations may hold them. */
const MEMORY = /^(\d+)([MGT]?)\2*$/;
const MEGABYTES: Record<string, number> = { '': 1, M: 1, G: 1000, T: 1_000_000 };

/** `"2G"` is 2000: memory is stored in MB. */
export function readMemory(input: unknown): Reading<number> {
  const reading = typeof input === 'string' ? readMemoryText(input.trim()) : readInteger(input);
  if ('problem' in reading)
    return valueError('Enter memory in MB, or as digits followed by M, G or T, for example "4G".');
  if (typeof input !== 'string' && reading.value <= 0) return wrong('greater_than', 'Must be greater than 0.');
  return Number.isSafeInteger(reading.value) ? reading : valueError('This is more memory than can be asked for.');
}

function readMemoryText(text: string): Reading<number> {
  const match = MEMORY.exec(text);
  return match ? found(Number(match[1]) * MEGABYTES[match[2]!]!) : valueError('not a size');
}

export const memory = () =>
  reader(readMemory, { anyOf: [{ type: 'integer', exclusiveMinimum: 0 }, { type: 'string' }] });

const optionalText = () => trimmedText().nullable().default(null);

const SlurmConfigSet = z
  .strictObject({
    partition: optionalText(),
    cpus_per_task: integer({ above: 0 }).nullable().default(null),
    mem: memory().nullable().default(null),
    constraint: optionalText(),
    gres: optionalText(),
    exclude: optionalText(),
    nodelist: optionalText(),
    nodes: integer().nullable().default(null),
    time: optionalText(),
    account: optionalText(),
    extra_lines: z.array(trimmedText()).default([]),
    gpus: optionalText(),
    shebang_line: text().optional(),
    use_mem_per_cpu: boolean().default(false),
  })
  .meta({ id: 'SlurmConfigSet' });

const BatchingConfigSet = z
  .strictObject({
    target_num_jobs: integer({ above: 0 }),
    max_num_jobs: integer({ above: 0 }),
    target_cpus_per_job: integer({ above: 0 }),
    max_cpus_per_job: integer({ above: 0 }),
    target_mem_per_job: memory(),
    max_mem_per_job: memory(),
  })
  .meta({ id: 'BatchingConfigSet' });

const warmStart = () =>
  boolean()
    .optional()
    .meta({ description: 'False: each task process imports its modules by itself, instead of once for many.' });

const LocalRunnerConfig = z
  .strictObject({ parallel_tasks_per_job: integer().nullable().default(null), warm_start: warmStart() })
  .meta({ id: 'JobRunnerConfigLocal' });

export const JobRunnerConfigSLURM = z
  .strictObject({
    default_slurm_config: SlurmConfigSet,
    gpu_slurm_config: SlurmConfigSet.nullable().default(null),
    batching_config: BatchingConfigSet,
    user_local_exports: textMap().default({}),
    warm_start: warmStart(),
  })
  .meta({ id: 'JobRunnerConfigSLURM' });
export type JobRunnerConfigSLURM = z.output<typeof JobRunnerConfigSLURM>;

const PythonConfig = z
  .object({
    default_version: trimmedText(),
    versions: z.record(z.string().refine(isSupportedPython, `Choose one of: ${PYTHONS.join(', ')}.`), absolutePath()),
    pip_cache_dir: absolutePath().nullable().default(null),
    account: trimmedText().nullable().optional().meta({
      description:
        'The account of the machine that runs what people bring: collections, and on a local resource tasks. Without it, the one that SERVICE_TASKS_ACCOUNT names, else that of the service.',
    }),
    uv: absolutePath().optional().meta({ description: 'The uv that installs; without it the service brings one.' }),
  })
  .superRefine(
    rule(({ default_version, versions }: { default_version: string; versions: object }) =>
      Object.hasOwn(versions, default_version)
        ? undefined
        : `default_version ${default_version} is not one of versions.`,
    ),
  )
  .meta({ id: 'TasksPythonSettings' });

const pixiMemory = () =>
  reader(
    (input): Reading<string> => {
      const reading = readTrimmedText(input);
      if ('problem' in reading) return reading;
      return /[KMGT]$/.test(reading.value) ? reading : valueError('Memory must end in K, M, G or T.');
    },
    { type: 'string', pattern: '[KMGT]$' },
  );

const PixiSlurmConfig = z
  .object({
    partition: trimmedText(),
    cpus: integer({ above: 0 }),
    mem: pixiMemory().nullable().default(null),
    mem_per_cpu: pixiMemory().nullable().default(null),
    time: trimmedText(),
    preamble: z.array(text()).default([]),
  })
  .superRefine(
    rule(({ mem, mem_per_cpu }: { mem: string | null; mem_per_cpu: string | null }) =>
      (mem === null) === (mem_per_cpu === null) ? 'Give either mem or mem_per_cpu.' : undefined,
    ),
  )
  .meta({ id: 'PixiSLURMConfig' });

const parentOf = (folder: string) => folder.replace(/\/+$/, '').split('/').slice(0, -1).join('/');
const nameOf = (folder: string) => folder.replace(/\/+$/, '').split('/').at(-1);

function pixiFoldersProblem(config: { default_version: string; versions: Record<string, string> }): string | undefined {
  if (!Object.hasOwn(config.versions, config.default_version)) {
    return `default_version ${config.default_version} is not one of versions.`;
  }
  const folders = Object.entries(config.versions);
  if (new Set(folders.map(([, folder]) => parentOf(folder))).size > 1) return 'All pixi folders need the same parent.';
  const odd = folders.find(([version, folder]) => nameOf(folder) !== version);
  return odd && `The folder of pixi ${odd[0]} must be named ${odd[0]}, not ${nameOf(odd[1])}.`;
}

export const PixiConfig = z
  .object({
    versions: textMap(),
    default_version: text(),
    PIXI_CONCURRENT_SOLVES: integer().default(4),
    PIXI_CONCURRENT_DOWNLOADS: integer().default(4),
    TOKIO_WORKER_THREADS: integer().default(2),
    DEFAULT_ENVIRONMENT: text().default('default'),
    DEFAULT_PLATFORM: text().default('linux-64'),
    SLURM_CONFIG: PixiSlurmConfig.nullable().default(null),
  })
  .superRefine(rule(pixiFoldersProblem))
  .meta({ id: 'TasksPixiSettings' });

/** `{}` means that pixi is not available. */
const pixiConfigOrNothing = () =>
  z.record(z.string(), z.unknown()).transform((map, ctx): z.output<typeof PixiConfig> | Record<string, never> => {
    if (Object.keys(map).length === 0) return {};
    const result = PixiConfig.safeParse(map, { reportInput: true });
    if (result.success) return result.data;
    for (const issue of result.error.issues) ctx.issues.push(issue as z.core.$ZodRawIssue);
    return z.NEVER;
  });

const common = {
  name: name(),
  jobs_local_dir: absolutePath(),
  jobs_poll_interval: smallInteger().default(5),
  tasks_local_dir: absolutePath(),
  tasks_python_config: PythonConfig,
  tasks_pixi_config: pixiConfigOrNothing(),
  prevent_new_submissions: boolean().default(false),
};

const ResourceLocal = z
  .object({
    ...common,
    type: z.literal('local'),
    host: nothing().default(null),
    jobs_runner_config: LocalRunnerConfig,
    jobs_slurm_python_worker: nothing().default(null),
  })
  .meta({ id: 'ValidResourceLocal' });

const slurm = {
  ...common,
  jobs_runner_config: JobRunnerConfigSLURM,
  jobs_slurm_python_worker: absolutePath(),
  shebang_line: text()
    .optional()
    .meta({ description: 'For the configuration sets that name none; answers show it there.' }),
};

interface WithShebang {
  shebang_line?: string | undefined;
}
type FilledIn<T> = T & { shebang_line: string };

const withShebang = <T extends WithShebang>(set: T, shebang: string | undefined): FilledIn<T> => ({
  ...set,
  shebang_line: set.shebang_line ?? shebang ?? DEFAULT_SHEBANG,
});

/** A shebang given for the whole resource is written into its configuration sets. */
function placeShebang<T extends WithShebang & { jobs_runner_config: JobRunnerConfigSLURM }>(resource: T) {
  const { shebang_line, jobs_runner_config: config, ...rest } = resource;
  return {
    ...rest,
    jobs_runner_config: {
      ...config,
      default_slurm_config: withShebang(config.default_slurm_config, shebang_line),
      gpu_slurm_config: config.gpu_slurm_config && withShebang(config.gpu_slurm_config, shebang_line),
    },
  };
}

const ResourceSlurmSudo = z
  .object({ ...slurm, type: z.literal('slurm_sudo'), host: nothing().default(null) })
  .transform(placeShebang)
  .meta({ id: 'ValidResourceSlurmSudo' });

const ResourceSlurmSSH = z
  .object({ ...slurm, type: z.literal('slurm_ssh'), host: trimmedText() })
  .superRefine((resource, ctx) => {
    const pixi = resource.tasks_pixi_config;
    if ('versions' in pixi && pixi.SLURM_CONFIG === null) {
      addProblem(ctx, {
        type: 'value_error',
        message: 'Value error, tasks_pixi_config needs SLURM_CONFIG, because pixi runs inside a Slurm job here.',
      });
    }
  })
  .transform(placeShebang)
  .meta({ id: 'ValidResourceSlurmSSH' });

export const ResourceWrite = z.discriminatedUnion('type', [ResourceLocal, ResourceSlurmSudo, ResourceSlurmSSH]);
export type ResourceWrite = z.output<typeof ResourceWrite>;

const configuration = () => z.record(z.string(), z.unknown());

export const Resource = z
  .object({
    id: answer.integer(),
    name: answer.text(),
    type: z.enum(RESOURCE_TYPES),
    prevent_new_submissions: answer.boolean(),
    timestamp_created: answer.time(),
    host: answer.text().nullable(),
    jobs_local_dir: answer.text(),
    jobs_runner_config: configuration(),
    jobs_slurm_python_worker: answer.text().nullable(),
    jobs_poll_interval: answer.integer(),
    tasks_local_dir: answer.text(),
    tasks_python_config: configuration(),
    tasks_pixi_config: configuration(),
  })
  .meta({ id: 'ResourceRead' });
export type Resource = z.output<typeof Resource>;
