/** Values that several tables may have and ours cannot: each with its line, and kept whole in the remainders. */
import type { Finding } from '../finding.ts';
import { hasHoles, isNoObject, type Json, jsonToKeep, literal, shown } from '../sql.ts';

/** A line, and a remainder, for each of these columns that holds something else than an object. */
export const notAnObject = (
  from: string,
  alias: string,
  columns: readonly string[],
  type: Json = 'jsonb',
  becomes: '{}' | 'null' = '{}',
): Finding[] =>
  columns.map((column) => ({
    rule: 'json.not-an-object',
    from,
    where: isNoObject(`${alias}.${column}`, type),
    id: `${alias}.id`,
    text: `${literal(`${column} `)} || ${shown(`${alias}.${column}::text`)} || ' → ${becomes}'`,
    content: `jsonb_build_object(${literal(column)}, ${jsonToKeep(`${alias}.${column}`, type)})`,
  }));

/** The same for lists of texts or numbers that have holes, or lists in them. */
export const withHoles = (from: string, alias: string, columns: readonly string[]): Finding[] =>
  columns.map((column) => ({
    rule: 'lists.holes',
    from,
    where: hasHoles(`${alias}.${column}`),
    id: `${alias}.id`,
    text: `${literal(`${column} `)} || ${shown(`${alias}.${column}::text`)} || ': only its values were kept, one after another'`,
    content: `jsonb_build_object(${literal(column)}, to_jsonb(${alias}.${column}))`,
  }));
