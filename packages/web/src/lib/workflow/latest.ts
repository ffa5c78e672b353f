/**
 * What a task has just finished, in the words of the column beside its arguments, and which task has such a column.
 *
 *     lastLine(unit, '/data/screen') // { name: 'P3 K17', state: { look: 'failed', … }, words: 'out of memory' }
 */
import type { HistoryUnit, JobWithTaskStatuses, TaskType } from '@service/contract';

import { relativePath } from '../images/filters.ts';
import { formatMemory, secondsBetween } from '../format.ts';
import { unitName } from '../jobs/units.ts';
import { type State, unitState, warningWords } from '../ui/status.ts';

/** The run of a task in the job that is under way; undefined where there is nothing to follow. */
export function followedRun(
  { id, task_type }: { id: number; task_type: TaskType },
  job: Pick<JobWithTaskStatuses, 'id' | 'status' | 'task_statuses'> | null,
): number | undefined {
  if (job?.status !== 'submitted') return undefined;
  // these do all in one go
  if (task_type === 'non_parallel' || task_type === 'converter_non_parallel') return undefined;
  const status = job.task_statuses[id];
  if (!status || !('history_run_id' in status) || status.job_id !== job.id) return undefined;
  return status.history_run_id;
}

type EndedUnit = Pick<
  HistoryUnit,
  | 'id'
  | 'zarr_urls'
  | 'is_init'
  | 'status'
  | 'cause'
  | 'signal'
  | 'has_warnings'
  | 'num_warnings'
  | 'timestamp_started'
  | 'timestamp_ended'
  | 'peak_memory_bytes'
>;

export interface LastLine {
  id: number;
  /** Undefined where the unit had no image of its own. */
  url: string | undefined;
  name: string;
  state: State;
  words: string;
}

const ON_PLATE = /(?:^|\/)([^/]+?)(?:\.zarr)?\/([A-Z]{1,2})\/(\d{1,2})\/[^/]+$/i;

/** `P3 K17` for an image that lies on a plate, else its path. */
export function shortImageName(url: string, zarrDir: string): string {
  const path = relativePath(url, zarrDir);
  const [, plate, row, column] = ON_PLATE.exec(path) ?? [];
  return plate === undefined ? path : `${plate} ${row!}${column!}`;
}

const lower = (text: string) => text.replace(/^./, (letter) => letter.toLowerCase());

function took({ timestamp_started: from, timestamp_ended: to }: EndedUnit): string[] {
  return from && to ? [shortTime(secondsBetween(from, to))] : [];
}

/** `58 s`, `4 min` */
const shortTime = (seconds: number): string =>
  seconds < 100 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;

export function lastLine(unit: EndedUnit, zarrDir: string): LastLine {
  const [url] = unit.zarr_urls;
  const state = unitState(unit);
  const memory = unit.peak_memory_bytes === null ? [] : [formatMemory(unit.peak_memory_bytes)];
  const ended: Partial<Record<State['look'], string[]>> = {
    warning: [...took(unit), warningWords(unit)],
    done: [...took(unit), ...memory],
  };
  const words = ended[state.look] ?? [lower(state.word)];
  const name = url === undefined || unit.zarr_urls.length > 1 ? unitName(unit, zarrDir) : shortImageName(url, zarrDir);
  return { id: unit.id, url, name, state, words: words.join(', ') };
}
