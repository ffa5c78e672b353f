/**
 * References that lead nowhere. They exist only where somebody removed a foreign key, or wrote past it; then the row, or the
 * reference, is put aside, and with a row everything that cannot be without it.
 *
 * `rows('jobv2')` is what to select from: the table itself, or the part of it whose references hold.
 */
import type { Finding } from './finding.ts';
import { keyOf, referencesOf, SOURCE_TABLES, type SourceTable, sourceTableNames } from './source-tables.ts';
import { literal, quoted } from './sql.ts';

export interface References {
  rows(table: SourceTable): string;
  /** What was put aside in this table. */
  missing(table: SourceTable): Finding[];
}

const whole = (table: SourceTable) => `public.${quoted(table)}`;

/** A query for every reference: its name, and whether a row of the table has one that leads nowhere. */
export function brokenReferences(): string {
  const checks = sourceTableNames.flatMap((table) =>
    referencesOf(table).map(
      ({ column, to, nullable }) =>
        `select ${literal(`${table}.${column}`)} as reference where exists (
           select from ${whole(table)} t left join ${whole(to)} p on p.id = t.${quoted(column)}
           where p.id is null ${nullable ? `and t.${quoted(column)} is not null` : ''})`,
    ),
  );
  return checks.join(' union all ');
}

/** What identifies a row, as text: `7`, or `7/3` where it takes several columns. */
export const keyText = (table: SourceTable, alias: string) =>
  `concat_ws('/', ${keyOf(table)
    .map((column) => `${alias}.${quoted(column)}`)
    .join(', ')})`;

/** A row as JSON, without its secrets. */
const contentOf = (table: SourceTable, alias: string) =>
  `jsonb_build_object(${SOURCE_TABLES[table].columns
    .map((column) => `${literal(column)}, ${alias}.${quoted(column)}`)
    .join(', ')})`;

export function referencesWithout(broken: ReadonlySet<string>): References {
  const losing = new Set<SourceTable>();
  const uncertain = (table: SourceTable) =>
    referencesOf(table).filter(({ column, to }) => broken.has(`${table}.${column}`) || losing.has(to));
  for (const table of sourceTableNames) {
    if (uncertain(table).some(({ nullable }) => !nullable)) losing.add(table);
  }
  const holds = (alias: string, { column, to }: { column: string; to: SourceTable }) =>
    `${alias}.${quoted(column)} in (select id from ${rows(to)} parent)`;

  function rows(table: SourceTable): string {
    const doubtful = uncertain(table);
    if (doubtful.length === 0) return whole(table);
    const nulled = doubtful.filter(({ nullable }) => nullable);
    const columns = SOURCE_TABLES[table].columns.map((column) => {
      const reference = nulled.find((one) => one.column === column);
      const name = quoted(column);
      return reference ? `case when ${holds('t', reference)} then t.${name} end as ${name}` : `t.${name}`;
    });
    const needed = doubtful.filter(({ nullable }) => !nullable).map((reference) => holds('t', reference));
    return `(select ${columns.join(', ')} from ${whole(table)} t ${needed.length > 0 ? `where ${needed.join(' and ')}` : ''})`;
  }

  function missing(table: SourceTable): Finding[] {
    const doubtful = uncertain(table);
    const needed = doubtful.filter(({ nullable }) => !nullable);
    const found = { from: `${whole(table)} t`, id: keyText(table, 't') };
    const tells = ({ column, to }: { column: string; to: SourceTable }) =>
      `${literal(`${column} `)} || coalesce(t.${quoted(column)}::text, 'null') || ${literal(` leads to no row of ${to}`)}`;
    const kept = needed.map((reference) => holds('t', reference)).join(' and ');
    const rowFindings: Finding[] =
      needed.length === 0
        ? []
        : [
            {
              ...found,
              rule: 'references.row',
              where: `(${kept}) is not true`,
              text: `concat_ws('; ', ${needed.map((one) => `case when (${holds('t', one)}) is not true then ${tells(one)} end`).join(', ')}) || '. The row was left out.'`,
              content: contentOf(table, 't'),
            },
          ];
    const nullFindings = doubtful
      .filter(({ nullable }) => nullable)
      .map((reference): Finding => {
        const lost = `t.${quoted(reference.column)} is not null and not (${holds('t', reference)})`;
        return {
          ...found,
          rule: 'references.null',
          where: kept === '' ? lost : `${lost} and ${kept}`,
          text: `${tells(reference)} || ' → null'`,
          content: `jsonb_build_object(${literal(reference.column)}, t.${quoted(reference.column)})`,
        };
      });
    return [...rowFindings, ...nullFindings];
  }

  return { rows, missing };
}
