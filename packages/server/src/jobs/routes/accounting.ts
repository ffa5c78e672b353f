/** Accounting on the wire: what people used. */
import { jobs } from '@service/contract';

import type { Database } from '../../db/index.ts';
import type { Api } from '../../http/index.ts';
import * as accounting from '../store/accounting.ts';

export function accountingRoutes(api: Api, db: Database): void {
  api.serve(jobs.queryAccounting, ({ body, query }) => accounting.pageOfRecords(db, body, query));
  api.serve(jobs.queryAccountingByGet, ({ query }) => accounting.pageOfRecords(db, query, query));
  api.serve(jobs.queryAccountingSlurm, ({ body }) => accounting.schedulerJobIds(db, body));
}
