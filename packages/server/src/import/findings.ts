/**
 * What rules found, kept in a table of the transaction: there may be a line for each of a million rows, and what is put
 * aside may be large.
 */
import type pg from 'pg';

import { type ImportLine, ProfileWrite, readValue, ResourceWrite } from '@service/contract';

import { copyRows } from './copy.ts';
import { findingsOf, type Mapping } from './mapping.ts';
import { type Rule, rulesThat } from './rules.ts';
import { unknownParts } from './unknown-parts.ts';

const COLUMNS = 'rule, "table", id, text, source_table, content';

export async function createFindings(target: pg.ClientBase): Promise<void> {
  await target.query(`
    create temp table import_findings (
      place bigint generated always as identity,
      rule text not null, "table" text not null, id text, text text not null, source_table text not null, content jsonb
    ) on commit drop`);
}

/** A source in another encoding does not know all signs that lines are written with. */
async function inSignsOf(source: pg.Client, select: string): Promise<string> {
  const { rows } = await source.query<{ server_encoding: string }>('show server_encoding');
  if (['UTF8', 'SQL_ASCII'].includes(rows[0]!.server_encoding)) return select;
  return select.replaceAll('→', '->').replaceAll('…', '...');
}

export async function find(source: pg.Client, target: pg.ClientBase, mapping: Mapping): Promise<void> {
  const found = findingsOf(mapping);
  if (found === undefined) return;
  const select = await inSignsOf(source, found);
  await copyRows(source, target, { select, into: `pg_temp.import_findings (${COLUMNS})` });
}

interface Note {
  rule: Rule;
  table: string;
  id: number | null;
  text: string;
}

async function addNotes(target: pg.ClientBase, notes: Note[]): Promise<void> {
  await target.query(
    `insert into pg_temp.import_findings (${COLUMNS})
     select rule, "table", id, text, "table", null from unnest($1::text[], $2::text[], $3::text[], $4::text[])
       with ordinality note (rule, "table", id, text, place) order by place`,
    [
      notes.map(({ rule }) => rule),
      notes.map(({ table }) => table),
      notes.map(({ id }) => id),
      notes.map(({ text }) => text),
    ],
  );
}

/** Resources and profiles that today's rules would refuse. They are imported all the same. */
async function invalidPlaces(target: pg.ClientBase): Promise<Note[]> {
  const kinds = [
    { table: 'resources', rule: 'resources.not-valid', schema: ResourceWrite },
    { table: 'profiles', rule: 'profiles.not-valid', schema: ProfileWrite },
  ] as const;
  const notes: Note[] = [];
  for (const { table, rule, schema } of kinds) {
    const { rows } = await target.query<{ id: number; name: string; row: object }>(
      `select id, name, to_jsonb(t) as row from ${table} t order by id`,
    );
    for (const { id, name, row } of rows) {
      const outcome = readValue<unknown>(schema, row, 'row');
      if ('value' in outcome) continue;
      const { loc, msg } = outcome.entries[0]!;
      const where = loc.slice(2).join('.');
      notes.push({
        rule,
        table,
        id,
        text: `${name}: ${where === '' ? '' : `${where}: `}${msg} Correct it before you use it.`,
      });
    }
  }
  return notes;
}

/** What code finds, and no SELECT. */
export async function noteTheRest(source: pg.Client, target: pg.ClientBase): Promise<void> {
  const unknown = await unknownParts(source);
  await addNotes(target, [
    ...(await invalidPlaces(target)),
    ...unknown.map((part) => ({ ...part, rule: 'source.unknown' as const, id: null })),
  ]);
}

/** By table: rows that were changed, rows that were left out, rows that are told elsewhere now. */
export async function countFindings(target: pg.ClientBase) {
  const { rows } = await target.query<{ table: string; changed: number; left_over: number; moved: number }>(
    `select "table", count(distinct id) filter (where rule = any($1)) as changed,
       count(*) filter (where rule = any($2)) as left_over, count(*) filter (where rule = any($3)) as moved
     from pg_temp.import_findings group by "table"`,
    [rulesThat('change', 'value'), rulesThat('leave'), rulesThat('move')],
  );
  return new Map(rows.map(({ table, ...numbers }) => [table, numbers]));
}

/** Ids are given here: those of the column would be used up by a trial, too. */
export async function keepRemainders(target: pg.ClientBase, importId: number): Promise<void> {
  const { rowCount } = await target.query(
    `insert into import_remainders (id, import_id, source_table, source_key, rule, content)
     select row_number() over (order by place), $1, source_table, coalesce(id, ''), rule, content
     from pg_temp.import_findings where content is not null`,
    [importId],
  );
  await target.query(`alter table import_remainders alter column id restart with ${(rowCount ?? 0) + 1}`);
}

const LINE = `json_build_object('rule', rule, 'table', "table",
  'id', case when id ~ '^[0-9]{1,10}$' then to_json(id::bigint) else to_json(id) end, 'text', text)`;

/** All lines as one JSON text, made by the database. */
export const LINES_AS_JSON = `(select coalesce(json_agg(${LINE} order by place)::text, '[]') from pg_temp.import_findings)`;

/** Goes through all lines, a few at a time. */
export async function* allLines(target: pg.ClientBase): AsyncGenerator<string[]> {
  await target.query(
    `declare import_lines cursor for select ${LINE}::text as line from pg_temp.import_findings order by place`,
  );
  for (;;) {
    const { rows } = await target.query<{ line: string }>('fetch 1000 from import_lines');
    if (rows.length === 0) break;
    yield rows.map(({ line }) => line);
  }
  await target.query('close import_lines');
}

export interface RuleSummary {
  rule: Rule;
  num: number;
  first: ImportLine[];
}

/** Each rule that found something: how often, and its first lines. */
export async function summarise(target: pg.ClientBase, lines: number): Promise<RuleSummary[]> {
  const { rows } = await target.query<RuleSummary>(
    `select rule, max(num) as num, json_agg(line order by number) as first from (
       select rule, place, count(*) over (partition by rule) as num,
         row_number() over (partition by rule order by place) as number, ${LINE} as line
       from pg_temp.import_findings) numbered
     where number <= $1 group by rule order by min(place)`,
    [lines],
  );
  return rows;
}
