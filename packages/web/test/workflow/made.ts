/** Jobs and statuses for tests, with only what matters written down. */
import type { FullTaskStatus, JobWithTaskStatuses, TaskStatus, TaskType } from '@service/contract';

export const full = (given: Partial<FullTaskStatus> = {}): FullTaskStatus => ({
  status: 'done',
  num_submitted_images: 0,
  num_done_images: 0,
  num_failed_images: 0,
  num_available_images: 0,
  has_warnings: false,
  job_id: 7,
  history_run_id: 1,
  timestamp_started: '2026-11-03T14:00:00Z',
  timestamp_ended: '2026-11-03T14:05:00Z',
  progress: { waiting: 0, running: 0, done: 0, failed: 0 },
  is_starting: false,
  num_images_with_warnings: 0,
  num_new_images: 0,
  causes: {},
  ...given,
});

export const made = (given: Partial<JobWithTaskStatuses> = {}): JobWithTaskStatuses => ({
  id: 7,
  project_id: 1,
  project_dump: { id: 1, name: 'Screen', timestamp_created: '' },
  user_email: 'm.keller@example.org',
  slurm_account: null,
  workflow_id: 1,
  workflow_dump: { id: 1, name: 'Nuclei', project_id: 1, timestamp_created: '' },
  dataset_id: 1,
  dataset_dump: { id: 1, name: 'Plate', project_id: 1, timestamp_created: '', zarr_dir: '/data' },
  start_timestamp: '2026-11-03T14:00:00Z',
  end_timestamp: null,
  status: 'submitted',
  log: null,
  executor_error_log: null,
  working_dir: null,
  working_dir_user: null,
  first_task_index: 0,
  last_task_index: 5,
  worker_init: null,
  attribute_filters: {},
  type_filters: {},
  fractal_server_version: '0.1.0',
  resource_id: 1,
  stop_requested_at: null,
  stop_requested_by: null,
  timestamp_first_unit: '2026-11-03T14:00:01Z',
  failure: null,
  task_statuses: {},
  ...given,
});

export const tasks = (...types: TaskType[]) => types.map((task_type, index) => ({ id: index + 1, task_type }));

/** Statuses of tasks 1, 2, … */
export const statuses = (...given: (TaskStatus | null)[]): JobWithTaskStatuses['task_statuses'] =>
  Object.fromEntries(given.map((status, index) => [String(index + 1), status]));
