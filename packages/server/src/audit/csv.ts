/** The audit log for spreadsheets, written while it is read. */
import { type AuditRecord, csvLine } from '@service/contract';

import { COLUMNS } from './store.ts';

export async function* auditCsv(batches: AsyncIterable<AuditRecord[]>): AsyncGenerator<string> {
  yield csvLine(COLUMNS);
  for await (const records of batches)
    yield records
      .map(({ details, ...rest }) => {
        const record = { ...rest, details: JSON.stringify(details) };
        return csvLine(COLUMNS.map((column) => record[column]));
      })
      .join('');
}
