/** A unit of a job, in words: what it worked on and how it ended. */
import type { Cause, HistoryUnit } from '@service/contract';

import { relativePath } from '../images/filters.ts';
import { counted } from '../format.ts';
import { causeWords, type State } from '../ui/status.ts';

export interface JobUnit extends Pick<
  HistoryUnit,
  | 'id'
  | 'status'
  | 'zarr_urls'
  | 'is_init'
  | 'cause'
  | 'signal'
  | 'message'
  | 'num_warnings'
  | 'timestamp_started'
  | 'timestamp_ended'
  | 'peak_memory_bytes'
  | 'node'
> {
  history_run_id: number;
  workflowtask_id: number;
  task: string;
}

/** `B/03/0`, `12 images`, `init unit` */
export function unitName({ zarr_urls, is_init }: Pick<JobUnit, 'zarr_urls' | 'is_init'>, zarrDir: string): string {
  if (is_init) return 'init unit';
  const [first] = zarr_urls;
  if (first === undefined) return 'the whole task';
  return zarr_urls.length === 1 ? relativePath(first, zarrDir) : counted(zarr_urls.length, 'image');
}

export function unitState({
  status,
  cause,
  signal,
  num_warnings,
}: {
  status: string;
  cause: Cause | null;
  signal: number | null;
  num_warnings: number;
}): State {
  if (status === 'failed')
    return cause === 'stopped'
      ? { look: 'stopped', word: 'Stopped' }
      : { look: 'failed', word: causeWords(cause, signal) };
  return num_warnings > 0
    ? { look: 'warning', word: `Done, ${counted(num_warnings, 'warning')}` }
    : { look: 'warning', word: 'Done, with warnings' };
}
