/** How a table of the source becomes one of ours: a SELECT, and what it finds on the way. */
import { type Finding, NO_ROW } from './finding.ts';
import type { References } from './references.ts';
import type { SourceTable } from './source-tables.ts';
import { literal, quoted } from './sql.ts';
import { isTime, readableTime } from './times.ts';

/** What is decided before anything is copied. */
export interface Plan extends References {
  /** When unfinished work ended: PostgreSQL's text of a time. */
  importedAt: string;
  /** Who gets projects without an owner. */
  orphansTo: number | null;
  /** New values for rows that would collide, by id. */
  emails: ReadonlyMap<number, string>;
  projectNames: ReadonlyMap<number, string>;
  workflowNames: ReadonlyMap<number, string>;
  /** Some image needs a rule. */
  oddImages: boolean;
}

export interface Mapping {
  table: string;
  source: SourceTable;
  /** Our columns, each with what is selected for it. */
  columns: Record<string, string>;
  from: string;
  findings: Finding[];
  /** The rows that the source has, where these are not the rows of its table. */
  sourceRows?: string;
}

/** Columns that are copied as they are. */
export const asTheyAre = (alias: string, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.map((name) => {
      const column = `${alias}.${quoted(name)}`;
      return [name, isTime(name) ? readableTime(column) : column];
    }),
  );

export const columnNames = ({ columns }: Mapping) => Object.keys(columns).map(quoted).join(', ');

/** The rows of our table, made from those of the source. Copied, and summed up, with this one text. */
export function selectOf({ columns, from }: Mapping): string {
  const selected = Object.entries(columns).map(([name, expression]) => `${expression} as ${quoted(name)}`);
  return `select ${selected.join(', ')} from ${from}`;
}

/** All that is found in the table, as rows of `import_findings`. */
export function findingsOf({ table, source, findings }: Mapping): string | undefined {
  const selects = findings.map(
    ({ rule, from, where, id, text, content, order }) =>
      `(select ${literal(rule)}, ${literal(table)}, (${id})::text, (${text})::text, ${literal(source)},
         (${content ?? 'null'})::jsonb
       from ${from} where ${where} ${id === NO_ROW ? '' : `order by ${order ?? id}`})`,
  );
  return selects.length === 0 ? undefined : selects.join('\nunion all\n');
}
