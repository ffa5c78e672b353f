/** What happened lately: jobs of the reader's projects, and what the reader did with packages of tasks. */
import type { Activity, Job, ProjectInList } from '@service/contract';

import { route } from '../route.ts';
import { formatAgo, formatDuration, secondsBetween } from '../format.ts';
import { jobState, type State } from '../ui/status.ts';

export interface Happening {
  key: string;
  state: State;
  /** What the line is about; a link where there is a page for it. */
  subject: string;
  href: string | undefined;
  /** What became of it, after the subject. */
  words: string;
  detail: string;
  time: string;
}

const MOST = 8;

const personOf = (email: string, reader: string) => (email === reader ? 'you' : email.split('@')[0]!);

type RecentJob = Pick<
  Job,
  | 'id'
  | 'project_id'
  | 'project_dump'
  | 'dataset_dump'
  | 'user_email'
  | 'start_timestamp'
  | 'end_timestamp'
  | 'status'
  | 'failure'
  | 'stop_requested_at'
  | 'stop_requested_by'
  | 'timestamp_first_unit'
>;

function jobWords(job: RecentJob, state: State, reader: string): string {
  if (state.look === 'stopped' && job.stop_requested_by)
    return job.end_timestamp ? `stopped by ${personOf(job.stop_requested_by, reader)}` : 'is being stopped';
  const verb = { done: 'done', failed: 'failed', running: 'runs', waiting: 'waits to run', stopped: 'stopped' };
  return `${verb[state.look as keyof typeof verb] ?? state.word} on ${job.dataset_dump.name}`;
}

function ofJob(job: RecentJob, reader: string, now: number): Happening {
  const state = jobState(job);
  const time = job.end_timestamp ?? job.start_timestamp;
  const took = job.end_timestamp && formatDuration(secondsBetween(job.start_timestamp, job.end_timestamp));
  const by = job.user_email === reader ? undefined : `by ${personOf(job.user_email, reader)}`;
  return {
    key: `job-${job.id}`,
    state,
    subject: `Job ${job.id}`,
    href: job.project_id === null ? undefined : route.job({ project_id: job.project_id, job_id: job.id }),
    words: jobWords(job, state, reader),
    detail: [job.project_dump.name, by, formatAgo(time, now), took].filter(Boolean).join(', '),
    time,
  };
}

type RecentActivity = Omit<Activity, 'log' | 'steps' | 'user_id' | 'taskgroupv2_id'>;

const DONE = {
  collect: 'collected',
  deactivate: 'deactivated',
  reactivate: 'reactivated',
  delete: 'deleted',
  reset: 'set up anew',
};
const AT_WORK = {
  collect: 'is being collected',
  deactivate: 'is being deactivated',
  reactivate: 'is being reactivated',
  delete: 'is being deleted',
  reset: 'is being set up anew',
};

const ACTIVITY_STATES: Record<Activity['status'], State> = {
  pending: { look: 'waiting', word: 'Waiting' },
  ongoing: { look: 'running', word: 'Running' },
  OK: { look: 'done', word: 'Done' },
  failed: { look: 'failed', word: 'Failed' },
};

function ofActivity(activity: RecentActivity, now: number): Happening {
  const { id, pkg_name, version, status, action } = activity;
  const time = activity.timestamp_ended ?? activity.timestamp_started;
  const words = status === 'OK' ? DONE[action] : status === 'failed' ? `could not be ${DONE[action]}` : AT_WORK[action];
  return {
    key: `activity-${id}`,
    state: ACTIVITY_STATES[status],
    subject: `${pkg_name} ${version}`,
    href: route.activities(),
    words,
    detail: `task package, ${formatAgo(time, now)}`,
    time,
  };
}

/** Newest first. */
export function recent(
  jobs: readonly RecentJob[],
  activities: readonly RecentActivity[],
  reader: string,
  now = Date.now(),
): Happening[] {
  const all = [...jobs.map((job) => ofJob(job, reader, now)), ...activities.map((one) => ofActivity(one, now))];
  return all.sort((a, b) => Date.parse(b.time) - Date.parse(a.time)).slice(0, MOST);
}

type LastJob = NonNullable<ProjectInList['last_job']>;

/** `66 %` of the task that runs; undefined before its first image. */
export function percentDone({ progress }: Pick<LastJob, 'progress'>): string | undefined {
  if (progress === null) return undefined;
  const { waiting, running, done, failed } = progress;
  const total = waiting + running + done + failed;
  return total === 0 ? undefined : `${Math.floor(((done + failed) / total) * 100)} %`;
}

/** The newest job of each workflow. */
interface OfWorkflow {
  id: number;
  workflow_id: number | null;
}

export function lastJobs<T extends OfWorkflow>(jobs: Iterable<T>): Map<number, T> {
  const newest = new Map<number, T>();
  for (const job of jobs) {
    if (job.workflow_id === null) continue;
    const known = newest.get(job.workflow_id);
    // the same job may come twice, first as it is now
    if (known === undefined || job.id > known.id) newest.set(job.workflow_id, job);
  }
  return newest;
}
