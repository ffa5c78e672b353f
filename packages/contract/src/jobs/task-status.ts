/** What happened with a task of a workflow on a dataset, as the workflow page shows it. */
import { z } from 'zod';

import { answer } from '../wire/scalars.ts';

export const HISTORY_STATUSES = ['submitted', 'done', 'failed'] as const;
export type HistoryStatus = (typeof HISTORY_STATUSES)[number];

/** Why a unit failed. */
export const CAUSES = ['error', 'memory', 'time_limit', 'signal', 'start', 'output', 'stopped', 'lost'] as const;
export type Cause = (typeof CAUSES)[number];

export const Progress = z
  .object({
    waiting: answer.integer(),
    running: answer.integer(),
    done: answer.integer(),
    failed: answer.integer(),
  })
  .meta({ id: 'Progress' });

const FullTaskStatus = z
  .object({
    status: z.enum(HISTORY_STATUSES),
    num_submitted_images: answer.integer(),
    num_done_images: answer.integer(),
    num_failed_images: answer.integer(),
    num_available_images: answer.integer().nullable(),
    has_warnings: answer.boolean(),
    job_id: answer.integer(),
    history_run_id: answer.integer(),
    timestamp_started: answer.time(),
    timestamp_ended: answer.time().nullable(),
    progress: Progress,
    is_starting: answer
      .boolean()
      .meta({ description: 'Python is starting: it imports for all units before the first one runs.' }),
    num_images_with_warnings: answer.integer(),
    /** Null where nobody counted, as in imported runs. */
    num_new_images: answer.integer().nullable(),
    causes: z.partialRecord(z.enum(CAUSES), answer.integer()),
  })
  .meta({ id: 'TaskStatus' });

/** Of a task that waits for its turn there is nothing more to say. */
const WaitingTaskStatus = z.strictObject({ status: z.literal('submitted') }).meta({ id: 'TaskStatusWaiting' });

export const TaskStatus = z.union([FullTaskStatus, WaitingTaskStatus]);
export type TaskStatus = z.output<typeof TaskStatus>;
export type FullTaskStatus = z.output<typeof FullTaskStatus>;
