/** History: what ran on which images, when, with what result. */
import { z } from 'zod';

import { pageOf } from '../pagination.ts';
import { Image, ImageFilters, ImagePage } from '../projects/dataset.ts';
import { jsonAnswer } from '../wire/json.ts';
import { answer, id, text, trimmedText } from '../wire/scalars.ts';
import { CAUSES, HISTORY_STATUSES } from './task-status.ts';

const optionalInteger = () => answer.integer().nullable();
const optionalTime = () => answer.time().nullable();
const optionalText = () => answer.text().nullable();
const status = () => z.enum(HISTORY_STATUSES);
const cause = () => z.enum(CAUSES).nullable();

export const HistoryRun = z
  .object({
    id: answer.integer(),
    timestamp_started: answer.time(),
    workflowtask_dump: jsonAnswer.object(),
    num_submitted_units: answer.integer(),
    num_done_units: answer.integer(),
    num_failed_units: answer.integer(),
    num_units_with_warnings: answer.integer(),
    args_schema_parallel: jsonAnswer.object().nullable(),
    args_schema_non_parallel: jsonAnswer.object().nullable(),
    version: optionalText(),
    status: status(),
    job_id: answer.integer(),
    num_available_images: answer.integer(),
    timestamp_ended: optionalTime(),
  })
  .meta({ id: 'HistoryRunReadAggregated' });
export type HistoryRun = z.output<typeof HistoryRun>;

export const HistoryUnit = z
  .object({
    id: answer.integer(),
    logfile: optionalText(),
    has_warnings: answer.boolean(),
    status: status(),
    zarr_urls: z.array(answer.text()),
    is_init: answer.boolean(),
    timestamp_started: optionalTime(),
    timestamp_ended: optionalTime(),
    exit_code: optionalInteger(),
    signal: optionalInteger(),
    cause: cause(),
    message: optionalText(),
    num_warnings: answer.integer(),
    cpu_seconds: answer.number().nullable(),
    peak_memory_bytes: optionalInteger(),
    memory_limit_bytes: optionalInteger(),
    scheduler_job_id: optionalInteger(),
    node: optionalText(),
  })
  .meta({ id: 'HistoryUnitRead' });
export type HistoryUnit = z.output<typeof HistoryUnit>;

/** The unit that looked at an image last. */
export const UnitOfImage = z
  .object({
    id: answer.integer(),
    history_run_id: answer.integer(),
    started: answer.boolean(),
    timestamp_started: optionalTime(),
    timestamp_ended: optionalTime(),
    cause: cause(),
    message: optionalText(),
    num_warnings: answer.integer(),
    peak_memory_bytes: optionalInteger(),
  })
  .meta({ id: 'UnitOfImage' });
export type UnitOfImage = z.output<typeof UnitOfImage>;

const ImageWithStatus = Image.extend({
  has_warnings: answer.boolean().nullable(),
  unit: UnitOfImage.nullable().optional(),
}).meta({ id: 'SingleImageWithStatus' });
export type ImageWithStatus = z.output<typeof ImageWithStatus>;

const StatusCounts = z
  .object({
    done: answer.integer(),
    submitted: answer.integer(),
    failed: answer.integer(),
    unset: answer.integer(),
  })
  .meta({ id: 'ImageStatusCounts' });

export const ImageStatusPage = ImagePage.extend({ items: z.array(ImageWithStatus), status_counts: StatusCounts }).meta({
  id: 'ImageStatusPage',
});
export type ImageStatusPage = z.output<typeof ImageStatusPage>;

export const ImageStatusQuery = ImageFilters;

export const ImageGroupsQuery = ImageFilters.extend({
  by: z
    .array(trimmedText())
    .min(1)
    .max(3)
    .default(['plate', 'well'])
    .meta({ description: 'Attributes: images with the same values of these are one group.' }),
}).meta({ id: 'ImageGroupsQuery' });

/** Images that have the same values of some attributes, counted. Without a task nothing is known of their status. */
const ImageGroup = z
  .object({
    values: z.record(z.string(), jsonAnswer.scalar()).meta({ description: 'Without attributes that they lack.' }),
    num_images: answer.integer(),
    counts: StatusCounts.nullable(),
    num_running: answer.integer().meta({ description: 'Of the submitted ones, those that have started.' }),
    num_stopped: answer.integer().meta({ description: 'Of the failed ones, those that somebody stopped.' }),
    num_with_warnings: answer.integer().meta({ description: 'Of the done ones.' }),
    newest_unit_id: answer.integer().nullable().meta({
      description: 'Of the units of the task that looked at them, the last one. Later units have higher numbers.',
    }),
  })
  .meta({ id: 'ImageGroup' });
export type ImageGroup = z.output<typeof ImageGroup>;

export const ImageGroups = z
  .object({
    groups: z.array(ImageGroup),
    num_groups: answer
      .integer()
      .meta({ description: 'Of the filtered list; more than are given when there are many.' }),
  })
  .meta({ id: 'ImageGroups' });
export type ImageGroups = z.output<typeof ImageGroups>;

/** What a task did, of what is known about an image. */
const TaskOfImage = z
  .object({
    workflowtask_id: optionalInteger(),
    name: answer.text(),
    version: optionalText(),
    job_id: answer.integer(),
    history_run_id: answer.integer(),
    task_index: optionalInteger(),
    status: status(),
    timestamp_ended: optionalTime(),
    args_non_parallel: jsonAnswer.object().nullable(),
    args_parallel: jsonAnswer.object().nullable(),
  })
  .meta({ id: 'TaskOfImage' });
export type TaskOfImage = z.output<typeof TaskOfImage>;

export const ImageHistory = z
  .object({
    made_by: TaskOfImage.nullable().meta({
      description:
        'Of the tasks that worked on the image it was made from, the one that gives its types; without such an image, the last converter of the dataset. Null where several could be.',
    }),
    worked_on_by: z.array(TaskOfImage).meta({ description: 'Oldest first; of each task what it did last.' }),
  })
  .meta({ id: 'ImageHistory' });
export type ImageHistory = z.output<typeof ImageHistory>;

export const HistoryUnitPage = pageOf(HistoryUnit);

export const ImageLogRequest = z
  .object({ workflowtask_id: id(), dataset_id: id(), zarr_url: text() })
  .meta({ id: 'ImageLogsRequest' });

/** How a job went over time: few numbers, however many units there are. */
export const Timeline = z
  .object({
    tasks: z.array(
      z.object({
        workflowtask_id: optionalInteger(),
        task_index: optionalInteger(),
        name: answer.text(),
        alias: optionalText(),
        history_run_id: answer.integer(),
        status: status(),
        timestamp_started: answer.time(),
        timestamp_ended: optionalTime(),
        num_available_images: answer.integer(),
        num_units: answer.integer(),
        num_submitted_units: answer.integer(),
        num_done_units: answer.integer(),
        num_failed_units: answer.integer(),
        num_units_with_warnings: answer.integer(),
        num_new_images: optionalInteger(),
        cpu_seconds: answer.number().nullable(),
        peak_memory_bytes: optionalInteger(),
        memory_limit_bytes: optionalInteger(),
        scheduler_job_ids: z.array(answer.integer()),
        is_starting: answer.boolean().meta({ description: 'As in the status of a task.' }),
      }),
    ),
    bins: z.object({
      start: optionalTime(),
      seconds: answer.number(),
      running: z.array(answer.integer()),
      finished: z.array(answer.integer()),
      peak_memory_bytes: z.array(answer.integer()),
    }),
  })
  .meta({ id: 'JobTimeline' });
export type Timeline = z.output<typeof Timeline>;
