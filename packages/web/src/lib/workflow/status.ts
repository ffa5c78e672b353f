/**
 * What the tasks of a workflow did with the images of a dataset, as the page shows it: a shape, a word, the numbers that
 * matter and a bar.
 *
 *     taskViews(workflow.task_list, job)[3] // { look: 'running', word: 'Running', figures: '1 007 of 1 536', … }
 *
 * A task has the status of its latest run, whichever job that was: what is not of the newest job is never shown as its
 * result.
 */
import type { FullTaskStatus, JobWithTaskStatuses, TaskStatus, TaskType } from '@service/contract';

import { formatCount, shortName } from '../format.ts';
import { type State, taskState } from '../ui/status.ts';
import {
  type BarCounts,
  barOf,
  finishedIn,
  hasCounts,
  inUnits,
  type LegendEntry,
  legendOf,
  onlyStopped,
} from './counts.ts';
import { type Figure, figuresOf, type Note, noteOf, words } from './figures.ts';

export interface TaskView extends State {
  figures: Figure[];
  bar: BarCounts | undefined;
  legend: LegendEntry[];
  note: Note | undefined;
  /** The job that did it, when it is not the newest one. */
  fromJob: number | undefined;
  /** The newest job did not get here, so this may be out of date. */
  faded: boolean;
  /** From the begin of its run to the end; without an end to now. */
  started: string | undefined;
  ended: string | undefined;
  /** How far it is, for the line about the job. */
  finished: number;
  total: number;
  /** What `finished` counts. */
  unit: 'image' | 'unit';
}

interface TaskLike {
  id: number;
  task_type: TaskType;
}

const isFull = (status: TaskStatus | null | undefined): status is FullTaskStatus =>
  status !== null && status !== undefined && 'progress' in status;

const NOTHING = {
  bar: undefined,
  legend: [],
  note: undefined,
  fromJob: undefined,
  faded: false,
  started: undefined,
  ended: undefined,
  finished: 0,
  total: 0,
  unit: 'image',
} satisfies Partial<TaskView>;

const plain = (look: State['look'], word: string, text = word.toLowerCase()): TaskView => ({
  ...NOTHING,
  look,
  word,
  figures: words(text),
});

/** What the newest job has to do with a task. */
interface RoleInJob {
  job: JobWithTaskStatuses;
  /** At or after the first task of that job. */
  reached: boolean;
  /** An earlier task of that job has a failed image, so this one will not start. */
  blocked: boolean;
}

/** All tasks, in their order; without a job nothing has run. */
export function taskViews(tasks: readonly TaskLike[], job: JobWithTaskStatuses | null): TaskView[] {
  let blocked = false;
  return tasks.map((task, index) => {
    if (!job) return plain('unset', 'Not run');
    const status = job.task_statuses[task.id] ?? null;
    const role = { job, reached: index >= (job.first_task_index ?? 0), blocked };
    if (isFull(status) && status.job_id === job.id && status.progress.failed > 0) blocked = true;
    return taskView(task, status, role);
  });
}

function taskView(task: TaskLike, status: TaskStatus | null, role: RoleInJob): TaskView {
  const { job } = role;
  const isRunning = job.status === 'submitted';
  if (status === null) return plain('unset', 'Not run');
  if (!isFull(status)) return isRunning ? waiting(role) : plain('failed', 'Did not finish');
  const ofThisJob = status.job_id === job.id;
  const full = fullView(task, status, role, ofThisJob);
  if (status.status !== 'submitted') return ofThisJob ? full : earlier(full, status, role);
  if (!isRunning)
    return { ...full, look: 'failed', word: 'Did not finish', figures: words('did not finish', 'failed') };
  if (ofThisJob) return full;
  // the counts are of an earlier run, and stay until the new one begins
  const { look, word, figures } = waiting(role);
  return { ...full, look, word, figures, note: undefined, fromJob: status.job_id, faded: true };
}

function waiting({ blocked, job }: RoleInJob): TaskView {
  return blocked || job.stop_requested_at !== null
    ? plain('unset', 'Will not start')
    : plain('waiting', 'Waiting', 'waiting');
}

const earlier = (view: TaskView, { job_id }: FullTaskStatus, { reached }: RoleInJob): TaskView => ({
  ...view,
  fromJob: job_id,
  faded: reached,
});

function fullView({ task_type }: TaskLike, status: FullTaskStatus, role: RoleInJob, ofThisJob: boolean): TaskView {
  const bar = barOf(task_type, status);
  const state = stateOf(status, role, ofThisJob);
  return {
    ...NOTHING,
    ...state,
    bar,
    figures: figuresOf(task_type, status, state, bar),
    legend: legendOf(task_type, status),
    note: noteOf(task_type, status),
    started: status.timestamp_started,
    ended: status.timestamp_ended ?? undefined,
    finished: bar ? finishedIn(bar) : 0,
    total: bar?.total ?? 0,
    unit: inUnits(task_type) ? 'unit' : 'image',
  };
}

function stateOf(status: FullTaskStatus, { job }: RoleInJob, ofThisJob: boolean): State {
  if (status.status === 'submitted') {
    return job.stop_requested_at !== null && ofThisJob ? { look: 'stopped', word: 'Stopping' } : taskState(status);
  }
  if (status.status === 'done') return doneState(status);
  if (onlyStopped(status) || (ofThisJob && job.failure?.kind === 'stopped' && !hasCounts(status))) {
    const by = ofThisJob ? job.stop_requested_by : null;
    return { look: 'stopped', word: by ? `Stopped by ${shortName(by)}` : 'Stopped' };
  }
  return { look: 'failed', word: hasCounts(status) ? 'Failed' : emptyFailure(job, ofThisJob) };
}

function doneState(status: FullTaskStatus): State {
  if (!status.has_warnings) return { look: 'done', word: 'Done' };
  const warned = status.num_images_with_warnings;
  return { look: 'warning', word: warned > 0 ? `Done, ${formatCount(warned)} with warnings` : 'Done, with warnings' };
}

/** A task that failed on nothing: the job says why. */
function emptyFailure({ failure }: JobWithTaskStatuses, ofThisJob: boolean): string {
  if (!ofThisJob || !failure) return 'Failed';
  const kinds: Partial<Record<typeof failure.kind, string>> = {
    no_images: 'No image matched',
    submissions_off: 'New jobs are switched off',
  };
  return kinds[failure.kind] ?? 'Failed';
}
