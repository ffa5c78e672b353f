/** The audit log for spreadsheets, written while it is read. */
import type { AuditRecord } from '@service/contract';

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

/** A cell that begins like a formula is a text for spreadsheets only behind an apostrophe. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const line = (cells: unknown[]) => `${cells.map(cell).join(',')}\r\n`;

export async function* auditCsv(batches: AsyncIterable<AuditRecord[]>): AsyncGenerator<string> {
  yield line([...COLUMNS]);
  for await (const records of batches)
    yield records.map((record) => line(COLUMNS.map((column) => record[column]))).join('');
}
