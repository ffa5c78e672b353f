/** Plans a task: which images it gets, and the run and units that stand for it in the history, in one transaction. */
import { join } from 'node:path';

import type { JsonObject } from '@service/contract';

import { batchesOf } from '../../engine/slurm/batching.ts';
import { slurmOptions } from '../../engine/slurm/config.ts';
import { effectiveTypeFilters, nextTypeFilters, STATUS_KEY } from '../../engine/filters.ts';
import { contradiction } from '../../engine/type-filters.ts';
import {
  isCompoundType,
  isConverterType,
  parallelWidth,
  SINGLE_STEM,
  taskFolderName,
  tooManyUnits,
  unitStem,
} from '../../engine/units.ts';
import type { ClusterPlace } from '../../runners/index.ts';
import { countImages, rememberImages, selectUrls } from '../../projects/index.ts';
import type { ClusterAccess, SnapshotTask } from '../snapshot.ts';
import * as store from '../store/execution.ts';
import { type Execution, write } from './execution.ts';

export const isConverter = ({ task }: SnapshotTask) => isConverterType(task.type);
export const isCompound = ({ task }: SnapshotTask) => isCompoundType(task.type);

export const taskFolder = ({ job }: Execution, { workflowtask, task }: SnapshotTask) =>
  join(job.working_dir, taskFolderName(workflowtask.order, task.name));

export const logPath = (folder: string, stem: string) => join(folder, `${stem}-log.txt`);

/** How the units of a phase are spread. */
export interface Layout {
  /** How many file names in a row begin alike. */
  batchSize: number | null;
  /** On this machine: how many at a time, where that is limited. */
  width: number | null;
  /** On a cluster: what is asked of its scheduler. */
  plan?: ClusterPlace['plan'];
}

function localLayout({ runnerConfig }: Execution, meta: JsonObject | null): Layout | { problem: string } {
  const own = meta?.['parallel_tasks_per_job'];
  const width = parallelWidth(own === undefined ? runnerConfig['parallel_tasks_per_job'] : own);
  return 'problem' in width ? width : { batchSize: width.width, width: width.width };
}

function clusterLayout(
  { job }: Execution,
  { config }: ClusterAccess,
  task: SnapshotTask,
  phase: { meta: JsonObject | null; parallel: boolean; total: number },
): Layout | { problem: string } {
  const { slurm_account: account, worker_init: workerInit } = job;
  const asked = slurmOptions({ config, meta: phase.meta, taskName: task.task.name, account, workerInit });
  if ('problem' in asked) return asked;
  const { options } = asked;
  const packed = batchesOf(options, phase.total, !phase.parallel);
  if ('problem' in packed) return packed;
  const { tasksPerJob, parallel } = packed;
  return { batchSize: tasksPerJob, width: null, plan: { options, tasksPerJob, parallel } };
}

/** For one of the two phases of a task: the one process, or the many. */
export function layoutOf(
  execution: Execution,
  task: SnapshotTask,
  phase: { parallel: boolean; total: number },
): Layout | { problem: string } {
  const { cluster } = execution.job.snapshot;
  const meta = phase.parallel ? task.workflowtask.meta_parallel : task.workflowtask.meta_non_parallel;
  if (cluster) return clusterLayout(execution, cluster, task, { ...phase, meta });
  return phase.parallel ? localLayout(execution, meta) : { batchSize: null, width: null };
}

/** Of all phases that the task has; how many units the second one of a compound task has is not known yet. */
function layoutProblem(execution: Execution, task: SnapshotTask, total: number): string | undefined {
  const { type } = task.task;
  const single = type !== 'parallel' && layoutOf(execution, task, { parallel: false, total: 1 });
  if (single && 'problem' in single) return single.problem;
  if (type !== 'parallel' && !isCompound(task)) return undefined;
  const many = layoutOf(execution, task, { parallel: true, total: type === 'parallel' ? total : 1 });
  return 'problem' in many ? many.problem : undefined;
}

/** The types that the tasks before this one, in this job, have made. */
const currentTypes = ({ job }: Execution, position: number) =>
  job.snapshot.tasks
    .slice(0, position)
    .reduce((types, { task }) => nextTypeFilters(types, task.output_types), job.type_filters);

/** The images for a task that takes images. */
async function select(execution: Execution, trx: store.Trx, task: SnapshotTask, position: number) {
  const { job } = execution;
  const datasetId = job.dataset_id!;
  const { [STATUS_KEY]: statuses, ...attribute_filters } = job.attribute_filters;
  const type_filters = effectiveTypeFilters(
    currentTypes(execution, position),
    task.task.input_types,
    task.workflowtask.type_filters,
  );
  if (position === 0 && statuses) {
    await rememberImages(trx, job.id, datasetId, task.workflowtask.id, statuses.map(String));
  }
  const firstOnly = position === 0 ? job.first_task_image_status : null;
  const urls = await selectUrls(trx, {
    datasetId,
    filters: { type_filters, attribute_filters },
    ofJob: statuses && job.id,
    status: firstOnly === null ? undefined : { workflowtask_id: task.workflowtask.id, statuses: firstOnly },
  });
  return { urls, available: await countImages(trx, datasetId, { type_filters, attribute_filters: {} }) };
}

const refused = (message: string): store.RunFailure => ({ kind: 'task', message, num_images: 0 });

/** What is in the way of this task, before any unit of it exists. */
async function obstacle(
  execution: Execution,
  trx: store.Trx,
  task: SnapshotTask,
  urls: string[],
): Promise<store.RunFailure | undefined> {
  const { job, limits } = execution;
  const { name, type, input_types } = task.task;
  if (!isConverter(task) && urls.length === 0) {
    const message = `No image passes the filters, so that ${name} has nothing to do. Look at the filters of the job and the types that the task takes.`;
    return { kind: 'no_images', message, num_images: 0 };
  }
  if (job.resource_id !== null && (await store.submissionsPrevented(trx, job.resource_id))) {
    const message = `The resource "${job.resource_name}" takes no new work at present, so that the job ends before ${name}. Continue it later.`;
    return { kind: 'submissions_off', message, num_images: 0 };
  }
  const clash = contradiction(input_types, task.workflowtask.type_filters);
  if (clash !== undefined) {
    return refused(`${name} takes images with ${clash} = ${input_types[clash]}, its type filters say otherwise.`);
  }
  const problem = layoutProblem(execution, task, urls.length);
  if (problem !== undefined) return refused(problem);
  const tooMany = type === 'parallel' ? tooManyUnits(urls.length, limits.units) : undefined;
  return tooMany === undefined ? undefined : refused(tooMany);
}

function* unitsOf(execution: Execution, task: SnapshotTask, urls: string[]): Generator<store.NewUnit> {
  const folder = taskFolder(execution, task);
  if (task.task.type !== 'parallel') {
    const logfile = logPath(folder, SINGLE_STEM);
    yield { number: 0, is_init: isCompound(task), logfile, zarr_urls: isConverter(task) ? [] : urls };
    return;
  }
  const layout = layoutOf(execution, task, { parallel: true, total: urls.length });
  const batchSize = 'problem' in layout ? null : layout.batchSize;
  for (const [number, url] of urls.entries()) {
    const stem = unitStem({ number, batchSize, total: urls.length });
    yield { number, is_init: false, logfile: logPath(folder, stem), zarr_urls: [url] };
  }
}

export interface PlannedRun {
  runId: number;
  /** It was settled before, or could not begin. */
  over: boolean;
}

/** `position` counts the tasks of this job from 0. A task that was planned before is not planned again. */
export const planTask = (execution: Execution, task: SnapshotTask, position: number): Promise<PlannedRun> =>
  write(execution, async (trx) => {
    const { job } = execution;
    const task_index = task.workflowtask.order;
    const before = await store.findRun(trx, job.id, task_index);
    if (before) return { runId: before.id, over: before.status !== 'submitted' };
    const { urls, available } = isConverter(task)
      ? { urls: [], available: 0 }
      : await select(execution, trx, task, position);
    const runId = await store.insertRun(trx, { job, task, task_index, num_available_images: available });
    const failure = await obstacle(execution, trx, task, urls);
    if (failure) {
      await store.endRun(trx, runId, failure);
      return { runId, over: true };
    }
    const cache = isConverter(task) ? null : { dataset_id: job.dataset_id!, workflowtask_id: task.workflowtask.id };
    await store.insertUnits(trx, runId, unitsOf(execution, task, urls), cache);
    return { runId, over: false };
  });
