/** The SQL of who used how much. */
import { type ExpressionBuilder, sql } from 'kysely';

import type { AccountingQuery, AccountingQuerySlurm, AccountingRecord, PageRequest } from '@service/contract';

import { pageOf, rowsOf, type Tables } from '../../db/index.ts';
import type { Executor } from './jobs.ts';

type Common = Pick<AccountingQuery, 'user_id' | 'timestamp_min' | 'timestamp_max'>;

/** What both kinds of records are filtered by; null asks for nothing. */
const passes =
  ({ user_id, timestamp_min, timestamp_max }: Common) =>
  (eb: ExpressionBuilder<Tables, 'accounting_records' | 'accounting_records_slurm'>) =>
    eb.and([
      ...(user_id === null ? [] : [eb('user_id', '=', user_id)]),
      ...(timestamp_min === null ? [] : [eb('timestamp', '>=', timestamp_min)]),
      ...(timestamp_max === null ? [] : [eb('timestamp', '<=', timestamp_max)]),
    ]);

export async function pageOfRecords(db: Executor, filter: Common, page: PageRequest) {
  const query = db.selectFrom('accounting_records').where((eb) => passes(filter)(eb as never));
  const { count } = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  const { limit, offset } = rowsOf(page);
  const items: AccountingRecord[] = await query
    .select(['id', 'user_id', 'timestamp', 'num_tasks', 'num_new_images'])
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
  return pageOf(page, count, items);
}

/** The ids of the scheduler's own jobs, in the order in which they were recorded. */
export async function schedulerJobIds(db: Executor, filter: AccountingQuerySlurm): Promise<number[]> {
  let query = db
    .selectFrom('accounting_records_slurm')
    .select(sql<number>`unnest(slurm_job_ids)`.as('slurm_job_id'))
    .where((eb) => passes(filter)(eb as never))
    .orderBy('id');
  if (filter.fractal_job_id !== null) query = query.where('fractal_job_id', '=', filter.fractal_job_id);
  if (filter.resource_id !== null) query = query.where('resource_id', '=', filter.resource_id);
  const rows = await query.execute();
  return rows.map((row) => row.slurm_job_id);
}
