/** What was counted of people's work. */
import { asTheyAre, type Mapping, type Plan } from '../mapping.ts';
import { filled } from '../sql.ts';
import { withHoles } from './odd-values.ts';

export const accountingRecords = (plan: Plan): Mapping => ({
  table: 'accounting_records',
  source: 'accountingrecord',
  columns: asTheyAre('a', ['id', 'user_id', 'timestamp', 'num_tasks', 'num_new_images']),
  from: `${plan.rows('accountingrecord')} a`,
  findings: [],
});

export const accountingRecordsSlurm = (plan: Plan): Mapping => ({
  table: 'accounting_records_slurm',
  source: 'accountingrecordslurm',
  columns: {
    ...asTheyAre('a', ['id', 'user_id', 'timestamp', 'fractal_job_id', 'resource_id']),
    slurm_job_ids: filled('a.slurm_job_ids'),
  },
  from: `${plan.rows('accountingrecordslurm')} a`,
  findings: withHoles(`${plan.rows('accountingrecordslurm')} a`, 'a', ['slurm_job_ids']),
});
