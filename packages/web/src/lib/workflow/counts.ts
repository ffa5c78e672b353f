/**
 * What a task counts: images where it works on one at a time, else the units of its work.
 *
 *     barOf('parallel', status) // { done: 967, failed: 40, stopped: 0, running: 16, waiting: 513, total: 1536 }
 */
import type { FullTaskStatus, ImageStatus, TaskType } from '@service/contract';

export interface BarCounts {
  done: number;
  failed: number;
  stopped: number;
  running: number;
  waiting: number;
  total: number;
}

/** One count, with the images behind it. */
export interface LegendEntry {
  key: 'done' | 'failed' | 'stopped' | 'running' | 'waiting' | 'unset';
  count: number;
  word: string;
  /** The images to show, when it counts images. */
  status: ImageStatus;
}

export const isConverter = (type: TaskType): boolean => type.startsWith('converter');
/** Their images share one status, which changes at the end: only the units tell how far it is. */
export const inUnits = (type: TaskType): boolean => type !== 'parallel';

export const onlyStopped = ({ causes }: FullTaskStatus): boolean =>
  (causes.stopped ?? 0) > 0 && Object.keys(causes).length === 1;

export const hasCounts = (status: FullTaskStatus): boolean =>
  status.num_done_images + status.num_failed_images + status.num_submitted_images > 0 ||
  Object.values(status.progress).some((count) => count > 0);

/** Nothing to draw where nothing was counted. */
export const barOf = (type: TaskType, status: FullTaskStatus): BarCounts | undefined =>
  inUnits(type) ? unitsBar(status) : imagesBar(status);

export const finishedIn = (bar: BarCounts): number => bar.done + bar.failed + bar.stopped;

/** Of the images: those that were done before and are not in this run count too. */
function imagesBar(status: FullTaskStatus): BarCounts | undefined {
  const running = Math.min(status.progress.running, status.num_submitted_images);
  const stopped = Math.min(status.causes.stopped ?? 0, status.num_failed_images);
  return withTotal(
    {
      done: status.num_done_images,
      failed: status.num_failed_images - stopped,
      stopped,
      running,
      waiting: status.num_submitted_images - running,
    },
    status.num_available_images ?? 0,
  );
}

function unitsBar({ progress, causes }: FullTaskStatus): BarCounts | undefined {
  const stopped = Math.min(causes.stopped ?? 0, progress.failed);
  return withTotal({ ...progress, failed: progress.failed - stopped, stopped });
}

function withTotal(counts: Omit<BarCounts, 'total'>, available = 0): BarCounts | undefined {
  const sum = counts.done + counts.failed + counts.stopped + counts.running + counts.waiting;
  const total = Math.max(sum, available);
  return total === 0 ? undefined : { ...counts, total };
}

/** Always of images; a converter works on none. */
export function legendOf(type: TaskType, status: FullTaskStatus): LegendEntry[] {
  if (isConverter(type)) return [];
  const units = inUnits(type);
  const { num_done_images: done, num_failed_images: failed, num_submitted_images: submitted } = status;
  const stopped = units ? (onlyStopped(status) ? failed : 0) : Math.min(status.causes.stopped ?? 0, failed);
  const running = units ? (status.progress.running > 0 ? submitted : 0) : Math.min(status.progress.running, submitted);
  const rest = Math.max(0, (status.num_available_images ?? 0) - done - failed - submitted);
  const entries: LegendEntry[] = [
    { key: 'done', count: done, word: 'done', status: 'done' },
    { key: 'running', count: running, word: 'running', status: 'submitted' },
    { key: 'waiting', count: submitted - running, word: 'waiting', status: 'submitted' },
    { key: 'failed', count: failed - stopped, word: 'failed', status: 'failed' },
    { key: 'stopped', count: stopped, word: 'stopped', status: 'failed' },
    { key: 'unset', count: rest, word: 'not run', status: 'unset' },
  ];
  return entries.filter(({ count }) => count > 0);
}
