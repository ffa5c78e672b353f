/** What happened with each task of a workflow on a dataset, as the workflow page shows it. */
import type { FullTaskStatus, TaskStatus } from '@service/contract';

import type { Executor } from './store/jobs.ts';
import * as store from './store/task-statuses.ts';

export type TaskStatuses = Map<number, TaskStatus | null>;

const NO_PROGRESS = {
  progress: { waiting: 0, running: 0, done: 0, failed: 0 },
  is_starting: false,
  causes: {},
  num_new_images: null,
} satisfies Partial<FullTaskStatus>;

const pairKey = ({ workflow_id, dataset_id }: store.WorkflowOnDataset) => `${workflow_id}/${dataset_id}`;

const sum = <T extends { num: number }>(counts: T[], counted: (count: T) => boolean) =>
  counts.reduce((total, count) => (counted(count) ? total + count.num : total), 0);

function describeUnits(units: store.UnitCount[]): Pick<FullTaskStatus, 'has_warnings' | 'progress' | 'causes'> {
  const inState = (state: store.UnitCount['state']) => sum(units, (unit) => !unit.is_init && unit.state === state);
  const causes: FullTaskStatus['causes'] = {};
  for (const { cause, num } of units) if (cause !== null) causes[cause] = (causes[cause] ?? 0) + num;
  return {
    has_warnings: units.some((unit) => unit.has_warnings),
    progress: {
      waiting: inState('waiting'),
      running: inState('running'),
      done: inState('done'),
      failed: inState('failed'),
    },
    causes,
  };
}

function fullStatus(
  run: store.RunRow,
  status: FullTaskStatus['status'],
  units: store.UnitCount[],
  images: store.ImageCount[],
): FullTaskStatus {
  const inStatus = (wanted: FullTaskStatus['status']) => sum(images, (image) => image.status === wanted);
  const known = sum(images, () => true);
  const { has_warnings, progress, causes } = describeUnits(units);
  const hasBegun = progress.running + progress.done + progress.failed > 0;
  return {
    status,
    num_submitted_images: inStatus('submitted'),
    num_done_images: inStatus('done'),
    num_failed_images: inStatus('failed'),
    num_available_images: run.num_available_images < known ? null : run.num_available_images,
    has_warnings,
    job_id: run.job_id,
    history_run_id: run.id,
    timestamp_started: run.timestamp_started,
    timestamp_ended: run.timestamp_ended,
    progress,
    is_starting: status === 'submitted' && run.has_imports && !hasBegun,
    num_images_with_warnings: sum(images, (image) => image.has_warnings),
    num_new_images: run.num_new_images,
    causes,
  };
}

function statusOf(
  { run, awaited_by }: store.TaskWithRun,
  units: store.UnitCount[],
  images: store.ImageCount[],
): TaskStatus | null {
  if (!run) return awaited_by === null ? null : { status: 'submitted' };
  // a task that the submitted job has yet to reach waits, whatever an earlier job did
  const waits = awaited_by !== null && awaited_by !== run.job_id;
  if (!waits) return fullStatus(run, run.status, units, images);
  // what an earlier job did to the images still holds, how far it came does not
  return { ...fullStatus(run, 'submitted', units, images), ...NO_PROGRESS };
}

/**
 * For each workflow on its dataset: every current task in order. Null where a task never ran; only `submitted` where it
 * waits for its first run.
 */
export async function taskStatuses(
  db: Executor,
  pairs: store.WorkflowOnDataset[],
  only?: number[],
): Promise<(pair: store.WorkflowOnDataset) => TaskStatuses> {
  const tasks = pairs.length === 0 ? [] : await store.tasksWithLatestRuns(db, pairs, only);
  const ran = tasks.filter((task) => task.run !== null);
  const units = Map.groupBy(
    await store.countUnits(
      db,
      ran.map((task) => task.run!.id),
    ),
    (count) => count.history_run_id,
  );
  const taskKey = (task: { dataset_id: number; workflowtask_id: number }) =>
    `${task.dataset_id}/${task.workflowtask_id}`;
  const images = Map.groupBy(await store.countImages(db, ran), taskKey);
  const found = new Map<string, TaskStatuses>();
  for (const task of tasks) {
    const { run } = task;
    const key = pairKey(task);
    if (!found.has(key)) found.set(key, new Map());
    const status = statusOf(task, (run && units.get(run.id)) ?? [], images.get(taskKey(task)) ?? []);
    found.get(key)!.set(task.workflowtask_id, status);
  }
  return (pair) => found.get(pairKey(pair)) ?? new Map();
}
