/** Tables as files that spreadsheets open. */
export type Cell = string | number | boolean | null;

/** Beginnings that spreadsheets would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function field(value: Cell): string {
  if (value === null) return '';
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvOf = (columns: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [columns, ...rows].map((row) => row.map(field).join(',')).join('\r\n') + '\r\n';
