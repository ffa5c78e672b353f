/** Who used how much. */
import { z } from 'zod';

import { answer, datetime, id } from '../wire/scalars.ts';

const filters = {
  user_id: id().nullable().default(null),
  timestamp_min: datetime().nullable().default(null),
  timestamp_max: datetime().nullable().default(null),
};

export const AccountingQuery = z
  .object({ ...filters, fractal_job_id: id().nullable().default(null).meta({ description: 'Not used here.' }) })
  .meta({ id: 'AccountingQuery' });
export type AccountingQuery = z.output<typeof AccountingQuery>;

export const AccountingQuerySlurm = z
  .object({ ...filters, fractal_job_id: id().nullable().default(null), resource_id: id().nullable().default(null) })
  .meta({ id: 'AccountingQuerySLURM' });
export type AccountingQuerySlurm = z.output<typeof AccountingQuerySlurm>;

export const AccountingRecord = z
  .object({
    id: answer.integer(),
    user_id: answer.integer(),
    timestamp: answer.time(),
    num_tasks: answer.integer(),
    num_new_images: answer.integer(),
  })
  .meta({ id: 'AccountingRecordRead' });
export type AccountingRecord = z.output<typeof AccountingRecord>;
