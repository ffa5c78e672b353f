/** Ends the run of a task: merges what its units said into the image list, once, together with history and accounting. */
import { STATUS_KEY } from '../../engine/filters.ts';
import { applyOutput, touchedUrls } from '../../engine/image-list.ts';
import { type MergedOutput, mergeOutputs } from '../../engine/merge.ts';
import type { TaskOutput } from '../../engine/outputs.ts';
import { changeImageList, changeRemembered, holdDataset, imagesByUrl, rememberedAmong } from '../../projects/index.ts';
import type { SnapshotTask } from '../snapshot.ts';
import * as store from '../store/execution.ts';
import { type Execution, write } from './execution.ts';
import { outsideOnDisk } from './places-on-disk.ts';

export interface RunEnd {
  runId: number;
  task: SnapshotTask;
  /** Of the units that ended well, in their order; those that said nothing may be left out when one of them is there. */
  outputs: TaskOutput[];
  /** The images that count as updated when no unit says anything. */
  silentUrls: string[];
  /** Why it failed, where some unit did. */
  failure: store.RunFailure | null;
  /** Compound tasks: all units share one status. */
  together: boolean;
  num_tasks: number;
  executorError: string | null;
}

/** Rolls the transaction back, so that nothing of the task's output is kept. */
class OutputProblem extends Error {}

/** Of images that were made anew: whether the job, which filters on a status, goes on with them. */
async function inheritMemory(trx: store.Trx, jobId: number, { updates, removals }: MergedOutput, known: Set<string>) {
  const before = await rememberedAmong(trx, jobId, touchedUrls(updates, removals));
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

/** The number of images that the task made. */
async function merge(execution: Execution, trx: store.Trx, end: RunEnd): Promise<number> {
  const { job } = execution;
  const { zarr_dir } = job.snapshot;
  const merged = mergeOutputs(end);
  if ('problem' in merged) throw new OutputProblem(merged.problem);
  if (merged.updates.length === 0 && merged.removals.length === 0) return 0;
  if (job.dataset_id === null || !(await holdDataset(trx, job.dataset_id))) {
    throw new OutputProblem('The dataset is not there any more.');
  }
  const known = await imagesByUrl(trx, job.dataset_id, touchedUrls(merged.updates, merged.removals));
  const changes = applyOutput({ known, ...merged, outputTypes: end.task.task.output_types, zarr_dir });
  if ('problem' in changes) throw new OutputProblem(changes.problem);
  const outside = await outsideOnDisk(
    zarr_dir,
    changes.added.map((image) => image.zarr_url),
  );
  if (outside !== undefined) {
    throw new OutputProblem(`The image ${outside} does not lie inside ${zarr_dir}: a link on the way leads elsewhere.`);
  }
  await changeImageList(trx, job.dataset_id, end.task.workflowtask.id, changes);
  if (STATUS_KEY in job.attribute_filters) await inheritMemory(trx, job.id, merged, new Set(known.keys()));
  return changes.num_new_images;
}

/** Outputs that do not fit together fail the run, and the image list stays as it was. */
export async function settleRun(execution: Execution, end: RunEnd): Promise<void> {
  const { job } = execution;
  try {
    await write(execution, async (trx) => {
      if (!(await store.isOpen(trx, end.runId))) return;
      const num_new_images = await merge(execution, trx, end);
      if (end.together) await store.settleUnits(trx, end.runId, end.failure ? 'failed' : 'done');
      await store.endRun(trx, end.runId, end.failure, num_new_images);
      await store.insertAccounting(trx, { user_id: job.user_id, num_tasks: end.num_tasks, num_new_images });
      if (job.snapshot.cluster) await store.setExecutorError(trx, job.id, end.executorError);
    });
  } catch (error) {
    if (!(error instanceof OutputProblem)) throw error;
    const { message } = error;
    const named = `${end.task.task.name}: ${message}`;
    await write(execution, async (trx) => {
      await store.failAllUnits(trx, end.runId, message);
      await store.endRun(trx, end.runId, { kind: 'output', message: named, num_images: end.num_tasks });
    });
  }
}
