/** Ends the run of a task: merges what its units said into the image list, once, together with history and accounting. */
import { ServiceError } from '@service/contract/errors';
import { plural } from '@service/contract/plural';

import { STATUS_KEY } from '../../engine/filters.ts';
import { applyOutput, touchedUrls } from '../../engine/image-list.ts';
import { type MergedOutput, mergeOutputs } from '../../engine/merge.ts';
import type { TaskOutput } from '../../engine/outputs.ts';
import { firstLine } from '../../engine/text.ts';
import { isCompoundType } from '../../engine/units.ts';
import {
  changeImageList,
  changeRemembered,
  holdDataset,
  imagesByUrl,
  rememberedAmong,
  setTypes,
} from '../../projects/index.ts';
import type { SnapshotTask } from '../snapshot.ts';
import * as store from '../store/execution.ts';
import { failAllUnits, settleUnits } from '../store/units.ts';
import { type JobContext, write } from './context.ts';
import { outsideOnDisk } from './image-locations.ts';
import type { TaskResult } from './phases.ts';

const SILENT: TaskOutput = { image_list_updates: [], image_list_removals: [] };

/** What the units said does not fit together, or is too much. It rolls the transaction back, so that nothing of it is kept. */
class OutputProblem extends ServiceError {
  readonly kind = 'output-problem';
  readonly runId: number;

  constructor(runId: number, message: string) {
    super(message);
    this.runId = runId;
  }
}

/** Outputs in the order of the units; the silent ones are told by one that says nothing. */
function outputsOf({ outputs, failed, total }: TaskResult): TaskOutput[] {
  const told = [...outputs.entries()].sort(([one], [other]) => one - other).map(([, output]) => output);
  return total - failed.size > told.length ? [...told, SILENT] : told;
}

interface FailedTask {
  failure: store.NewFailure;
  /** For its units that did their work, where the units share one status. */
  siblings: string;
}

/** `2 other images failed.`, in a line of its own; nothing for none. */
function othersFailed(count: number, one: 'image' | 'unit'): string {
  return count === 0 ? '' : `\n${count} other ${plural(count, one)} failed.`;
}

/** The first of the units that failed stands for the task. */
function failureOf({ stop }: JobContext, { task }: SnapshotTask, result: TaskResult): FailedTask | null {
  if (result.failed.size === 0) return null;
  const failures = [...result.failed.values()];
  if (stop.signal.aborted && failures.some(({ cause }) => cause === 'stopped'))
    return {
      failure: { kind: 'stopped', message: `The job was stopped during ${task.name}.` },
      siblings: 'This unit finished, but the job was stopped before the rest of the task did.',
    };
  const first = failures.reduce((least, failure) => (failure.number < least.number ? failure : least));
  const zarr_url = result.imageOf(first.number);
  const others = othersFailed(failures.length - 1, isCompoundType(task.type) ? 'unit' : 'image');
  const message = `${task.name} failed${zarr_url === null ? '' : ` for ${zarr_url}`}: ${first.message}${others}`;
  const which = zarr_url === null ? '' : ` (${zarr_url})`;
  return {
    failure: { kind: first.cause === 'output' ? 'output' : 'task', message, zarr_url },
    siblings: `This unit finished, but the task failed because of another one${which}: ${firstLine(first.message)}`,
  };
}

/** Of images that were made anew: whether the job, which filters on a status, goes on with them. */
async function inheritSelection(
  trx: store.Trx,
  jobId: number,
  { updates }: MergedOutput,
  { touched, known }: { touched: string[]; known: ReadonlyMap<string, unknown> },
) {
  const before = await rememberedAmong(trx, jobId, touched);
  const now = new Set(before);
  for (const { zarr_url, origin } of updates) {
    if ((origin === null || origin === zarr_url) && known.has(zarr_url)) continue;
    if (origin !== null && now.has(origin)) now.add(zarr_url);
    else now.delete(zarr_url);
  }
  const more = [...now].filter((url) => !before.has(url));
  await changeRemembered(
    trx,
    jobId,
    more,
    [...before].filter((url) => !now.has(url)),
  );
}

interface Settling {
  runId: number;
  task: SnapshotTask;
  result: TaskResult;
}

/** The number of images that the task made. */
async function merge({ job }: JobContext, trx: store.Trx, settling: Settling): Promise<number> {
  const { zarr_dir } = job.snapshot;
  const { runId, task, result } = settling;
  if (result.tooMuchOutput !== null) throw new OutputProblem(runId, result.tooMuchOutput);
  const merged = mergeOutputs({ outputs: outputsOf(result), silentUrls: result.silentUrls });
  if ('problem' in merged) throw new OutputProblem(runId, merged.problem);
  if (merged.updates.length === 0 && merged.removals.length === 0) return 0;
  if (job.dataset_id === null || !(await holdDataset(trx, job.dataset_id))) {
    throw new OutputProblem(runId, 'The dataset was deleted while the job ran.');
  }
  // many images at once, where nothing but the types of the task changes and no image has to be made anew
  const { output_types } = task.task;
  if (merged.silent && (await setTypes(trx, job.dataset_id, result.silentUrls, output_types))) return 0;
  const touched = touchedUrls(merged.updates, merged.removals);
  const known = await imagesByUrl(trx, job.dataset_id, touched);
  const changes = applyOutput({ known, ...merged, outputTypes: output_types, zarr_dir });
  if ('problem' in changes) throw new OutputProblem(runId, changes.problem);
  const outside = await outsideOnDisk(
    zarr_dir,
    changes.added.map((image) => image.zarr_url),
  );
  if (outside !== undefined) {
    throw new OutputProblem(
      runId,
      `The image ${outside} is not inside ${zarr_dir}: a link on the way leads elsewhere.`,
    );
  }
  await changeImageList(trx, job.dataset_id, task.workflowtask.id, changes);
  if (STATUS_KEY in job.attribute_filters) await inheritSelection(trx, job.id, merged, { touched, known });
  return changes.num_new_images;
}

/** Outputs that do not fit together fail the run, and the image list stays as it was. */
export async function settleRun(
  context: JobContext,
  runId: number,
  task: SnapshotTask,
  result: TaskResult,
): Promise<void> {
  const { job } = context;
  const { num_tasks } = result;
  const failed = failureOf(context, task, result);
  try {
    await write(context, async (trx) => {
      if (!(await store.isOpen(trx, runId))) return;
      const num_new_images = await merge(context, trx, { runId, task, result });
      // the units of a compound task share one status
      if (isCompoundType(task.task.type)) await settleUnits(trx, runId, failed ? 'failed' : 'done', failed?.siblings);
      await store.endRun(trx, runId, failed && failed.failure, num_new_images);
      await store.insertAccounting(trx, { user_id: job.user_id, num_tasks, num_new_images });
      if (job.snapshot.cluster) await store.setExecutorError(trx, job.id, result.executorError);
    });
  } catch (error) {
    if (!(error instanceof OutputProblem)) throw error;
    const { message } = error;
    const named = `${task.task.name}: ${message}`;
    await write(context, async (trx) => {
      await failAllUnits(trx, runId, message);
      await store.endRun(trx, runId, { kind: 'output', message: named });
    });
  }
}
