/** Jobs: one run of a workflow on a dataset. */
import { z } from 'zod';

import { pageOf } from '../pagination.ts';
import { attributeFilters, flagMap, jsonAnswer } from '../wire/json.ts';
import { rule } from '../wire/problem.ts';
import { answer, choice, smallInteger, text, trimmedText } from '../wire/scalars.ts';
import { TaskStatus } from './task-status.ts';

export const JOB_STATUSES = ['submitted', 'done', 'failed'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const IMAGE_STATUSES = ['done', 'submitted', 'failed', 'unset'] as const;
export type ImageStatus = (typeof IMAGE_STATUSES)[number];

/** Why a job failed, in one sentence with a kind that pages know. */
export const JOB_FAILURES = ['task', 'no_images', 'submissions_off', 'output', 'stopped', 'admin', 'internal'] as const;

export const JobFailure = z
  .object({
    kind: z.enum(JOB_FAILURES),
    workflowtask_id: answer.integer().nullable(),
    message: answer.text(),
    num_images: answer.integer().meta({ description: 'Images that the task failed for; a converter takes none.' }),
    zarr_url: answer.text().nullable().optional().meta({
      description:
        'The image of the first unit that failed, where it worked on one. Not known of jobs of earlier versions.',
    }),
  })
  .meta({ id: 'JobFailure' });
export type JobFailure = z.output<typeof JobFailure>;

const ProjectDump = z.object({ id: answer.integer(), name: answer.text(), timestamp_created: answer.text() });
const inProject = { id: answer.integer(), name: answer.text(), project_id: answer.integer() };
const WorkflowDump = z.object({ ...inProject, timestamp_created: answer.text() });
const DatasetDump = z.object({ ...inProject, timestamp_created: answer.text(), zarr_dir: answer.text() });

const optionalText = () => answer.text().nullable();

const job = {
  id: answer.integer(),
  project_id: answer.integer().nullable(),
  project_dump: ProjectDump,
  user_email: answer.text(),
  slurm_account: optionalText(),
  workflow_id: answer.integer().nullable(),
  workflow_dump: WorkflowDump,
  dataset_id: answer.integer().nullable(),
  dataset_dump: DatasetDump,
  start_timestamp: answer.time(),
  end_timestamp: answer.time().nullable(),
  status: z.enum(JOB_STATUSES),
  log: optionalText(),
  executor_error_log: optionalText(),
  working_dir: optionalText(),
  working_dir_user: optionalText(),
  first_task_index: answer.integer().nullable(),
  last_task_index: answer.integer().nullable(),
  worker_init: optionalText(),
  attribute_filters: z.record(z.string(), z.array(jsonAnswer.scalar())),
  type_filters: jsonAnswer.flags(),
  fractal_server_version: answer.text(),
  resource_id: answer.integer().nullable(),
  stop_requested_at: answer.time().nullable(),
  stop_requested_by: optionalText(),
  timestamp_first_unit: answer.time().nullable(),
  failure: JobFailure.nullable(),
};

export const Job = z.object(job).meta({ id: 'JobRead' });
export type Job = z.output<typeof Job>;

/** One job by itself says more than a job in a list. */
export const SingleJob = z
  .object({ ...job, workflow_log: optionalText(), archive_bytes: answer.integer().nullable() })
  .meta({ id: 'JobReadSingle' });
export type SingleJob = z.output<typeof SingleJob>;

/** A list as always, or a page of it where `page_size` is given. */
export const JobList = z.union([z.array(Job), pageOf(Job)]).meta({ describedBy: 'first' });
export type JobList = z.output<typeof JobList>;

export const JobWithTaskStatuses = z
  .object({ ...job, task_statuses: z.record(z.string(), TaskStatus.nullable()) })
  .meta({ id: 'JobWithTaskStatuses' });
export type JobWithTaskStatuses = z.output<typeof JobWithTaskStatuses>;

const index = () => smallInteger({ least: 0 }).nullable().default(null);

export const JobCreate = z
  .strictObject({
    first_task_index: index(),
    last_task_index: index(),
    slurm_account: text().nullable().default(null),
    worker_init: trimmedText().optional(),
    attribute_filters: attributeFilters().default({}),
    type_filters: flagMap().default({}),
    first_task_image_status: z
      .array(choice(IMAGE_STATUSES))
      .min(1)
      .optional()
      .meta({ description: 'Of the first task only: the images whose status is one of these.' }),
  })
  .superRefine(
    rule(
      ({
        first_task_index: first,
        last_task_index: last,
      }: {
        first_task_index: number | null;
        last_task_index: number | null;
      }) =>
        first !== null && last !== null && first > last
          ? 'first_task_index must not be larger than last_task_index.'
          : undefined,
    ),
  )
  .meta({ id: 'JobCreate' });
export type JobCreate = z.output<typeof JobCreate>;

export const JobUpdate = z.strictObject({ status: choice(JOB_STATUSES) }).meta({ id: 'JobUpdate' });

export const JobQueue = z
  .object({
    state: z.enum(['waiting', 'running', 'ended']),
    jobs_ahead: answer.integer().nullable(),
    reason: optionalText(),
  })
  .meta({ id: 'JobQueue' });
export type JobQueue = z.output<typeof JobQueue>;
