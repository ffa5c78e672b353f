/** The operations on jobs. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { pageQuery } from '../pagination.ts';
import { WorkflowExport } from '../projects/workflow.ts';
import { answer, boolean, choice, id, text } from '../wire/scalars.ts';
import { Timeline } from './history.ts';
import { PreCheck } from './pre-check.ts';
import { Job, JOB_STATUSES, JobCreate, JobList, JobQueue, JobWithTaskStatuses, SingleJob } from './job.ts';

const inProject = z.object({ project_id: id() });
const ofJob = z.object({ project_id: id(), job_id: id() });
const UNKNOWN = { 404: 'There is no such object.' };
const NOT_RUNNING = { ...UNKNOWN, 422: 'The job has ended already.' };
const all = '/api/v2/project/{project_id}/job/';
const one = `${all}{job_id}/`;
const tag = 'jobs';

export const submitJob = operation({
  id: 'submit_job',
  method: 'POST',
  path: `${all}submit/`,
  access: 'member',
  scope: 'run',
  tag,
  summary: 'Runs a workflow on a dataset',
  params: inProject,
  query: z.object({ workflow_id: id(), dataset_id: id() }),
  body: JobCreate,
  answer: [202, Job],
  refusals: UNKNOWN,
});

export const preCheck = operation({
  id: 'pre_check',
  method: 'GET',
  path: '/api/v2/project/{project_id}/workflow/{workflow_id}/pre-check/',
  access: 'reader',
  tag,
  summary: 'What to know before you run a workflow',
  description: 'Shell lines of its tasks that changed since you ran them last, who changed them, and how.',
  params: z.object({ project_id: id(), workflow_id: id() }),
  answer: [200, PreCheck],
  refusals: UNKNOWN,
});

const filters = {
  log: boolean().default(true),
  status: choice(JOB_STATUSES).optional(),
  dataset_id: id().optional(),
  user_email: text().optional(),
};

/** Jobs are listed complete, or in pages where `page_size` is given. */
const list = {
  method: 'GET',
  access: 'reader',
  tag,
  paginated: true,
  description: 'A complete list; with page_size one page of it, as an object with items and total_count.',
  answer: [200, JobList] as [number, typeof JobList],
} as const;

export const listAllJobs = operation({
  ...list,
  id: 'list_all_jobs',
  path: '/api/v2/job/',
  summary: 'Jobs of all your projects, newest first',
  query: z.object({ ...filters, project_id: id().optional(), workflow_id: id().optional(), ...pageQuery }),
});

export const listJobs = operation({
  ...list,
  id: 'list_jobs',
  path: all,
  summary: 'The jobs of a project, newest first',
  params: inProject,
  query: z.object({ ...filters, workflow_id: id().optional(), ...pageQuery }),
  refusals: UNKNOWN,
});

export const listWorkflowJobs = operation({
  ...list,
  id: 'list_workflow_jobs',
  path: '/api/v2/project/{project_id}/workflow/{workflow_id}/job/',
  summary: 'The jobs of a workflow, newest first',
  params: z.object({ project_id: id(), workflow_id: id() }),
  query: z.object({ ...filters, ...pageQuery }),
  refusals: UNKNOWN,
});

export const latestJobOfAll = operation({
  id: 'latest_job_of_all',
  method: 'GET',
  path: '/api/v2/job/latest/',
  access: 'reader',
  tag,
  summary: 'Your newest job',
  query: z.object({ project_id: id().optional(), workflow_id: id().optional(), dataset_id: id().optional() }),
  answer: [200, Job],
  refusals: UNKNOWN,
});

const TmpLogs = z.object({ show_tmp_logs: boolean().default(false) });

export const getJob = operation({
  id: 'get_job',
  method: 'GET',
  path: one,
  access: 'reader',
  tag,
  summary: 'One job',
  description: 'With show_tmp_logs the log of a job that is not over yet is what has been written so far.',
  params: ofJob,
  query: TmpLogs,
  answer: [200, SingleJob],
  refusals: UNKNOWN,
});

export const downloadJob = operation({
  id: 'download_job',
  file: true,
  method: 'GET',
  path: `${one}download/`,
  access: 'reader',
  tag,
  summary: 'The folder of a job as a zip file',
  params: ofJob,
  answer: [200],
  mediaType: 'application/x-zip-compressed',
  refusals: UNKNOWN,
});

const stop = {
  access: 'member',
  scope: 'run',
  tag,
  summary: 'Stops a job',
  answer: [202] as [number],
  refusals: NOT_RUNNING,
} as const;

export const stopJobByGet = operation({
  ...stop,
  id: 'stop_job',
  method: 'GET',
  path: `${one}stop/`,
  params: ofJob,
  unsafeGet: true,
});
export const stopJob = operation({
  ...stop,
  id: 'stop_job_by_post',
  method: 'POST',
  path: `${one}stop/`,
  params: ofJob,
});
export const stopJobById = operation({
  ...stop,
  id: 'stop_job_by_id',
  method: 'POST',
  path: '/api/v2/job/{job_id}/stop/',
  params: z.object({ job_id: id() }),
});

export const latestJob = operation({
  id: 'latest_job',
  method: 'GET',
  path: '/api/v2/project/{project_id}/latest-job/',
  access: 'reader',
  tag,
  summary: 'The newest job of a workflow on a dataset, with the status of every task',
  params: inProject,
  query: z.object({ workflow_id: id(), dataset_id: id() }),
  answer: [200, JobWithTaskStatuses],
  refusals: UNKNOWN,
});

export const jobTimeline = operation({
  id: 'job_timeline',
  method: 'GET',
  path: `${one}timeline/`,
  access: 'reader',
  tag,
  summary: 'How a job went over time',
  params: ofJob,
  answer: [200, Timeline],
  refusals: UNKNOWN,
});

export const jobWorkflow = operation({
  id: 'job_workflow',
  method: 'GET',
  path: `${one}workflow/`,
  access: 'reader',
  tag,
  summary: 'The workflow as the job ran it, in the form of an export',
  params: ofJob,
  answer: [200, WorkflowExport],
  refusals: UNKNOWN,
});

export const jobQueue = operation({
  id: 'job_queue',
  method: 'GET',
  path: `${one}queue/`,
  access: 'reader',
  tag,
  summary: 'What a job waits for',
  params: ofJob,
  answer: [200, JobQueue],
  refusals: UNKNOWN,
});

const events = {
  method: 'GET',
  access: 'reader',
  tag,
  description:
    'Server-sent events: job, task, units, log. The first ones are a snapshot; Last-Event-ID continues where a stream ended.',
  answer: [200, answer.text()] as [number, z.ZodString],
  mediaType: 'text/event-stream',
  refusals: UNKNOWN,
} as const;

export const projectEvents = operation({
  ...events,
  id: 'project_events',
  path: '/api/v2/project/{project_id}/events/',
  summary: 'What happens with the jobs of a project, while it happens',
  params: inProject,
});

export const jobEvents = operation({
  ...events,
  id: 'job_events',
  path: `${one}events/`,
  summary: 'What happens with a job, while it happens',
  params: ofJob,
});

export const squeue = operation({
  id: 'squeue',
  method: 'GET',
  path: '/api/v2/job/squeue/',
  access: 'member',
  tag,
  summary: 'The queue of the Slurm cluster, as its own command shows it',
  query: z.object({ scope: choice(['all', 'user', 'accounts'], 'literal_error').default('all') }),
  answer: [200, answer.text()],
  mediaType: 'text/plain',
});
