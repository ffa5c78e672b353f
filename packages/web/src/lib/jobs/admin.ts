/** The filters of the list of everybody's jobs, as the address has them. */
import type { JobStatus } from '@service/contract';
import { type Cell, csvOf } from '@service/contract/csv';

import { momentIn, pageOf, textOf, wholeOf } from '../ui/asked.ts';
import { type ListedJob, statusOf } from './jobs.ts';

export interface AdminJobFilters {
  status?: JobStatus | undefined;
  id?: number | undefined;
  project_owner_id?: number | undefined;
  job_user_email?: string | undefined;
  project_id?: number | undefined;
  workflow_id?: number | undefined;
  dataset_id?: number | undefined;
  resource_id?: number | undefined;
  start_timestamp_min?: string | undefined;
  start_timestamp_max?: string | undefined;
  end_timestamp_min?: string | undefined;
  end_timestamp_max?: string | undefined;
}

export const NUMBER_FILTERS = [
  ['id', 'Job id'],
  ['project_id', 'Project id'],
  ['workflow_id', 'Workflow id'],
  ['dataset_id', 'Dataset id'],
] as const;

export const TIME_FILTERS = [
  ['start_timestamp_min', 'Started from'],
  ['start_timestamp_max', 'Started until'],
  ['end_timestamp_min', 'Ended from'],
  ['end_timestamp_max', 'Ended until'],
] as const;

export const ADMIN_FILTERS = [
  'status',
  'project_owner_id',
  'job_user_email',
  'resource_id',
  ...NUMBER_FILTERS.map(([key]) => key),
  ...TIME_FILTERS.map(([key]) => key),
] as const;

export const adminFilters = (search: URLSearchParams): AdminJobFilters => ({
  status: statusOf(search),
  job_user_email: textOf(search, 'job_user_email'),
  project_owner_id: wholeOf(search, 'project_owner_id'),
  resource_id: wholeOf(search, 'resource_id'),
  ...Object.fromEntries(NUMBER_FILTERS.map(([key]) => [key, wholeOf(search, key)])),
  ...Object.fromEntries(TIME_FILTERS.map(([key]) => [key, momentIn(search, key)])),
});

export const adminPage = (search: URLSearchParams): { page: number; page_size: number } => pageOf(search);

const COLUMNS: [name: string, of: (job: ListedJob) => Cell][] = [
  ['id', ({ id }) => id],
  ['status', ({ status }) => status],
  ['user_email', ({ user_email }) => user_email],
  ['start_timestamp', ({ start_timestamp }) => start_timestamp],
  ['end_timestamp', ({ end_timestamp }) => end_timestamp],
  ['project_id', ({ project_id }) => project_id],
  ['project_name', ({ project_dump }) => project_dump.name],
  ['workflow_id', ({ workflow_id }) => workflow_id],
  ['workflow_name', ({ workflow_dump }) => workflow_dump.name],
  ['dataset_id', ({ dataset_id }) => dataset_id],
  ['dataset_name', ({ dataset_dump }) => dataset_dump.name],
  ['first_task_index', ({ first_task_index }) => first_task_index],
  ['last_task_index', ({ last_task_index }) => last_task_index],
  ['slurm_account', ({ slurm_account }) => slurm_account],
  ['resource_id', ({ resource_id }) => resource_id],
  ['working_dir', ({ working_dir }) => working_dir],
  ['failure', ({ failure }) => failure?.message ?? null],
];

export const jobsCsv = (jobs: readonly ListedJob[]): string =>
  csvOf(
    COLUMNS.map(([name]) => name),
    jobs.map((job) => COLUMNS.map(([, of]) => of(job))),
  );
