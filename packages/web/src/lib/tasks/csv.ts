/** Tables as files that spreadsheets read. */
const cell = (value: string | number | boolean | null): string => {
  const text = value === null ? '' : String(value);
  // a spreadsheet would take these for formulas
  const safe = /^[=+\-@\t\r]/.test(text) && typeof value === 'string' ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const csvOf = (head: string[], rows: (string | number | boolean | null)[][]): string =>
  [head, ...rows].map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
