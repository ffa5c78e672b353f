/** What is sent to start a job. */
import type { ImageStatus, JobCreate } from '@service/contract';

import { bodyOf, newQuery } from '#lib/images/filters.ts';

import type { Flags, ImageChoice } from './images.ts';

export interface RunRequest {
  first: number;
  last: number | undefined;
  workerInit: string;
  account: string | undefined;
  /** Absent where the job has no image list. */
  choice: ImageChoice | undefined;
  jobTypes: Flags;
  /** Whether the status filter is for the first task alone. */
  laterTasksGetAll: boolean;
}

type Body = Partial<JobCreate> & { first_task_image_status?: ImageStatus[] };

export function submission(request: RunRequest): Body {
  const { first, last, workerInit, account, choice, laterTasksGetAll } = request;
  const statuses = choice?.status ?? [];
  const once = statuses.length > 0 && laterTasksGetAll;
  const kept = choice && bodyOf(newQuery(once ? { ...choice, status: [] } : choice));
  return {
    first_task_index: first,
    ...(last === undefined ? {} : { last_task_index: last }),
    ...(workerInit.trim() === '' ? {} : { worker_init: workerInit }),
    ...(account === undefined ? {} : { slurm_account: account }),
    attribute_filters: kept?.attribute_filters ?? {},
    type_filters: request.jobTypes,
    ...(once ? { first_task_image_status: statuses } : {}),
  };
}
