/** Why a job is as it is, in one sentence, and what can be done: cause first, next step beside it. */
import type { Cause, JobFailure, SingleJob } from '@service/contract';

import { schedulerError, shortError } from '../logs/log.ts';
import { counted, shortName } from '../format.ts';
import { causeWords } from '../ui/status.ts';

export interface Explanation {
  look: 'failed' | 'stopped';
  title: string;
  /** What the task or the scheduler said itself. */
  said: string | undefined;
  next: string;
}

type Explained = Pick<SingleJob, 'status' | 'failure' | 'log' | 'executor_error_log' | 'stop_requested_by'>;

const NEXT: Partial<Record<Cause, string>> = {
  memory: 'Give the task more memory in Resources of the workflow page, then rerun what failed.',
  time_limit: 'Give the task more time in Resources of the workflow page, then rerun what failed.',
  start: 'The environment of the task may be broken. Ask the person who collected it.',
  lost: 'The compute node was lost. Rerun what failed on the workflow page.',
};

interface Words {
  title: string;
  next: string;
  /** Whether what was said itself tells more. */
  speaks?: boolean;
}

type Kind = JobFailure['kind'];

const WORDS: Record<Exclude<Kind, 'stopped' | 'task'>, (task: string) => Words> = {
  no_images: (task) => ({
    title: `No image matched what ${task} takes.`,
    next: 'Compare its types and the filters of this job with the images of the dataset.',
    speaks: true,
  }),
  submissions_off: () => ({
    title: 'New jobs are switched off.',
    next: 'Try again later, or contact your administrator.',
  }),
  output: (task) => ({
    title: `${task} returned invalid output.`,
    next: 'Tell the authors of the task what the log says.',
    speaks: true,
  }),
  admin: () => ({
    title: 'An administrator set this job to failed.',
    next: 'Ask your administrator why.',
  }),
  internal: () => ({
    title: 'A server error ended this job.',
    next: 'Send the log to your administrator.',
    speaks: true,
  }),
};

const READ = 'Read the logs of what failed, fix the arguments if needed, then rerun it.';

function taskWords({ num_images }: JobFailure, task: string, cause: Cause | null): Words {
  const title = num_images > 0 ? `${counted(num_images, 'image')} failed in ${task}` : `${task} failed`;
  const why = cause === null || cause === 'error' ? '' : `: ${causeWords(cause).toLowerCase()}`;
  return { title: `${title}${why}.`, next: (cause && NEXT[cause]) ?? READ, speaks: true };
}

function wordsOf(failure: JobFailure | null, task: string, cause: Cause | null): Words {
  if (failure === null || failure.kind === 'stopped')
    return { title: 'This job failed.', next: 'Its log says more.', speaks: true };
  return failure.kind === 'task' ? taskWords(failure, task, cause) : WORDS[failure.kind](task);
}

/** `task` is the name of the one that failed, `cause` what most of its units failed of. */
export function explain(job: Explained, task = 'a task', cause: Cause | null = null): Explanation | undefined {
  const { failure, log } = job;
  if (job.status !== 'failed') return undefined;
  if (failure?.kind === 'stopped')
    return {
      look: 'stopped',
      title: job.stop_requested_by ? `Stopped by ${shortName(job.stop_requested_by)}.` : 'This job was stopped.',
      said: undefined,
      next: 'Finished results are kept. Rerun the rest on the workflow page.',
    };
  const { title, next, speaks } = wordsOf(failure, task, cause);
  const said = schedulerError(job) ?? (log ? shortError(log) : failure?.message);
  return { look: 'failed', title, next, said: speaks && said ? said : undefined };
}

/** The cause that most failed units have. */
export function mostCommon(causes: readonly (Cause | null)[]): Cause | null {
  const counts = Map.groupBy(causes, (cause) => cause);
  return [...counts].sort(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? null;
}
