/** Jobs as lists and pages show them: times, task ranges, how far they are, what stopping one costs. */
import type { Job, JobList, JobStatus, JobWithTaskStatuses, Timeline } from '@service/contract';

import { pageOf, textOf, wholeOf } from '../ui/asked.ts';
import { counted, formatCount, formatDuration, secondsBetween } from '../format.ts';

/** A job of a list: of lists no log is asked for. */
export type ListedJob = Omit<Job, 'log'>;

export interface JobPage {
  items: ListedJob[];
  total_count: number;
}

/** With `page_size` the service always answers with a page; the types know both forms. */
export const asPage = (list: JobList): JobPage =>
  Array.isArray(list) ? { items: list, total_count: list.length } : list;

const STATUSES: readonly JobStatus[] = ['submitted', 'done', 'failed'];
export const STATUS_OPTIONS: { value: JobStatus; name: string }[] = [
  { value: 'submitted', name: 'Waiting or running' },
  { value: 'done', name: 'Done' },
  { value: 'failed', name: 'Failed or stopped' },
];

interface JobFilters {
  status?: JobStatus | undefined;
  project_id?: number | undefined;
  workflow_id?: number | undefined;
  dataset_id?: number | undefined;
  user_email?: string | undefined;
}

export interface JobQuery extends JobFilters {
  page: number;
  page_size: number;
}

const USER_PAGE = 10;

export const statusOf = (search: URLSearchParams): JobStatus | undefined =>
  STATUSES.find((status) => status === search.get('status'));

/** What the address asks for; what it does not name is left out. */
export const jobQuery = (search: URLSearchParams): JobQuery => ({
  status: statusOf(search),
  project_id: wholeOf(search, 'project'),
  workflow_id: wholeOf(search, 'workflow'),
  dataset_id: wholeOf(search, 'dataset'),
  user_email: textOf(search, 'user'),
  ...pageOf(search, USER_PAGE),
});

/** How many of the filters are set. */
export const countFilters = ({ page: _page, page_size: _size, ...filters }: JobQuery): number =>
  Object.values(filters).filter((value) => value !== undefined).length;

export const isOver = ({ status }: Pick<Job, 'status'>): boolean => status !== 'submitted';

type JobTimes = Pick<Job, 'status' | 'start_timestamp' | 'end_timestamp'>;

/** From the submission to the end, or to now; undefined where nobody recorded the end, as of some imported jobs. */
export function durationOf(job: JobTimes, now: number): number | undefined {
  const until = job.end_timestamp ?? (isOver(job) ? undefined : now);
  return until === undefined ? undefined : secondsBetween(job.start_timestamp, until);
}

export function durationWords(job: JobTimes, now: number): string {
  const seconds = durationOf(job, now);
  return seconds === undefined ? '–' : formatDuration(seconds);
}

/** `Ended 3 May, 12:00`, or why there is no end to tell. */
export function endWords(job: JobTimes, written: (time: string) => string): string {
  if (job.end_timestamp !== null) return written(job.end_timestamp);
  return isOver(job) ? 'end not recorded' : 'not over yet';
}

/** How long nothing of it ran; undefined for a job that ended before anything did. */
export function waitedFor(job: JobTimes & Pick<Job, 'timestamp_first_unit'>, now: number): number | undefined {
  const until = job.timestamp_first_unit ?? (isOver(job) ? undefined : now);
  return until === undefined ? undefined : secondsBetween(job.start_timestamp, until);
}

/** `tasks 1 to 6`, `task 3`: people count from 1. */
export function taskRange({
  first_task_index: first,
  last_task_index: last,
}: Pick<ListedJob, 'first_task_index' | 'last_task_index'>): string {
  if (first === null || last === null) return 'all tasks';
  return first === last ? `task ${first + 1}` : `tasks ${first + 1} to ${last + 1}`;
}

export interface Progress {
  /** `Segment nuclei, task 4 of 6` */
  words: string;
  done: number;
  failed: number;
  total: number;
  /** Python starts for all its units. */
  isStarting: boolean;
}

/** How far a job is: the task it is at, in its units. */
export function progressOf(
  job: Pick<ListedJob, 'first_task_index' | 'last_task_index'>,
  { tasks }: Timeline,
): Progress | undefined {
  const task = tasks.at(-1);
  if (task === undefined) return undefined;
  const { first_task_index: first, last_task_index: last } = job;
  const place = first !== null && last !== null && last > first ? `, task ${tasks.length} of ${last - first + 1}` : '';
  return {
    words: `${task.alias ?? task.name}${place}`,
    done: task.num_done_units,
    failed: task.num_failed_units,
    total: task.num_units,
    isStarting: task.is_starting,
  };
}

/** What stopping costs where a task runs image by image. */
export const lostImages = ({ running, waiting, done }: Record<'running' | 'waiting' | 'done', number>): string =>
  `${counted(running, 'running image is', 'running images are')} lost, ${formatCount(waiting)} will not start, ${counted(done, 'finished one stays', 'finished ones stay')}.`;

/** What stopping a job costs, from how its tasks stand. */
export function stopWords(statuses: JobWithTaskStatuses['task_statuses'], jobId: number): string {
  const own = Object.values(statuses).find(
    (status) => status !== null && 'progress' in status && status.job_id === jobId && status.status === 'submitted',
  );
  if (!own || !('progress' in own)) return 'Nothing is running right now. Pending tasks will not start.';
  // the images of tasks that are counted in units change all together at the end
  const inUnits = own.num_done_images + own.num_failed_images < own.progress.done + own.progress.failed;
  if (inUnits || own.num_available_images === 0)
    return 'The running task will count as failed for all its images. Tasks that ended before it stay as they are.';
  return lostImages(own.progress);
}

/** People that can be filtered by: oneself first, then those seen. */
export const peopleOf = (own: string, seen: readonly string[], picked: string | undefined): string[] => [
  own,
  ...[...new Set([...seen, ...(picked === undefined ? [] : [picked])])].filter((email) => email !== own).sort(),
];

/** Common indentation removed, as tables of commands have it. */
export function unindented(text: string): string {
  const lines = text.replace(/\s+$/, '').split('\n');
  const least = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => /^ */.exec(line)![0].length));
  return Number.isFinite(least) ? lines.map((line) => line.slice(least)).join('\n') : '';
}
