/** Reading jobs: lists, one job, the newest job, what a job waits for. */
import { setTimeout as sleep } from 'node:timers/promises';

import type {
  Job,
  JobList,
  JobQueue,
  JobWithTaskStatuses,
  PageRequest,
  Permissions,
  SingleJob,
  User,
} from '@service/contract';
import { plural } from '@service/contract/plural';

import { type Database, pageOf } from '../db/index.ts';
import { waitingWords } from '../engine/slurm/reasons.ts';
import { objectText, refuse, Written } from '../http/index.ts';
import { openDataset, openProject, openWorkflow } from '../projects/index.ts';
import type { ClusterAddress, Clusters } from '../slurm/index.ts';
import type { JobFiles } from './files/index.ts';
import * as store from './store/jobs.ts';
import { taskStatuses } from './task-statuses.ts';

export const NO_JOB = 'There is no job with this id.';

/** The check that every operation on a job of a project begins with. */
export async function openJob(
  db: store.Executor,
  user: User,
  { project_id, job_id }: { project_id: number; job_id: number },
  needed: Permissions,
): Promise<Job> {
  await openProject(db, user, project_id, needed);
  const job = await store.findJobInProject(db, project_id, job_id);
  if (!job) throw refuse(404, 'There is no job with this id in this project.');
  return job;
}

export async function findAnyJob(db: store.Executor, jobId: number): Promise<Job> {
  const job = await store.findJob(db, jobId);
  if (!job) throw refuse(404, NO_JOB);
  return job;
}

type PageOfJobs = ReturnType<typeof pageOf<Job>>;

/** The jobs of a page. */
export async function pageOfJobs(
  db: Database,
  filter: store.JobFilter,
  { log, ...page }: PageRequest & { log: boolean },
) {
  const { total, items } = await store.pageOfJobs(db, filter, log, page);
  const { items: _, ...numbers } = pageOf(page, total, []);
  return { count: items.length, answer: new Written<PageOfJobs>(objectText(numbers, { items: `[${items.join()}]` })) };
}

interface ListedJobs {
  /** How many are in the answer. */
  count: number;
  answer: Written<JobList>;
}

/** The complete list, or the newest so many where an administrator set a limit; a page where one is asked for. */
export async function listJobs(
  db: Database,
  filter: store.JobFilter,
  { log, ...page }: PageRequest & { log: boolean },
  maxListLength: number | null,
): Promise<ListedJobs> {
  if (page.page_size !== null) return pageOfJobs(db, filter, { log, ...page });
  const items = await store.listJobs(db, filter, { log, limit: maxListLength ?? undefined });
  return { count: items.length, answer: new Written(`[${items.join()}]`) };
}

/** The newest job of the caller's projects. */
export async function latestOfAll(db: Database, user: User, filter: store.JobFilter): Promise<Job> {
  const job = await store.newestJob(db, { ...filter, member_id: user.id });
  if (!job) throw refuse(404, 'There is no such job yet. Run a workflow to get one.');
  return job;
}

/** A job that is not over has no log yet; what it has written so far stands in its place. */
export function withWrittenLog<J extends Job>(job: J, workflowLog: string | null): J {
  return job.status === 'submitted' && workflowLog !== null ? { ...job, log: workflowLog } : job;
}

/** Files can be out of reach for a while; the job is shown all the same, without them. */
export const writtenLog = (files: JobFiles, job: Job): Promise<string | null> =>
  files.workflowLog(job).catch(() => null);

export async function singleJob(files: JobFiles, job: Job, showTmpLogs: boolean): Promise<SingleJob> {
  const [workflow_log, archive_bytes] = await Promise.all([
    writtenLog(files, job),
    files.archiveBytes(job).catch(() => null),
  ]);
  return { ...(showTmpLogs ? withWrittenLog(job, workflow_log) : job), workflow_log, archive_bytes };
}

/** The newest job of a workflow on a dataset, and how every task of the workflow stands there. */
export async function latestJob(
  db: Database,
  user: User,
  target: { project_id: number; workflow_id: number; dataset_id: number },
): Promise<JobWithTaskStatuses> {
  await openWorkflow(db, user, target.project_id, target.workflow_id, 'r');
  await openDataset(db, user, target.project_id, target.dataset_id, 'r');
  const job = await store.newestJob(db, target);
  if (!job) throw refuse(404, 'This workflow has not run on this dataset yet.');
  const statuses = (await taskStatuses(db, [target]))(target);
  return { ...job, task_statuses: Object.fromEntries(statuses) };
}

/** Who looks at a page does not wait for a cluster that is away. */
const LONGEST_QUESTION_MS = 10_000;

/** What the queue of a cluster says about the scheduler's jobs of the phase that runs. */
async function queueOfCluster(clusters: Clusters, cluster: ClusterAddress, ids: number[]): Promise<JobQueue> {
  const waiting = { state: 'waiting' as const, jobs_ahead: null };
  if (ids.length === 0) return { ...waiting, reason: 'The job is being handed to Slurm.' };
  const late = sleep(LONGEST_QUESTION_MS, { problem: 'it takes long.' }, { ref: false });
  const reading = await Promise.race([clusters.client(cluster).queue.read(ids, 0), late]);
  if ('problem' in reading)
    return { ...waiting, reason: `The queue of the cluster does not answer: ${reading.problem}` };
  const elements = ids.flatMap((id) => [...(reading.jobs.get(id)?.elements.values() ?? [])]);
  if (elements.some(({ state }) => !/^PENDING/i.test(state))) {
    return { state: 'running', jobs_ahead: null, reason: null };
  }
  const reasons = ids.map((id) => waitingWords(reading.jobs.get(id)?.reason ?? ''));
  return { ...waiting, reason: reasons.find((reason) => reason !== null) ?? null };
}

export async function queueOf(db: Database, clusters: Clusters, job: Job): Promise<JobQueue> {
  if (job.status !== 'submitted') return { state: 'ended', jobs_ahead: null, reason: null };
  const { cluster, ids } = await store.findSchedulerJobs(db, job.id);
  if (cluster) return queueOfCluster(clusters, cluster, ids);
  if (job.timestamp_first_unit !== null) return { state: 'running', jobs_ahead: null, reason: null };
  const jobs_ahead = await store.countJobsAhead(db, job.id);
  const reason =
    jobs_ahead === 0
      ? 'This job is next and starts when a slot is free.'
      : `${jobs_ahead} ${plural(jobs_ahead, 'job')} submitted earlier on the same resource ${plural(jobs_ahead, 'has', 'have')} not started either.`;
  return { state: 'waiting', jobs_ahead, reason };
}
