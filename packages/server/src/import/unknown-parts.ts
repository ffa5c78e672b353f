/** Tables and columns that a site added of its own accord. They stay behind; the report says how much is in them. */
import { plural } from '@service/contract/plural';
import type pg from 'pg';

import { SOURCE_TABLES, type SourceTable } from './source-tables.ts';
import { literal, quoted } from './sql.ts';

interface Part {
  schema: string;
  table: string;
  /** Null for a whole table. */
  column: string | null;
  readable: boolean;
}

const isKnown = (table: string): table is SourceTable => Object.hasOwn(SOURCE_TABLES, table);

function isColumnKnown(table: SourceTable, column: string): boolean {
  const { columns, secret = [] } = SOURCE_TABLES[table];
  return columns.includes(column) || secret.includes(column);
}

async function findParts(source: pg.Client): Promise<Part[]> {
  const { rows } = await source.query<{ schema: string; table: string; columns: string[]; readable: boolean }>(
    `select n.nspname as schema, c.relname as table,
       has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select') as readable,
       array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
       left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where n.nspname !~ '^pg_' and n.nspname <> 'information_schema' and c.relkind in ('r', 'p') and not c.relispartition
       and (n.nspname, c.relname) <> ('public', 'alembic_version')
       and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
     group by c.oid, n.oid, n.nspname, c.relname order by n.nspname <> 'public', n.nspname, c.relname`,
  );
  return rows.flatMap(({ schema, table, columns, readable }): Part[] => {
    if (schema !== 'public' || !isKnown(table)) return [{ schema, table, column: null, readable }];
    const unknown = columns.filter((column) => !isColumnKnown(table, column));
    return unknown.map((column) => ({ schema, table, column, readable }));
  });
}

const stayBehind = (rows: string | null) =>
  rows === null
    ? 'Its rows, which the role cannot read, stay behind.'
    : `Its ${rows} ${plural(Number(rows), 'row stays', 'rows stay')} behind.`;

export async function unknownParts(source: pg.Client): Promise<{ table: string; text: string }[]> {
  const parts = await findParts(source);
  if (parts.length === 0) return [];
  const counts = parts.map(({ schema, table, column, readable }) => {
    const name = schema === 'public' ? table : `${schema}.${table}`;
    const what = column === null ? `The table ${name}` : `The column ${name}.${column}`;
    const counted = column === null ? '*' : quoted(column);
    const num = readable ? `(select count(${counted}) from ${quoted(schema)}.${quoted(table)})` : 'null';
    return `select ${literal(name)} as table, ${literal(what)} as what, ${num}::bigint as num`;
  });
  const { rows } = await source.query<{ table: string; what: string; num: string | null }>(counts.join(' union all '));
  return rows.map(({ table, what, num }) => ({
    table,
    text: `${what} is not the existing system's own. ${stayBehind(num)}`,
  }));
}
