/** Ids go on after the highest one that the source ever gave out: an id that was deleted there means nobody else here. */
import type pg from 'pg';

import type { Mapping } from './mapping.ts';
import { SOURCE_TABLES, sourceTableNames } from './source-tables.ts';
import { literal, quoted } from './sql.ts';

interface Sequence {
  table: string;
  name: string;
  readable: boolean;
}

/** What gives out the ids of each table: by its usual name, and by what the database itself knows, since names outlive tables. */
export async function sequencesOf(source: pg.Client): Promise<Sequence[]> {
  const tables = sourceTableNames.filter((name) => SOURCE_TABLES[name].columns.includes('id'));
  const { rows } = await source.query<Sequence>(
    `select distinct t.relname as table, s.relname as name, has_sequence_privilege(s.oid, 'select') as readable
     from pg_class t join pg_namespace n on n.oid = t.relnamespace
       join pg_attribute a on a.attrelid = t.oid and a.attname = 'id'
       join pg_class s on s.relnamespace = n.oid and s.relkind = 'S' and (s.relname = t.relname || '_id_seq' or exists (
         select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = s.oid
           and d.refclassid = 'pg_class'::regclass and d.refobjid = t.oid and d.refobjsubid = a.attnum))
     where n.nspname = 'public' and t.relname in (${tables.map(literal).join(', ')})`,
  );
  return rows;
}

const withId = (mappings: Mapping[]) => mappings.filter(({ columns }) => 'id' in columns);

/** The last id of each table, by the name of ours. Rows that were written by hand may be beyond the sequence. */
async function lastIds(source: pg.Client, mappings: Mapping[]): Promise<Map<string, number>> {
  const sequences = await sequencesOf(source);
  const queries = withId(mappings).map(({ table, source: from }) => {
    const given = sequences
      .filter((sequence) => sequence.table === from)
      .map(({ name }) => `(select case when is_called then last_value else 0 end from public.${quoted(name)})`);
    return `select '${table}' as table, greatest((select coalesce(max(id), 0) from public.${quoted(from)}), ${[...given, '0'].join(', ')}) as last`;
  });
  const { rows } = await source.query<{ table: string; last: string }>(queries.join(' union all '));
  return new Map(rows.map(({ table, last }) => [table, Number(last)]));
}

/** Unlike `setval`, this is undone with the transaction. */
export async function continueIds(source: pg.Client, target: pg.ClientBase, mappings: Mapping[]): Promise<void> {
  for (const [table, last] of await lastIds(source, mappings)) {
    await target.query(`alter table ${quoted(table)} alter column id restart with ${last + 1}`);
  }
}

/** The tables whose next id is not beyond their highest one. */
export async function tablesWithoutFreeIds(target: pg.ClientBase, mappings: Mapping[]): Promise<string[]> {
  const queries = withId(mappings).map(
    ({ table }) => `
      select '${table}' as table where
        (select coalesce(max(id), 0) from ${quoted(table)}) >=
        (select case when is_called then last_value + 1 else last_value end from ${quoted(`${table}_id_seq`)})`,
  );
  const { rows } = await target.query<{ table: string }>(queries.join(' union all '));
  return rows.map(({ table }) => table);
}
