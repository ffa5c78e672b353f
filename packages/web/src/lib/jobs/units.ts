/** Units as lists of a job hold them, and what a unit is called. How it ended is said by `unitState`. */
import type { HistoryUnit } from '@service/contract';

import { relativePath } from '../images/filters.ts';
import { counted } from '../format.ts';

export interface JobUnit extends Pick<
  HistoryUnit,
  | 'id'
  | 'status'
  | 'zarr_urls'
  | 'is_init'
  | 'cause'
  | 'signal'
  | 'message'
  | 'has_warnings'
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

/** `B/03/0`, `12 images`, `init unit`, `unit 12` */
export function unitName(
  { id, zarr_urls, is_init }: Pick<HistoryUnit, 'id' | 'zarr_urls' | 'is_init'>,
  zarrDir: string,
): string {
  if (is_init) return 'init unit';
  const [first] = zarr_urls;
  if (first === undefined) return `unit ${id}`;
  return zarr_urls.length === 1 ? relativePath(first, zarrDir) : counted(zarr_urls.length, 'image');
}
