/**
 * Times as clients can read them: PostgreSQL knows times before the year 1, after 9999, and without end. Columns without a
 * time zone are in UTC.
 */
import type { Finding } from './finding.ts';
import { keyText, type References } from './references.ts';
import { SOURCE_TABLES, type SourceTable } from './source-tables.ts';
import { literal, quoted } from './sql.ts';

const FIRST = `'0001-01-01 00:00:00+00'::timestamptz`;
const LAST = `'9999-12-31 23:59:59.999999+00'::timestamptz`;

export const isTime = (column: string) => /^timestamp|_timestamp$/.test(column);

const clamped = (time: string) => `least(greatest((${time})::timestamptz, ${FIRST}), ${LAST})`;

/** Nothing stays nothing. */
export const readableTime = (time: string) => `case when (${time}) is not null then ${clamped(time)} end`;

/** A line for each time of the table that became another one. */
export const strangeTimes = (references: Pick<References, 'rows'>, table: SourceTable): Finding[] =>
  SOURCE_TABLES[table].columns.filter(isTime).map((column) => {
    const time = `t.${quoted(column)}`;
    return {
      rule: 'times.out-of-range',
      from: `${references.rows(table)} t`,
      where: `(${time})::timestamptz not between ${FIRST} and ${LAST}`,
      id: keyText(table, 't'),
      text: `${literal(`${column} `)} || ${time}::text || ' → ' || ${clamped(time)}::text`,
    };
  });
