/**
 * What the tasks of a workflow did with the images of a dataset, as the page shows it: a shape, a word, the numbers that
 * matter and a bar (web contract 5.12.9, visual language 4).
 *
 *     taskViews(workflow.task_list, job)[3] // { look: 'running', word: 'Running', figures: '1 007 of 1 536', … }
 *
 * A task has the status of its latest run, whichever job that was: what is not of the newest job is never shown as its
 * result.
 */
import type { Cause, FullTaskStatus, ImageStatus, JobWithTaskStatuses, TaskStatus, TaskType } from '@service/contract';

import { counted, formatCount } from '../ui/format.ts';
import { causeWords, type State } from '../ui/status.ts';
import { shortName } from './words.ts';

type Look = State['look'];

export interface BarCounts {
  done: number;
  failed: number;
  stopped: number;
  running: number;
  waiting: number;
  total: number;
}

/** A piece of the line beside a name. */
interface Figure {
  text: string;
  strong?: boolean;
  look?: Look;
}

/** One count, with the images behind it. */
interface LegendEntry {
  key: 'done' | 'failed' | 'stopped' | 'running' | 'waiting' | 'unset';
  count: number;
  word: string;
  /** The images to show, when it counts images. */
  status: ImageStatus;
}

export interface TaskView extends State {
  figures: Figure[];
  /** Nothing to draw where nothing was counted. */
  bar: BarCounts | undefined;
  legend: LegendEntry[];
  /** Why images failed, or that some have warnings. */
  note: { look: Look; text: string } | undefined;
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
  unit: 'image' | 'part';
}

interface TaskLike {
  id: number;
  task_type: TaskType;
}

const isConverter = (type: TaskType) => type.startsWith('converter');
/** Their images share one status, which changes at the end: only the parts tell how far it is. */
const inParts = (type: TaskType) => type !== 'parallel';

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

const words = (text: string, look?: Look): Figure[] => [{ text, ...(look ? { look } : {}) }];

const plain = (look: Look, word: string, text = word.toLowerCase()): TaskView => ({
  ...NOTHING,
  look,
  word,
  figures: words(text),
});

/** Where a task stands in the newest job. */
interface Place {
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
    const place = { job, reached: index >= (job.first_task_index ?? 0), blocked };
    if (isFull(status) && status.job_id === job.id && status.progress.failed > 0) blocked = true;
    return taskView(task, status, place);
  });
}

function taskView(task: TaskLike, status: TaskStatus | null, place: Place): TaskView {
  const { job } = place;
  const isRunning = job.status === 'submitted';
  if (status === null) return plain('unset', 'Not run');
  if (!isFull(status)) return isRunning ? waiting(place) : plain('failed', 'Did not finish');
  const ofThisJob = status.job_id === job.id;
  const full = fullView(task, status, place, ofThisJob);
  if (status.status !== 'submitted') return ofThisJob ? full : earlier(full, status, place);
  if (!isRunning)
    return { ...full, look: 'failed', word: 'Did not finish', figures: words('did not finish', 'failed') };
  if (ofThisJob) return full;
  // the counts are of an earlier run, and stay until the new one begins
  const { look, word, figures } = waiting(place);
  return { ...full, look, word, figures, note: undefined, fromJob: status.job_id, faded: true };
}

function waiting({ blocked, job }: Place): TaskView {
  return blocked || job.stop_requested_at !== null
    ? plain('unset', 'Will not start')
    : plain('waiting', 'Waiting', 'waiting');
}

const earlier = (view: TaskView, { job_id }: FullTaskStatus, { reached }: Place): TaskView => ({
  ...view,
  fromJob: job_id,
  faded: reached,
});

function fullView(task: TaskLike, status: FullTaskStatus, place: Place, ofThisJob: boolean): TaskView {
  const parts = inParts(task.task_type);
  const bar = parts ? partsBar(status) : imagesBar(status);
  const state = stateOf(status, place, ofThisJob);
  const finished = bar ? bar.done + bar.failed + bar.stopped : 0;
  return {
    ...NOTHING,
    ...state,
    bar,
    figures: figuresOf(task.task_type, status, state, bar),
    legend: isConverter(task.task_type) ? [] : legendOf(status, parts),
    note: noteOf(task.task_type, status),
    started: status.timestamp_started,
    ended: status.timestamp_ended ?? undefined,
    finished,
    total: bar?.total ?? 0,
    unit: parts ? 'part' : 'image',
  };
}

const sumOf = (bar: Omit<BarCounts, 'total'>) => bar.done + bar.failed + bar.stopped + bar.running + bar.waiting;

const barOf = (counts: Omit<BarCounts, 'total'>, available = 0): BarCounts | undefined => {
  const total = Math.max(sumOf(counts), available);
  return total === 0 ? undefined : { ...counts, total };
};

/** Of the images: those that were done before and are not in this run count too. */
function imagesBar(status: FullTaskStatus): BarCounts | undefined {
  const running = Math.min(status.progress.running, status.num_submitted_images);
  const stopped = Math.min(status.causes.stopped ?? 0, status.num_failed_images);
  return barOf(
    {
      done: status.num_done_images,
      failed: status.num_failed_images - stopped,
      stopped,
      running,
      waiting: status.num_submitted_images - running,
    },
    status.num_available_images ?? 0,
  );
}

function partsBar({ progress, causes }: FullTaskStatus): BarCounts | undefined {
  const stopped = Math.min(causes.stopped ?? 0, progress.failed);
  return barOf({ ...progress, failed: progress.failed - stopped, stopped });
}

const onlyStopped = ({ causes }: FullTaskStatus) => (causes.stopped ?? 0) > 0 && Object.keys(causes).length === 1;

const hasCounts = (status: FullTaskStatus) =>
  status.num_done_images + status.num_failed_images + status.num_submitted_images > 0 ||
  Object.values(status.progress).some((count) => count > 0);

function stateOf(status: FullTaskStatus, { job }: Place, ofThisJob: boolean): State {
  if (status.status === 'submitted') {
    if (job.stop_requested_at !== null && ofThisJob) return { look: 'stopped', word: 'Stopping' };
    const { running, done, failed } = status.progress;
    return running + done + failed > 0 ? { look: 'running', word: 'Running' } : { look: 'waiting', word: 'Waiting' };
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

const strong = (text: string, look?: Look): Figure => ({ text, strong: true, ...(look ? { look } : {}) });

function figuresOf(type: TaskType, status: FullTaskStatus, state: State, bar: BarCounts | undefined): Figure[] {
  if (status.status === 'submitted') return runningFigures(type, state, bar);
  if (isConverter(type)) {
    if (status.status === 'failed') return partFigures(state, bar);
    return [
      strong(formatCount(status.num_new_images)),
      { text: ` image${status.num_new_images === 1 ? '' : 's'} made` },
    ];
  }
  if (inParts(type) && status.status === 'failed') return partFigures(state, bar);
  return imageFigures(status, state);
}

function runningFigures(type: TaskType, { look, word }: State, bar: BarCounts | undefined): Figure[] {
  if (!bar || look === 'waiting') return words(word.toLowerCase());
  const finished = bar.done + bar.failed + bar.stopped;
  const of = ` of ${formatCount(bar.total)}`;
  if (!inParts(type)) return [strong(formatCount(finished)), { text: of }];
  return bar.total === 1 ? words(word.toLowerCase()) : [strong(formatCount(finished)), { text: `${of} parts` }];
}

function partFigures({ look, word }: State, bar: BarCounts | undefined): Figure[] {
  if (!bar || bar.total === 1 || bar.failed === 0) return words(word.toLowerCase(), look);
  return [
    strong(formatCount(bar.failed), 'failed'),
    { text: ` of ${formatCount(bar.total)} parts failed`, look: 'failed' },
  ];
}

function imageFigures(status: FullTaskStatus, state: State): Figure[] {
  const { num_done_images: done, num_failed_images: failed, num_available_images: available } = status;
  if (done + failed === 0) return words(state.word.toLowerCase(), state.look === 'done' ? undefined : state.look);
  const word = onlyStopped(status) ? 'stopped' : 'failed';
  const figures: Figure[] = [];
  if (failed > 0) figures.push(strong(`${formatCount(failed)} ${word}`, word));
  if (failed > 0 && done > 0) figures.push({ text: `, ${formatCount(done)} done` });
  if (failed === 0) figures.push(strong(formatCount(done)), { text: ' done' });
  if (available === null) figures.push({ text: ' of ?' });
  else if (available > done + failed) figures.push({ text: ` of ${formatCount(available)}` });
  return figures;
}

function legendOf(status: FullTaskStatus, parts: boolean): LegendEntry[] {
  const { num_done_images: done, num_failed_images: failed, num_submitted_images: submitted } = status;
  const stopped = parts ? (onlyStopped(status) ? failed : 0) : Math.min(status.causes.stopped ?? 0, failed);
  const running = parts ? (status.progress.running > 0 ? submitted : 0) : Math.min(status.progress.running, submitted);
  const rest = Math.max(0, (status.num_available_images ?? 0) - done - failed - submitted);
  const entries: LegendEntry[] = [
    { key: 'done', count: done, word: 'done', status: 'done' },
    { key: 'running', count: running, word: 'running', status: 'submitted' },
    { key: 'waiting', count: submitted - running, word: 'waiting', status: 'submitted' },
    { key: 'failed', count: failed - stopped, word: 'failed', status: 'failed' },
    { key: 'stopped', count: stopped, word: 'stopped', status: 'failed' },
    { key: 'unset', count: rest, word: 'not run', status: 'unset' },
  ];
  return entries.filter(({ count }) => count > 0);
}

/** `6 images killed for memory` */
export function causesNote(causes: Partial<Record<Cause, number>>, one: 'image' | 'part'): string | undefined {
  const known = (Object.entries(causes) as [Cause, number][]).filter(
    ([cause, count]) => cause !== 'stopped' && count > 0,
  );
  const [first, ...others] = known;
  if (!first) return undefined;
  const say = ([cause]: [Cause, number]) => causeWords(cause).toLowerCase();
  const head =
    first[0] === 'error' ? `${counted(first[1], one)} with an error` : `${counted(first[1], one)} ${say(first)}`;
  return [head, ...others.map((entry) => `${formatCount(entry[1])} ${say(entry)}`)].join(', ');
}

function noteOf(type: TaskType, status: FullTaskStatus): TaskView['note'] {
  const why = causesNote(status.causes, inParts(type) ? 'part' : 'image');
  if (why !== undefined) return { look: 'failed', text: why };
  if (!status.has_warnings) return undefined;
  const warned = status.num_images_with_warnings;
  return { look: 'warning', text: warned > 0 ? `${formatCount(warned)} with warnings` : 'with warnings' };
}

/** The first task that failed or has not run: where people want to go on. */
export function firstUnfinished(views: readonly TaskView[]): number | undefined {
  const index = views.findIndex(({ look, faded }) => faded || !['done', 'warning'].includes(look));
  return index < 0 ? undefined : index;
}
