/**
 * The states that things are in, as pages show them: a shape, a word and a colour.
 *
 *     taskState({ is_starting: false, progress: { running: 3, … } }) // { look: 'running', word: 'Running' }
 */
import type { Cause, FullTaskStatus, HistoryUnit, Job } from '@service/contract';

import { counted } from '../format.ts';

type Look = 'running' | 'waiting' | 'done' | 'warning' | 'failed' | 'stopped' | 'unset';

export interface State {
  look: Look;
  word: string;
}

/** Python imports for all units of a task before the first of them runs, which can take a minute. */
export const STARTING: State = { look: 'running', word: 'Starting Python' };

const CAUSE_WORDS: Record<Cause, string> = {
  error: 'Task error',
  memory: 'Out of memory',
  time_limit: 'Out of time',
  signal: 'Ended by a signal',
  start: 'Could not start',
  output: 'Unusable output',
  stopped: 'Stopped',
  lost: 'Lost',
};

/** `Ended by signal 9` where the number is known. */
export const causeWords = (cause: Cause | null, signal: number | null = null): string =>
  cause === null ? 'Failed' : cause === 'signal' && signal !== null ? `Ended by signal ${signal}` : CAUSE_WORDS[cause];

const isStopped = (job: Pick<Job, 'failure'>) => job.failure?.kind === 'stopped';

/** Whether Python starts for its first task is known by the task, not by the job. */
export function jobState(
  job: Pick<Job, 'status' | 'failure' | 'stop_requested_at' | 'stop_requested_by' | 'timestamp_first_unit'>,
  isStarting = false,
): State {
  if (job.status === 'done') return { look: 'done', word: 'Done' };
  if (job.status === 'failed') {
    if (!isStopped(job)) return { look: 'failed', word: 'Failed' };
    return { look: 'stopped', word: job.stop_requested_by ? `Stopped by ${job.stop_requested_by}` : 'Stopped' };
  }
  if (job.stop_requested_at !== null) return { look: 'stopped', word: 'Stopping' };
  if (job.timestamp_first_unit !== null) return { look: 'running', word: 'Running' };
  return isStarting ? STARTING : { look: 'waiting', word: 'Waiting' };
}

/** Of a task that has not ended. */
export function taskState({ is_starting, progress }: Pick<FullTaskStatus, 'is_starting' | 'progress'>): State {
  if (is_starting) return STARTING;
  const begun = progress.running + progress.done + progress.failed > 0;
  return begun ? { look: 'running', word: 'Running' } : { look: 'waiting', word: 'Waiting' };
}

type UnitLike = Pick<
  HistoryUnit,
  'status' | 'cause' | 'signal' | 'has_warnings' | 'num_warnings' | 'timestamp_started' | 'timestamp_ended'
>;

/** Units of a compound task keep their status until all have ended; that one has is known by its cause or its time. */
export function unitState(unit: UnitLike): State {
  if (unit.status === 'failed' || unit.cause !== null)
    return { look: unit.cause === 'stopped' ? 'stopped' : 'failed', word: causeWords(unit.cause, unit.signal) };
  if (unit.status === 'submitted' && unit.timestamp_ended === null)
    return unit.timestamp_started === null
      ? { look: 'waiting', word: 'Waiting' }
      : { look: 'running', word: 'Running' };
  return unit.has_warnings ? { look: 'warning', word: `Done, ${warningWords(unit)}` } : { look: 'done', word: 'Done' };
}

/** `2 warnings`; of imported runs nobody knows how many. */
export const warningWords = ({ num_warnings }: Pick<HistoryUnit, 'num_warnings'>): string =>
  num_warnings > 0 ? counted(num_warnings, 'warning') : 'with warnings';

interface LastJob {
  status: string;
  stopped: boolean;
  has_warnings: boolean;
}

/** Of the newest job of a project, of which less is known. */
export function lastJobState({ status, stopped, has_warnings }: LastJob): State {
  if (stopped) return { look: 'stopped', word: 'Stopped' };
  if (status === 'failed') return { look: 'failed', word: 'Failed' };
  if (status === 'submitted') return { look: 'running', word: 'Running' };
  return has_warnings ? { look: 'warning', word: 'Done, with warnings' } : { look: 'done', word: 'Done' };
}
