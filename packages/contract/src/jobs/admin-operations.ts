/** What administrators do with jobs, and what was used. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { pageOf, pageQuery } from '../pagination.ts';
import { email } from '../wire/email.ts';
import { answer, boolean, choice, datetime, id } from '../wire/scalars.ts';
import { AccountingQuery, AccountingQuerySlurm, AccountingRecord } from './accounting.ts';
import { Job, JOB_STATUSES, JobUpdate } from './job.ts';

const ofJob = z.object({ job_id: id() });
const UNKNOWN = { 404: 'There is no such object.' };
const one = '/admin/v2/job/{job_id}/';
const common = { access: 'superuser', tag: 'administration' } as const;

export const adminListJobs = operation({
  ...common,
  id: 'admin_list_jobs',
  method: 'GET',
  path: '/admin/v2/job/',
  summary: 'Jobs of everybody, newest first',
  query: z.object({
    id: id().optional(),
    resource_id: id().optional(),
    project_owner_id: id().optional(),
    job_user_email: email().optional(),
    project_id: id().optional(),
    dataset_id: id().optional(),
    workflow_id: id().optional(),
    status: choice(JOB_STATUSES).optional(),
    start_timestamp_min: datetime().optional(),
    start_timestamp_max: datetime().optional(),
    end_timestamp_min: datetime().optional(),
    end_timestamp_max: datetime().optional(),
    log: boolean().default(true),
    ...pageQuery,
  }),
  paginated: true,
  answer: [200, pageOf(Job)],
});

export const adminGetJob = operation({
  ...common,
  id: 'admin_get_job',
  method: 'GET',
  path: one,
  summary: 'One job',
  params: ofJob,
  query: z.object({ show_tmp_logs: boolean().default(false) }),
  answer: [200, Job],
  refusals: UNKNOWN,
});

export const adminUpdateJob = operation({
  ...common,
  id: 'admin_update_job',
  method: 'PATCH',
  path: one,
  summary: 'Labels a job as failed, and stops what still runs of it',
  params: ofJob,
  body: JobUpdate,
  answer: [200, Job],
  refusals: UNKNOWN,
});

const stop = {
  scope: 'run',
  summary: 'Stops a job',
  params: ofJob,
  answer: [202] as [number],
  refusals: UNKNOWN,
} as const;

export const adminStopJobByGet = operation({
  ...common,
  ...stop,
  id: 'admin_stop_job',
  method: 'GET',
  path: `${one}stop/`,
  unsafeGet: true,
});
export const adminStopJob = operation({
  ...common,
  ...stop,
  id: 'admin_stop_job_by_post',
  method: 'POST',
  path: `${one}stop/`,
});

export const adminDownloadJob = operation({
  ...common,
  id: 'admin_download_job',
  file: true,
  method: 'GET',
  path: `${one}download/`,
  summary: 'The folder of a job as a zip file',
  params: ofJob,
  answer: [200],
  mediaType: 'application/x-zip-compressed',
  refusals: UNKNOWN,
});

const RECORDS = 'How many tasks ran, for whom';

export const queryAccounting = operation({
  ...common,
  id: 'query_accounting',
  scope: 'read',
  method: 'POST',
  path: '/admin/v2/accounting/',
  summary: RECORDS,
  query: z.object(pageQuery),
  body: AccountingQuery,
  paginated: true,
  answer: [200, pageOf(AccountingRecord)],
});

export const queryAccountingByGet = operation({
  ...common,
  id: 'query_accounting_by_get',
  method: 'GET',
  path: '/admin/v2/accounting/',
  summary: RECORDS,
  query: AccountingQuery.extend(pageQuery),
  paginated: true,
  answer: [200, pageOf(AccountingRecord)],
});

export const queryAccountingSlurm = operation({
  ...common,
  id: 'query_accounting_slurm',
  scope: 'read',
  method: 'POST',
  path: '/admin/v2/accounting/slurm/',
  summary: 'The scheduler job ids of what ran',
  body: AccountingQuerySlurm,
  answer: [200, z.array(answer.integer())],
});
