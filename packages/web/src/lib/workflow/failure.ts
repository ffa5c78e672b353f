/** Why the newest job failed, in one sentence, and what can be done: cause first, next step beside it. */
import type { Cause, JobFailure, JobWithTaskStatuses, WorkflowTask } from '@service/contract';

import { schedulerError, shortError } from '../logs/log.ts';
import { counted, nameOf, shortName } from '../format.ts';

export interface FailureNotice {
  look: 'failed' | 'stopped';
  title: string;
  /** What the task or the scheduler said itself. */
  said: string | undefined;
  next: string;
}

type TaskInList = Pick<WorkflowTask, 'id' | 'alias' | 'task_type'> & { task: { name: string } };
type Sentences = [title: string, next: string];

/** What a failed job says about itself is worth reading only where a task or the service said it. */
const SPEAKING: JobFailure['kind'][] = ['task', 'no_images', 'output', 'internal'];
/** A task that was killed had no last word. */
const KILLED: Cause[] = ['memory', 'time_limit'];

/** Undefined when the newest job did not fail. */
export function failureNotice(
  job: JobWithTaskStatuses,
  tasks: readonly TaskInList[],
  runner: string,
): FailureNotice | undefined {
  if (job.status !== 'failed') return undefined;
  const { failure } = job;
  if (failure === null)
    return { look: 'failed', title: 'This job failed.', said: saidBy(job), next: 'Its log says more.' };
  const task = tasks.find(({ id }) => id === failure.workflowtask_id);
  const cause = failure.kind === 'task' ? mainCause(job, task)?.[0] : undefined;
  const [title, next] =
    failure.kind === 'task' ? taskFailure(job, task, runner) : KINDS[failure.kind](task ? nameOf(task) : 'a task', job);
  return {
    look: failure.kind === 'stopped' ? 'stopped' : 'failed',
    title,
    next,
    said: SPEAKING.includes(failure.kind) && !(cause && KILLED.includes(cause)) ? saidBy(job) : undefined,
  };
}

const saidBy = (job: JobWithTaskStatuses): string | undefined =>
  schedulerError(job) ?? (job.log ? shortError(job.log) : job.failure?.message);

const KINDS: Record<Exclude<JobFailure['kind'], 'task'>, (name: string, job: JobWithTaskStatuses) => Sentences> = {
  stopped: (_, { stop_requested_by: by }) => [
    by ? `Stopped by ${shortName(by)}.` : 'This job was stopped.',
    'Finished results are kept. Rerun the rest when you are ready.',
  ],
  no_images: (name) => [
    `No image matched the types that ${name} takes.`,
    'Compare its types with those of the images, then continue.',
  ],
  submissions_off: () => ['New jobs are switched off.', 'Try again later, or contact your administrator.'],
  output: (name) => [`${name} returned invalid output.`, 'Tell the authors of the task what the log says.'],
  admin: () => ['An administrator ended this job.', 'Ask your administrator, then continue.'],
  internal: () => ['A server error ended this job.', 'Contact your administrator, then continue.'],
};

interface Words {
  name: string;
  /** `6 images` */
  who: string;
  /** `was`, `were` */
  were: string;
  logs: string;
  /** `rerun the 6` */
  rerun: string;
  isLocal: boolean;
}

const erred = ({ name, who, logs, rerun }: Words): Sentences => [
  `${who} failed in ${name}.`,
  `Read ${logs}, fix the arguments if needed, then ${rerun}.`,
];

const CAUSES: Record<Cause, (words: Words) => Sentences> = {
  memory: ({ name, who, were, rerun, isLocal }) =>
    isLocal
      ? [`${who} ${were} killed: this machine ran out of memory.`, `Process fewer images at a time, then ${rerun}.`]
      : [`${who} needed more memory than ${name} may use.`, `Give the task more in Resources, then ${rerun}.`],
  time_limit: ({ name, who, rerun }) => [
    `${who} ran out of time in ${name}.`,
    `Give the task more time in Resources, then ${rerun}.`,
  ],
  start: ({ name, who }) => [
    `${name} could not start on ${who}.`,
    'Its environment may be broken. Ask the person who collected the task.',
  ],
  lost: ({ name, who, were, rerun }) => [
    `${who} of ${name} ${were} lost: the compute node went down.`,
    `${rerun.replace(/^./, (letter) => letter.toUpperCase())}.`,
  ],
  output: ({ name, logs }) => [`${name} returned invalid output.`, `Read ${logs} and tell the authors of the task.`],
  error: erred,
  signal: erred,
  stopped: erred,
};

const mostly = (causes: Partial<Record<Cause, number>>): [Cause, number] | undefined =>
  (Object.entries(causes) as [Cause, number][]).sort(([, a], [, b]) => b - a)[0];

function mainCause(job: JobWithTaskStatuses, task: TaskInList | undefined): [Cause, number] | undefined {
  const status = task && job.task_statuses[task.id];
  return status && 'causes' in status ? mostly(status.causes) : undefined;
}

function taskFailure(job: JobWithTaskStatuses, task: TaskInList | undefined, runner: string): Sentences {
  const [cause, count] = mainCause(job, task) ?? ['error', 1];
  const parallel = task?.task_type === 'parallel';
  const one = count === 1;
  return CAUSES[cause]({
    name: task ? nameOf(task) : 'a task',
    who: counted(count, parallel ? 'image' : 'unit'),
    were: one ? 'was' : 'were',
    logs: one ? 'its log' : 'their logs',
    rerun: parallel ? `rerun ${one ? 'it' : `the ${count}`}` : 'continue from there',
    isLocal: runner === 'local',
  });
}
