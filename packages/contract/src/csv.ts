/**
 * Tables as files that spreadsheets open, and only read.
 *
 *     csvLine(['B/03', -1.5, '=HYPERLINK("https://…")']) // B/03,-1.5,"'=HYPERLINK(""https://…"")"\r\n
 *
 * A text that a spreadsheet would take for a formula gets an apostrophe in front, which spreadsheets understand as "this is
 * text". Numbers stay numbers, also where they are written as texts.
 *
 * It imports nothing, so that pages can have it alone.
 */

/** An object is a number as it was written. */
export type Cell = string | number | boolean | { readonly source: string } | null | undefined;

/** Also as the wide letters that some programs read as the narrow ones. */
const FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

const harmless = (text: string) => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);

function field(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  const text = typeof cell === 'object' ? cell.source : typeof cell === 'string' ? harmless(cell) : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvLine = (cells: readonly Cell[]): string => `${cells.map(field).join(',')}\r\n`;

export const csvOf = (columns: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  [columns, ...rows].map(csvLine).join('');
