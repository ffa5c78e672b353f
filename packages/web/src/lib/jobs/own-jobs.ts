/** The jobs that somebody started and that still run: how many, and what to tell when one of them ends elsewhere. */
import type { Job } from '@service/contract';

import { route } from '../route.ts';
import { jobState, type State } from '../ui/status.ts';

/** What has to be known of a running job to tell of its end. */
export interface RunningJob {
  id: number;
  project_id: number;
}

export const runningOf = (jobs: readonly Pick<Job, 'id' | 'project_id'>[]): RunningJob[] =>
  jobs.flatMap(({ id, project_id }) => (project_id === null ? [] : [{ id, project_id }]));

/** Those that ran at the last look and are not among the running ones any more. */
export const gone = (before: readonly RunningJob[], now: readonly RunningJob[]): RunningJob[] =>
  before.filter(({ id }) => !now.some((job) => job.id === id));

/** The page shows the job itself, so that a notice would say it twice. */
export function isShown(pathname: string, job: Pick<Job, 'id' | 'project_id' | 'workflow_id'>): boolean {
  const { project_id, workflow_id } = job;
  if (project_id === null) return false;
  const workflow = workflow_id === null ? undefined : route.workflow({ project_id, workflow_id });
  return pathname === route.job({ project_id, job_id: job.id }) || pathname === workflow;
}

export interface JobNotice {
  id: number;
  state: State;
  words: string;
  /** What the job ran on. */
  note: string;
  href: string;
}

export function noticeOf(job: Omit<Job, 'log'>): JobNotice {
  const state = jobState(job);
  const ends = { done: 'is done', failed: 'failed', stopped: 'was stopped' } as Record<State['look'], string>;
  return {
    id: job.id,
    state,
    words: `Job ${job.id} ${ends[state.look] ?? 'has ended'}`,
    note: `${job.workflow_dump.name} on ${job.dataset_dump.name}`,
    href: route.job({ project_id: job.project_id!, job_id: job.id }),
  };
}
