/** The audit log for spreadsheets, written while it is read. */
import { type AuditRecord, csvLine } from '@service/contract';

const COLUMNS = [
  'id',
  'timestamp',
  'user_id',
  'user_email',
  'as_user_id',
  'as_user_email',
  'via',
  'address',
  'action',
  'object_type',
  'object_id',
  'object_name',
  'details',
] as const satisfies (keyof AuditRecord)[];

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
