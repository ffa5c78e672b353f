/** The audit log on the wire. */
import { Readable } from 'node:stream';

import {
  accounts,
  type AuditPage,
  type AuditQuery,
  type AuditRecord,
  csvLine,
  type PageRequest,
} from '@service/contract';

import { type Database, pageOf, rowsOf } from '../db/index.ts';
import { type Api, entityTag, refuse, Streamed } from '../http/index.ts';
import * as store from './store.ts';

const USUAL_PAGE = 100;
const LARGEST_PAGE = 1000;
/** Whoever looks for something older says when it was. */
const MOST_COUNTED = 100_000;
const EXPORTED_AT_A_TIME = 5000;

async function readPage(db: Database, filter: AuditQuery, { page, page_size }: PageRequest): Promise<AuditPage> {
  const size = page_size ?? USUAL_PAGE;
  if (size > LARGEST_PAGE) throw refuse(422, `page_size must be at most ${LARGEST_PAGE}. Export the log to get all.`);
  if (page * size > MOST_COUNTED) {
    throw refuse(422, `Only the newest ${MOST_COUNTED} records have pages. Narrow the time with timestamp_max.`);
  }
  const { offset } = rowsOf({ page, page_size: size });
  const count = await store.countRecords(db, filter, MOST_COUNTED + 1);
  const items = await store.listRecords(db, filter, { limit: size, offset });
  return {
    ...pageOf({ page, page_size: size }, Math.min(count, MOST_COUNTED), items),
    more: count > MOST_COUNTED,
  };
}

/** For spreadsheets, written while it is read. */
async function* auditCsv(batches: AsyncIterable<AuditRecord[]>): AsyncGenerator<string> {
  yield csvLine(store.COLUMNS);
  for await (const records of batches)
    yield records
      .map(({ details, ...rest }) => {
        const record = { ...rest, details: JSON.stringify(details) };
        return csvLine(store.COLUMNS.map((column) => record[column]));
      })
      .join('');
}

/** `unlimited` has no time limit for statements: an export takes as long as it takes. */
export function auditRoutes(api: Api, { db, unlimited }: { db: Database; unlimited: Database }): void {
  api.serve(accounts.listAudit, ({ query: { page, page_size, ...filter } }) =>
    readPage(db, filter, { page, page_size }),
  );
  api.serve(accounts.exportAudit, async ({ query }) => {
    const tag = entityTag(await store.extentOfLog(db));
    const batches = store.recordsInBatches(unlimited, query, EXPORTED_AT_A_TIME);
    const headers = {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="audit.csv"',
    };
    return new Streamed(Readable.from(auditCsv(batches)), headers, { tag });
  });
}
