/** Pieces of SQL text. COPY takes no parameters, so that values stand in its text, quoted here. */
import pg from 'pg';

export const quoted = (identifier: string) => pg.escapeIdentifier(identifier);
export const literal = (text: string) => pg.escapeLiteral(text);
export const listed = (texts: readonly string[]) => texts.map(literal).join(', ');

/** Ends all limits of time that a server, database or role may set, as far as this version of PostgreSQL knows them. */
export const noLimits = (scope: 'session' | 'transaction') => `
  select set_config(name, '0', ${scope === 'transaction'}) from pg_settings
  where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`;

/** The length of a text as our own database, which is in UTF-8, stores it. */
export const bytesOf = (expression: string) => `octet_length(convert_to(${expression}, 'UTF8'))`;

/** `expression`, with another value for some rows. */
export function renamed(id: string, expression: string, names: ReadonlyMap<number, string>): string {
  if (names.size === 0) return expression;
  const cases = [...names].map(([row, name]) => `when ${row} then ${literal(name)}`);
  return `case ${id} ${cases.join(' ')} else ${expression} end`;
}

export type Json = 'json' | 'jsonb';

/** Nothing, and the JSON text `null`, mean the same in existing databases. */
export const jsonOrNull = (expression: string, type: Json = 'jsonb') =>
  `case when ${type}_typeof(${expression}) <> 'null' then ${expression} end`;

export const jsonOrEmpty = (expression: string, type: Json = 'jsonb') =>
  `case when ${type}_typeof(${expression}) <> 'null' then ${expression} else '{}' end`;

export const objectOrEmpty = (expression: string, type: Json = 'jsonb') =>
  `case when ${type}_typeof(${expression}) = 'object' then ${expression} else '{}' end`;

export const objectOrNull = (expression: string, type: Json = 'jsonb') =>
  `case when ${type}_typeof(${expression}) = 'object' then ${expression} end`;

/** What these two put aside. */
export const isNoObject = (expression: string, type: Json = 'jsonb') =>
  `${type}_typeof(${expression}) not in ('object', 'null')`;

/** As jsonb; a text that jsonb may refuse (with the character 0, or half of one) stays the text that it is. */
export const jsonToKeep = (expression: string, type: Json) =>
  type === 'jsonb'
    ? expression
    : String.raw`case when ${expression}::text ~* '\\u(0000|d[89a-f])' then to_jsonb(${expression}::text) else ${expression}::jsonb end`;

/** The values of a list without holes, whatever its shape. */
const flat = (list: string) =>
  `array(select listed.value from unnest(${list}) with ordinality listed (value, place) where listed.value is not null order by listed.place)`;

/** Whether a list has holes, or lists in it. */
export const hasHoles = (list: string) =>
  `case when array_ndims(${list}) > 1 then true else array_position(${list}, null) is not null end`;

/** A list as our tables have it: texts or numbers, one after another. */
export const filled = (list: string) =>
  `case when ${hasHoles(list)} then ${flat(list)} else coalesce(${list}, '{}') end`;

/** A text for a line of the report, at most so long that it is read. */
export const shown = (expression: string) =>
  `case when length(${expression}) > 120 then left(${expression}, 120) || '…' else coalesce(${expression}, 'null') end`;
