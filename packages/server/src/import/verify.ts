/**
 * Is everything there? Both sides are summed up in their own transactions: the source with the very SELECT that was copied,
 * ours over the same columns. A sum of hashes does not depend on the order of rows, nor on PostgreSQL's version.
 */
import type pg from 'pg';

import { columnNames, type Mapping, selectOf } from './mapping.ts';

export interface Sum {
  rows: number;
  sum: string;
}

/** The bytes of a text differ with the encoding of its database; they are compared in one. */
const summed = (rows: string, columns: string) => `
  select count(*) as rows,
    coalesce(sum(('x' || substr(md5(convert_to(row(${columns})::text, 'UTF8')), 1, 15))::bit(60)::bigint), 0)::text as sum
  from ${rows}`;

async function sumOf(client: pg.ClientBase, query: string): Promise<Sum> {
  const { rows } = await client.query<{ rows: string | number; sum: string }>(query);
  return { rows: Number(rows[0]!.rows), sum: rows[0]!.sum };
}

export const sumOfSource = (source: pg.Client, mapping: Mapping) =>
  sumOf(source, summed(`(${selectOf(mapping)}) selected`, columnNames(mapping)));

export const sumOfTarget = (target: pg.ClientBase, mapping: Mapping) =>
  sumOf(target, summed(mapping.table, columnNames(mapping)));

export const isEqual = (one: Sum, other: Sum) => one.rows === other.rows && one.sum === other.sum;

/** The rows that the source has, counted without the mapping. */
export async function countSource(source: pg.Client, { source: table, sourceRows }: Mapping): Promise<number> {
  const { rows } = await source.query<{ count: string }>(sourceRows ?? `select count(*) from public.${table}`);
  return Number(rows[0]!.count);
}

/**
 * What triggers count, counted again from the rows: the name of a count, and how many of its numbers differ. A row that
 * refers to nothing is counted here and not by the triggers.
 */
const RECOUNTS: Record<string, string> = {
  'datasets.num_images': `
    select count(*) as wrong from datasets d full join (
      select dataset_id, count(*) as num, max(position) + 1 as next from images group by dataset_id) i on i.dataset_id = d.id
    where d.id is null or d.num_images <> coalesce(i.num, 0) or d.next_position < coalesce(i.next, 0)`,
  image_facets: `
    select count(*) as wrong from (
      select dataset_id, tag, num_images from image_facets) f full join (
      select dataset_id, image_attribute_tag(dataset_id, key, value) as tag, sum(num) as num_images from (
        select i.dataset_id, e.key, e.value, count(*) as num from images i, jsonb_each(i.attributes) e group by 1, 2, 3) a
      group by 1, 2
      union all
      select dataset_id, image_type_tag(dataset_id, key, value = 'true'::jsonb), num from (
        select i.dataset_id, e.key, e.value, count(*) as num from images i, jsonb_each(i.types) e group by 1, 2, 3) t
    ) counted using (dataset_id, tag)
    where f.num_images is distinct from counted.num_images`,
  history_unit_counts: `
    select count(*) as wrong from (
      select history_run_id, is_init, state, status, cause, has_warnings, num_units from history_unit_counts) c full join (
      select history_run_id, is_init, unit_state(status, cause, timestamp_started, timestamp_ended) as state, status,
        coalesce(cause, '') as cause, has_warnings, count(*) as num_units
      from history_units group by 1, 2, 3, 4, 5, 6
    ) counted using (history_run_id, is_init, state, status, cause, has_warnings)
    where c.num_units is distinct from counted.num_units`,
  history_image_counts: `
    select count(*) as wrong from (
      select dataset_id, workflowtask_id, status, has_warnings, num_images from history_image_counts) c full join (
      select cache.dataset_id, cache.workflowtask_id, unit.status, unit.has_warnings, count(*) as num_images
      from history_image_cache cache left join history_units unit on unit.id = cache.latest_history_unit_id group by 1, 2, 3, 4
    ) counted using (dataset_id, workflowtask_id, status, has_warnings)
    where c.num_images is distinct from counted.num_images`,
};

/** The counts that are not what the rows say. */
export async function wrongCounts(target: pg.ClientBase): Promise<string[]> {
  const wrong = [];
  for (const [name, query] of Object.entries(RECOUNTS)) {
    const { rows } = await target.query<{ wrong: string | number }>(query);
    if (Number(rows[0]!.wrong) > 0) wrong.push(name);
  }
  return wrong;
}

/** For each dataset the length of its list, against its images and what was put aside of it. */
export async function listsAreWhole(
  source: pg.Client,
  target: pg.ClientBase,
  { rows }: { rows(table: 'datasetv2'): string },
  leaving: readonly string[],
): Promise<boolean> {
  const lists = `(select id, case when jsonb_typeof(images) = 'array' then jsonb_array_length(images) else 0 end as num
    from ${rows('datasetv2')} d) lists`;
  const kept = `(select d.id, d.num_images + coalesce(r.num, 0) as num from datasets d left join (
      select split_part(source_key, '/', 1)::integer as id, count(*) as num from import_remainders
      where source_table = 'datasetv2' and rule in (${leaving.map((rule) => target.escapeLiteral(rule)).join(', ')}) group by 1
    ) r on r.id = d.id) lists`;
  const [listed, found] = await Promise.all([
    sumOf(source, summed(lists, 'id, num')),
    sumOf(target, summed(kept, 'id, num')),
  ]);
  return isEqual(listed, found);
}
