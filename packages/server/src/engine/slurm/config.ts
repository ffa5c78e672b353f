/**
 * What a task asks Slurm for, from the configuration of the resource, the settings of the task and those of the job.
 *
 *     slurmOptions({ config, meta: { mem: '4G', needs_gpu: 'True' }, taskName: 'Cellpose 3D', account: null, workerInit: null })
 *     // { options: { partition: 'gpu', mem: 4000, job_name: 'Cellpose_3D', … } }
 *
 * Later ones win: default section, GPU section (for tasks that need one), task; the account is the job's, if it has one.
 * In the GPU section, what is null or as it is without being set is that of the default section: a stored section holds
 * every key, so nobody can tell the two apart.
 */
import {
  DEFAULT_SHEBANG,
  type JobRunnerConfigSLURM,
  type JsonObject,
  plain,
  readInteger,
  readMemory,
} from '@service/contract';

import { cutEnd } from '../text.ts';
import type { SlurmOptions } from './options.ts';
import { MEMORY_FORMS, readRetry } from './retry.ts';
import { readTime, TIME_FORMS } from './time.ts';
import { setsOption } from './words.ts';

type Section = JobRunnerConfigSLURM['default_slurm_config'];
type Read<T> = { value: T } | { problem: string };

interface Given {
  config: JobRunnerConfigSLURM;
  meta: JsonObject | null;
  taskName: string;
  /** Of the job. */
  account: string | null;
  workerInit: string | null;
}

export function slurmOptions(given: Given): { options: SlurmOptions } | { problem: string } {
  const { config, taskName, account } = given;
  const meta = given.meta ?? {};
  const gpu = needsGpu(meta['needs_gpu']);
  if ('problem' in gpu) return ofTask([gpu.problem]);
  const section = withGpu(config.default_slurm_config, gpu.value ? config.gpu_slurm_config : null);
  const task = readMeta(meta);
  if ('problems' in task) return ofTask(task.problems);
  const { extra_lines, retry, ...set } = task.values;
  const merged = { ...section, ...set };
  const { partition, cpus_per_task, mem } = merged;
  if (partition === null || cpus_per_task === null || mem === null) {
    return { problem: missingWords({ partition, cpus_per_task, mem }) };
  }
  const options: SlurmOptions = {
    ...merged,
    partition,
    cpus_per_task,
    mem,
    job_name: jobName(taskName),
    account: account ?? section.account,
    shebang_line: section.shebang_line ?? DEFAULT_SHEBANG,
    extra_lines: [...new Set([...section.extra_lines, ...extra_lines])],
    worker_init: given.workerInit?.split(/\r?\n/) ?? [],
    user_local_exports: config.user_local_exports,
    needs_gpu: gpu.value,
    batching_config: config.batching_config,
    retry,
  };
  const problem = optionsProblem(options) ?? accountProblem({ extra_lines, worker_init: options.worker_init });
  return problem === undefined ? { options } : { problem };
}

const ofTask = (problems: string[]) => ({ problem: [...problems, 'Change it in the settings of the task.'].join(' ') });

const FLAGS: Partial<Record<string, boolean>> = { true: true, false: false };

function needsGpu(value: unknown): Read<boolean> {
  if (value === undefined) return { value: false };
  const flag = typeof value === 'string' ? FLAGS[value.toLowerCase()] : value;
  return typeof flag === 'boolean' ? { value: flag } : { problem: 'needs_gpu must be true or false.' };
}

function withGpu(section: Section, gpu: Section | null): Section {
  if (gpu === null) return section;
  const untouched: Record<string, unknown> = { shebang_line: DEFAULT_SHEBANG, use_mem_per_cpu: false };
  const isSet = ([key, value]: [string, unknown]) =>
    value !== null && value !== undefined && value !== untouched[key] && !(Array.isArray(value) && value.length === 0);
  return { ...section, ...Object.fromEntries(Object.entries(gpu).filter(isSet)) };
}

/** As people see it in the queue. Blanks and what other programs could trip over become `_`. */
const jobName = (taskName: string): string =>
  cutEnd(taskName.replace(/[^\p{L}\p{M}\p{N}_.,:+=@()-]/gu, '_'), LONGEST_NAME).replace('…', '_');
const LONGEST_NAME = 200;

const TEXTS = ['time', 'gres', 'gpus', 'constraint', 'nodelist', 'exclude'] as const;
type TextKey = (typeof TEXTS)[number];

type FromMeta = Partial<Pick<SlurmOptions, 'cpus_per_task' | 'mem' | 'nodes' | TextKey>> &
  Pick<SlurmOptions, 'tasks_per_job' | 'parallel_tasks_per_job' | 'extra_lines' | 'retry'>;

/** What the task sets. Other keys have no meaning here; a null means that it sets nothing. */
function readMeta(meta: JsonObject): { values: FromMeta } | { problems: string[] } {
  const problems: string[] = [];
  function take<T>(key: string, read: (value: unknown) => Read<T>): T | undefined {
    const value = plain(meta[key]);
    if (value === null || value === undefined) return undefined;
    const reading = read(value);
    if ('value' in reading) return reading.value;
    problems.push(`${key} ${reading.problem}`);
    return undefined;
  }

  if (!isNothing(meta['account'])) {
    problems.push('account cannot be set for a task: choose the account when you submit the job.');
  }
  const retry = readRetry(meta['retry']);
  if ('problem' in retry) problems.push(retry.problem);
  const set = {
    cpus_per_task: take('cpus_per_task', aboveZero),
    mem: take('mem', memoryValue),
    nodes: take('nodes', aboveZero),
    ...Object.fromEntries(TEXTS.map((key) => [key, take(key, textValue)])),
  };
  const values: FromMeta = {
    ...Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined)),
    tasks_per_job: take('tasks_per_job', countOrNothing) ?? null,
    parallel_tasks_per_job: take('parallel_tasks_per_job', countOrNothing) ?? null,
    extra_lines: take('extra_lines', lines) ?? [],
    retry: 'retry' in retry ? retry.retry : null,
  };
  return problems.length > 0 ? { problems } : { values };
}

const isNothing = (value: unknown) => value === null || value === undefined;

function wholeNumber(value: unknown): number | undefined {
  const reading = value === false ? undefined : readInteger(value);
  return reading && 'value' in reading && Number.isSafeInteger(reading.value) ? reading.value : undefined;
}

function aboveZero(value: unknown): Read<number> {
  const number = wholeNumber(value);
  return number === undefined || number < 1 ? { problem: 'must be a whole number above 0.' } : { value: number };
}

/** Zero and less mean that the batching decides. */
function countOrNothing(value: unknown): Read<number | null> {
  const number = wholeNumber(value);
  return number === undefined ? { problem: 'must be a whole number, or null.' } : { value: number > 0 ? number : null };
}

function memoryValue(value: unknown): Read<number> {
  const reading = readMemory(value);
  return 'problem' in reading ? { problem: `must be ${MEMORY_FORMS}.` } : reading;
}

function textValue(value: unknown): Read<string> {
  return typeof value === 'string' && value.trim() !== ''
    ? { value: value.trim() }
    : { problem: 'must be a text of at least one character, in quotation marks.' };
}

function lines(value: unknown): Read<string[]> {
  const isLine = (line: unknown): line is string => typeof line === 'string' && line.trim() !== '';
  return Array.isArray(value) && value.every(isLine)
    ? { value: value.map((line) => line.trim()) }
    : { problem: 'must be a list of texts, a line of the script each.' };
}

function missingWords(values: Record<string, string | number | null>): string {
  const keys = Object.keys(values).filter((key) => values[key] === null);
  const forTask = keys.filter((key) => key !== 'partition');
  const next = forTask.length > 0 ? `Set ${forTask.join(' and ')} in the settings of the task, or ask` : 'Ask';
  return `Slurm needs ${keys.join(', ')}, and neither the task nor the resource says it. ${next} an administrator to add ${keys.join(', ')} to default_slurm_config of the resource.`;
}

/** Rules over values that may come from the resource as well as from the task. */
function optionsProblem({ time, nodes, extra_lines, worker_init }: SlurmOptions): string | undefined {
  if (time !== null && readTime(time) === undefined) {
    return `time "${cutEnd(time, 50)}" is not a time that Slurm knows. Possible are ${TIME_FORMS}.`;
  }
  if (nodes !== null && nodes < 1) return 'nodes must be a whole number above 0.';
  for (const line of [...extra_lines, ...worker_init]) {
    const own = OURS.find((option) => setsOption(line, option));
    if (own) return `The line "${cutEnd(line, 100)}" cannot be used: the service decides about --${own.long} itself.`;
  }
  return undefined;
}

/** With these in a script the service would not know its jobs any more. */
const OURS = [
  { long: 'array', least: 'ar', short: 'a' },
  { long: 'wait', least: 'wait', short: 'W' },
  { long: 'test-only', least: 'te' },
];

const ACCOUNT = { long: 'account', least: 'acco', short: 'A' };

/** In lines of the task and of the job. Those of the resource are its administrator's, who may choose one. */
function accountProblem(given: Record<string, string[]>): string | undefined {
  for (const [key, lines] of Object.entries(given)) {
    const line = lines.find((one) => setsOption(one, ACCOUNT));
    if (line === undefined) continue;
    return `${key} must not choose an account ("${cutEnd(line, 100)}"). Choose the account when you submit the job.`;
  }
  return undefined;
}
