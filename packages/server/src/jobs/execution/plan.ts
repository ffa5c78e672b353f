/** Plans a task: which images it gets, and the run and units that stand for it in the history, in one transaction. */
import { join } from 'node:path';

import type { Scalar } from '@service/contract';

import { effectiveTypeFilters, nextTypeFilters, STATUS_KEY } from '../../engine/filters.ts';
import { cutEnd, shownValue } from '../../engine/text.ts';
import { contradiction } from '../../engine/type-filters.ts';
import {
  isConverterType,
  type NamedUnit,
  singleUnit,
  taskFolderName,
  tooManyUnits,
  unitOfMany,
} from '../../engine/units.ts';
import { countImages, rememberImages, selectUrls } from '../../projects/index.ts';
import type { SnapshotTask } from '../snapshot.ts';
import * as store from '../store/execution.ts';
import { insertUnits, type NewUnit } from '../store/units.ts';
import { type JobContext, write } from './context.ts';
import { layoutProblem, layoutsOf, type TaskLayouts } from './layout.ts';

/** Filters may have thousands of values. */
const LONGEST_WANTED = 1000;

const isConverter = ({ task }: SnapshotTask) => isConverterType(task.type);

export const taskFolder = ({ job }: JobContext, { workflowtask, task }: SnapshotTask) =>
  join(job.working_dir, taskFolderName(workflowtask.order, task.name));

/** As the history has it. */
export const newUnit = (folder: string, { stem, ...unit }: NamedUnit): NewUnit => ({
  ...unit,
  logfile: join(folder, `${stem}-log.txt`),
});

/** The types that the tasks before this one, in this job, have made. */
const currentTypes = ({ job }: JobContext, position: number) =>
  job.snapshot.tasks
    .slice(0, position)
    .reduce((types, { task }) => nextTypeFilters(types, task.output_types), job.type_filters);

interface Selection {
  urls: string[];
  available: number;
  /** What the images were to have, in words. */
  wanted: string[];
}

const NO_SELECTION: Selection = { urls: [], available: 0, wanted: [] };

function wantedInWords(
  types: Record<string, boolean>,
  attributes: Record<string, Scalar[]>,
  statuses: readonly string[] | undefined,
): string[] {
  const flags = Object.entries(types).map(([type, value]) => `${type} = ${value}`);
  const values = Object.entries(attributes).map(
    ([name, list]) => `${name} is ${list.map((value) => shownValue(value)).join(' or ')}`,
  );
  return [
    ...(flags.length > 0 ? [`the types ${flags.join(', ')}`] : []),
    ...(values.length > 0 ? [`attributes where ${values.join(', ')}`] : []),
    ...(statuses ? [`the status ${statuses.join(' or ')}`] : []),
  ];
}

function noImages(name: string, { wanted }: Selection): string {
  if (wanted.length === 0) return `${name} has nothing to do: the dataset has no images.`;
  const asked = cutEnd(wanted.join(', and '), LONGEST_WANTED);
  return `${name} has nothing to do: no image has ${asked}. Check the filters of the job and the types of the images.`;
}

/** The images for a task that takes images. */
async function select(context: JobContext, trx: store.Trx, task: SnapshotTask, position: number): Promise<Selection> {
  const { job } = context;
  const datasetId = job.dataset_id!;
  const { [STATUS_KEY]: statuses, ...attribute_filters } = job.attribute_filters;
  const type_filters = effectiveTypeFilters(
    currentTypes(context, position),
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
  return {
    urls,
    available: await countImages(trx, datasetId, { type_filters, attribute_filters: {} }),
    wanted: wantedInWords(type_filters, attribute_filters, firstOnly ?? statuses?.map(String)),
  };
}

const refused = (message: string): store.NewFailure => ({ kind: 'task', message });

/** What is in the way of this task, before any unit of it exists. */
async function obstacle(
  context: JobContext,
  trx: store.Trx,
  task: SnapshotTask,
  { selection, layouts }: { selection: Selection; layouts: TaskLayouts },
): Promise<store.NewFailure | undefined> {
  const { job, limits } = context;
  const { name, type, input_types } = task.task;
  const { urls } = selection;
  if (!isConverter(task) && urls.length === 0) return { kind: 'no_images', message: noImages(name, selection) };
  if (job.resource_id !== null && (await store.submissionsPrevented(trx, job.resource_id))) {
    const message = `The resource "${job.resource_name}" isn’t accepting new work right now, so the job ended before ${name}. Continue it later.`;
    return { kind: 'submissions_off', message };
  }
  const clash = contradiction(input_types, task.workflowtask.type_filters);
  if (clash !== undefined) {
    return refused(`${name} takes images with ${clash} = ${input_types[clash]}, its type filters say otherwise.`);
  }
  const problem = layoutProblem(layouts, task, urls.length);
  if (problem !== undefined) return refused(problem);
  const tooMany = type === 'parallel' ? tooManyUnits(urls.length, limits.units) : undefined;
  return tooMany === undefined ? undefined : refused(tooMany);
}

function* unitsOf(
  folder: string,
  task: SnapshotTask,
  { urls, layouts }: { urls: string[]; layouts: TaskLayouts },
): Generator<NewUnit> {
  if (task.task.type !== 'parallel') {
    yield newUnit(folder, singleUnit(task.task.type, urls));
    return;
  }
  const layout = layouts.many(urls.length);
  const unitsPerPack = 'problem' in layout ? null : layout.unitsPerPack;
  for (const [number, url] of urls.entries()) {
    yield newUnit(folder, unitOfMany(url, { number, unitsPerPack, total: urls.length }));
  }
}

export interface PlannedRun {
  runId: number;
  /** It was settled before, or could not begin. */
  over: boolean;
  layouts: TaskLayouts;
}

/** `position` counts the tasks of this job from 0. A task that was planned before is not planned again. */
export const planTask = (context: JobContext, task: SnapshotTask, position: number): Promise<PlannedRun> =>
  write(context, async (trx) => {
    const { job } = context;
    const task_index = task.workflowtask.order;
    const layouts = layoutsOf(context, task);
    const before = await store.findRun(trx, job.id, task_index);
    if (before) return { runId: before.id, over: before.status !== 'submitted', layouts };
    const selection = isConverter(task) ? NO_SELECTION : await select(context, trx, task, position);
    const { urls, available } = selection;
    const runId = await store.insertRun(trx, { job, task, task_index, num_available_images: available });
    const failure = await obstacle(context, trx, task, { selection, layouts });
    if (failure) {
      await store.endRun(trx, runId, failure);
      return { runId, over: true, layouts };
    }
    const cache = isConverter(task) ? null : { dataset_id: job.dataset_id!, workflowtask_id: task.workflowtask.id };
    await insertUnits(trx, runId, unitsOf(taskFolder(context, task), task, { urls, layouts }), cache);
    return { runId, over: false, layouts };
  });
