/**
 * The states that things are in, as pages show them: a shape, a word and a colour.
 *
 *     taskState({ status: 'submitted', progress: { running: 3, … }, … }) // { look: 'running', word: 'Running' }
 */
import type { Cause, Job, TaskStatus } from '@service/contract';

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

/** Of a task in a workflow, on the chosen dataset. */
export function taskState(status: TaskStatus | null): State {
  if (status === null) return { look: 'unset', word: 'Not run' };
  if (!('progress' in status)) return { look: 'waiting', word: 'Waiting' };
  const { progress, causes } = status;
  if (status.status === 'submitted') {
    if (status.is_starting) return STARTING;
    const begun = progress.running + progress.done + progress.failed > 0;
    return begun ? { look: 'running', word: 'Running' } : { look: 'waiting', word: 'Waiting' };
  }
  if (status.status === 'failed') {
    const onlyStopped = (causes.stopped ?? 0) > 0 && Object.keys(causes).length === 1;
    return onlyStopped ? { look: 'stopped', word: 'Stopped' } : { look: 'failed', word: 'Failed' };
  }
  if (!status.has_warnings) return { look: 'done', word: 'Done' };
  const warned = status.num_images_with_warnings;
  return { look: 'warning', word: warned > 0 ? `Done, ${warned} with warnings` : 'Done, with warnings' };
}

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
