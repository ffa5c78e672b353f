/** The newest job in one line: what it is at, how far it is, how long it takes. */
import type { JobWithTaskStatuses } from '@service/contract';

import { counted, formatCount, formatDuration, secondsBetween, shortName } from '../format.ts';
import { lostImages } from '../jobs/jobs.ts';
import { jobState, STARTING, type State } from '../ui/status.ts';
import type { BarCounts } from './counts.ts';
import type { TaskView } from './status.ts';

export interface RunBar {
  state: State;
  /** Its place in the list of tasks. */
  at: number | undefined;
  /** `1 007 of 1 536 images` */
  progress: string | undefined;
  percent: number | undefined;
  /** What is not as it should be, while it still runs. */
  warning: string | undefined;
  times: { name: string; value: string; of?: string; look?: 'failed' }[];
  rate: string | undefined;
}

/** Fewer than these say nothing about the rest. */
const ENOUGH = 3;

export function runBar(
  job: JobWithTaskStatuses,
  tasks: readonly { id: number }[],
  views: readonly TaskView[],
  now: number,
): RunBar {
  const at = taskAtWork(job, tasks, views);
  const view = at === undefined ? undefined : views[at];
  const state = shortened(jobState(job, view?.word === STARTING.word));
  if (job.status !== 'submitted') return { state, at: job.status === 'done' ? undefined : at, ...ended(job, view) };
  const elapsed = { name: 'Elapsed', value: formatDuration(secondsBetween(job.start_timestamp, now)) };
  if (!view || view.total === 0 || view.look === 'waiting')
    return {
      state,
      at,
      progress: undefined,
      percent: undefined,
      warning: undefined,
      times: [elapsed],
      rate: undefined,
    };
  const pace = paceOf(view, now);
  const left = pace && at !== undefined ? [{ name: `Task ${at + 1} left`, value: about(pace.left) }] : [];
  return {
    state,
    at,
    progress: `${formatCount(view.finished)} of ${counted(view.total, view.unit)}`,
    percent: Math.floor((100 * view.finished) / view.total),
    warning: failing(view, at! < Math.min(job.last_task_index ?? tasks.length - 1, tasks.length - 1)),
    times: [elapsed, ...left],
    rate: pace && pace.perMinute >= 1 ? `${counted(Math.round(pace.perMinute), view.unit)} a minute` : undefined,
  };
}

const shortened = ({ look, word }: State): State => ({ look, word: word.replace(/\S+@\S+/, shortName) });

/** The task the job is at, or at which it ended. */
function taskAtWork(
  { failure, id, task_statuses }: JobWithTaskStatuses,
  tasks: readonly { id: number }[],
  views: readonly TaskView[],
): number | undefined {
  const named = tasks.findIndex((task) => task.id === failure?.workflowtask_id);
  if (named >= 0) return named;
  const own = (index: number) => {
    const status = task_statuses[tasks[index]!.id];
    return status != null && (!('job_id' in status) || status.job_id === id || views[index]!.look === 'waiting');
  };
  const index = views.findIndex(({ look }, place) => own(place) && !['done', 'warning', 'unset'].includes(look));
  return index < 0 ? undefined : index;
}

const failing = ({ bar }: TaskView, more: boolean) =>
  bar && bar.failed > 0 && more ? `${formatCount(bar.failed)} failed, so the job ends after this task` : undefined;

function ended(job: JobWithTaskStatuses, view: TaskView | undefined) {
  const times: RunBar['times'] = [];
  if (job.end_timestamp)
    times.push({ name: 'Ran for', value: formatDuration(secondsBetween(job.start_timestamp, job.end_timestamp)) });
  const failed = job.status === 'failed' ? (view?.legend.find(({ key }) => key === 'failed')?.count ?? 0) : 0;
  const total = view?.legend.reduce((sum, { count }) => sum + count, 0) ?? 0;
  if (failed > 0)
    times.push({ name: 'Failed', value: formatCount(failed), of: `of ${formatCount(total)}`, look: 'failed' });
  return { progress: undefined, percent: undefined, warning: undefined, times, rate: undefined };
}

function paceOf({ started, finished, total }: TaskView, now: number): { perMinute: number; left: number } | undefined {
  if (started === undefined || finished < ENOUGH) return undefined;
  const took = secondsBetween(started, now);
  return took === 0 ? undefined : { perMinute: (60 * finished) / took, left: (took * (total - finished)) / finished };
}

/** A guess is not told to the second. */
const about = (left: number): string =>
  left < 60 ? 'under 1 min' : left < 3600 ? `${Math.round(left / 60)} min` : formatDuration(left);

/** One segment for each task: how much of it is done. */
export const segmentOf = ({ bar, look, faded }: TaskView): BarCounts => {
  const nothing = { done: 0, failed: 0, stopped: 0, running: 0, waiting: 0, total: 1 };
  if (faded) return nothing;
  if (bar) return bar;
  if (look === 'done' || look === 'warning') return { ...nothing, done: 1 };
  if (look === 'failed') return { ...nothing, failed: 1 };
  return look === 'waiting' ? { ...nothing, waiting: 1 } : nothing;
};

/** `33 %, task 2 of 6` for the tab of the browser, what matters first; before there is something to count, the state. */
export function tabWords({ state, at, percent }: RunBar, count: number): string {
  if (!percent || at === undefined) return state.word;
  return `${percent} %${count > 1 ? `, task ${at + 1} of ${count}` : ''}`;
}

type Tasks = Pick<JobWithTaskStatuses, 'id' | 'task_statuses'>;

const ownStatuses = ({ id, task_statuses }: Tasks) =>
  Object.values(task_statuses).filter((status) => status !== null && 'job_id' in status && status.job_id === id);

/** How many tasks this job has begun. */
export const begunTasks = (job: Tasks): number => ownStatuses(job).length;

/** How many tasks this job has ended. */
export const finishedTasks = (job: Tasks): number =>
  ownStatuses(job).filter((status) => status?.status !== 'submitted').length;

/** Between a press on Stop and the end nothing can be asked for. */
export const isStopping = (job: Pick<JobWithTaskStatuses, 'status' | 'stop_requested_at'>): boolean =>
  job.status === 'submitted' && job.stop_requested_at !== null;

/** What pressing Stop does, before it is pressed. */
export function stopWords(view: TaskView | undefined): string {
  if (!view?.bar) return 'Tasks that have not started will not start. What is finished stays.';
  if (view.unit === 'unit')
    return 'The running task will count as failed for all its images. What was finished before it stays.';
  return lostImages(view.bar);
}
