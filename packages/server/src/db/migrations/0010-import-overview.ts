/**
 * What pages show of an import: the report without most of its lines, of which there may be one for every row. Nobody waits
 * for all of them to be read.
 */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table imports add column overview jsonb not null default '{}'`.execute(db);
  await sql`
    update imports set overview = report::jsonb - 'rules' - 'dry_run' || jsonb_build_object('rules', coalesce((
      select jsonb_agg(jsonb_build_object('rule', rule, 'num', num, 'first', first) order by place) from (
        select rule, min(place) as place, count(*) as num, jsonb_agg(line order by place) filter (where number <= 20) as first
        from (
          select line ->> 'rule' as rule, line::jsonb, place, row_number() over (partition by line ->> 'rule' order by place) as number
          from json_array_elements(imports.report -> 'rules') with ordinality listed (line, place)
        ) numbered group by rule
      ) rules), '[]'))`.execute(db);
  await sql`alter table imports alter column overview drop default`.execute(db);
}
