/** The type filters of a task while they are edited: rows that may be half-finished. */
export interface TypeRow {
  /** Stays with the row, whatever is done to the others. */
  id: number;
  key: string;
  value: boolean;
}

export type TypeFlags = Record<string, boolean>;

let lastId = 0;

export const typeRow = (key = '', value = true): TypeRow => ({ id: ++lastId, key, value });

export const rowsOf = (filters: TypeFlags): TypeRow[] =>
  Object.entries(filters).map(([key, value]) => typeRow(key, value));

export const filtersOf = (rows: readonly TypeRow[]): TypeFlags =>
  Object.fromEntries(rows.map(({ key, value }) => [key.trim(), value]));

/** What is wrong with single rows, by their id. */
export function rowProblems(rows: readonly TypeRow[], inputTypes: TypeFlags): Map<number, string> {
  const problems = new Map<number, string>();
  const seen = new Set<string>();
  for (const { id, key } of rows) {
    const name = key.trim();
    if (name === '') problems.set(id, 'Enter a name.');
    else if (seen.has(name)) problems.set(id, `“${name}” exists already.`);
    else if (Object.hasOwn(inputTypes, name)) problems.set(id, `The task decides about “${name}” itself.`);
    seen.add(name);
  }
  return problems;
}

/** With one more filter; one of the same name is replaced. */
export const withFilter = (rows: readonly TypeRow[], key: string, value: boolean): TypeRow[] =>
  rows.some((row) => row.key.trim() === key)
    ? rows.map((row) => (row.key.trim() === key ? { ...row, value } : row))
    : [...rows, typeRow(key, value)];

/** The same filters, in whatever order. */
export function sameFilters(a: TypeFlags, b: TypeFlags): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}
