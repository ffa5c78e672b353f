/**
 * Statements that touch every image of a dataset cost little more than the rows that they write.
 *
 * - Who changes many images may bring their tags along, as who adds them.
 * - Facets are changed by what a statement adds and takes away: attributes and types that stay are summed up to nothing
 *   before anything is looked up.
 * - What images and their status refer to is looked for once a statement. A foreign key looks once a row, which takes longer
 *   than to write it.
 */
import { type Kysely, sql } from 'kysely';

type Sql = ReturnType<typeof sql>;

export async function up(db: Kysely<unknown>): Promise<void> {
  await tags(db);
  await facets(db);
  await references(db);
}

async function tags(db: Kysely<unknown>): Promise<void> {
  await sql`drop trigger images_tagged_on_update on images`.execute(db);
  await sql`
    create trigger images_tagged_on_update before update of attributes, types on images
      for each row when (new.tags is not distinct from old.tags) execute function set_image_tags()`.execute(db);
}

const [ADDED, GONE] = [sql`select *, 1 as num from new_rows`, sql`select *, -1 as num from old_rows`];

/** Where rows are added and taken away, objects that stay are left out first. */
const CHANGED = sql`
  select dataset_id, attributes, min(position) as position, sum(num) as num from (${ADDED} union all ${GONE}) r
  group by dataset_id, attributes having sum(num) <> 0`;

/** How many images more or fewer have a tag, where it is not as many as before. */
const difference = (rows: Sql, objects = rows) => sql`
  with attributes as (
    select dataset_id, key, value, min(position) as first, sum(num) as num
    from (${objects}) objects, jsonb_each(attributes)
    group by dataset_id, key, value
  ), types as (
    select dataset_id, key, value, sum(num) as num
    from (select dataset_id, types, sum(num) as num from (${rows}) r
          group by dataset_id, types having sum(num) <> 0) objects, jsonb_each(types)
    group by dataset_id, key, value
  ), difference as (
    select dataset_id, image_attribute_tag(dataset_id, key, value) as tag, 'attribute' as kind, min(key) as key,
           (array_agg(value order by first))[1] as value, sum(num) as num
    from attributes group by 1, 2 having sum(num) <> 0
    union all
    select dataset_id, image_type_tag(dataset_id, key, value = 'true'::jsonb), 'type', key, value, num
    from types where num <> 0
  )`;

const addFacets = (where: Sql) => sql`
  insert into image_facets as f (dataset_id, tag, kind, key, value, num_images)
  select dataset_id, tag, kind, key, value, num from difference where ${where} order by dataset_id, tag
  on conflict (dataset_id, tag) do update set num_images = f.num_images + excluded.num_images`;

/** A dataset that is being deleted takes its facets along: nothing is added for what goes. */
const takeFacets = sql`
  update image_facets f set num_images = f.num_images + gone.num
  from difference gone where gone.num < 0 and f.dataset_id = gone.dataset_id and f.tag = gone.tag`;

async function facets(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function count_image_facets() returns trigger language plpgsql set work_mem = '32MB' as $body$
    begin
      if tg_op = 'INSERT' then
        ${difference(ADDED)}
        ${addFacets(sql`true`)};
        update datasets d
        set num_images = d.num_images + c.num, next_position = greatest(d.next_position, c.last + 1)
        from (select dataset_id, count(*) as num, max(position) as last from new_rows group by dataset_id) c
        where d.id = c.dataset_id;
        return null;
      end if;
      if tg_op = 'UPDATE' then
        ${difference(sql`${ADDED} union all ${GONE}`, CHANGED)}, gone as (${takeFacets})
        ${addFacets(sql`num > 0`)};
      else
        ${difference(GONE)}
        ${takeFacets};
        update datasets d set num_images = d.num_images - c.num
        from (select dataset_id, count(*) as num from old_rows group by dataset_id) c where d.id = c.dataset_id;
      end if;
      delete from image_facets f using (select distinct dataset_id from old_rows) o
      where f.dataset_id = o.dataset_id and f.num_images = 0;
      return null;
    end
    $body$`.execute(db);
}

interface Reference {
  table: string;
  column: string;
  parent: string;
}

const REFERENCES: Reference[] = [
  { table: 'images', column: 'dataset_id', parent: 'datasets' },
  { table: 'history_image_cache', column: 'dataset_id', parent: 'datasets' },
  { table: 'history_image_cache', column: 'workflowtask_id', parent: 'workflow_tasks' },
  { table: 'history_image_cache', column: 'latest_history_unit_id', parent: 'history_units' },
];

/** As a foreign key does: who deletes it meanwhile waits, or was first. Units go with their run, and a run has many. */
const held = ({ column, parent }: Reference): Sql =>
  parent === 'history_units'
    ? sql`perform from history_runs where id in (
            select history_run_id from history_units where id in (select latest_history_unit_id from new_rows)
          ) order by id for key share`
    : sql`perform from ${sql.table(parent)} where id in (select ${sql.ref(column)} from new_rows) order by id for key share`;

const keyOf = ({ table, column }: Reference) => `${table}_${column}_fkey`;

const required = (reference: Reference): Sql => sql`
  ${held(reference)};
  select ${sql.ref(reference.column)} into missing
  from (select distinct ${sql.ref(reference.column)} from new_rows) n
  where not exists (select from ${sql.table(reference.parent)} p where p.id = n.${sql.ref(reference.column)}) limit 1;
  if found then
    raise foreign_key_violation using constraint = ${sql.lit(keyOf(reference))}, table = ${sql.lit(reference.table)},
      message = format(${sql.lit(`${reference.table} refers to %s of ${reference.parent}, which is not there`)}, missing);
  end if`;

async function references(db: Kysely<unknown>): Promise<void> {
  for (const reference of REFERENCES) {
    await sql`
      alter table ${sql.table(reference.table)} drop constraint ${sql.ref(keyOf(reference))}`.execute(db);
  }
  for (const [table, its] of Map.groupBy(REFERENCES, (reference) => reference.table)) {
    const name = sql.ref(`require_references_of_${table}`);
    await sql`
      create function ${name}() returns trigger language plpgsql as $body$
      declare missing integer;
      begin
        ${sql.join(its.map(required), sql`; `)};
        return null;
      end
      $body$`.execute(db);
    await sql`
      create trigger ${sql.ref(`${table}_belonging_on_insert`)} after insert on ${sql.table(table)}
        referencing new table as new_rows for each statement execute function ${name}()`.execute(db);
  }
  // the status of an image moves on to another unit, but an image stays where it is
  await sql`
    create trigger history_image_cache_belonging_on_update after update on history_image_cache
      referencing new table as new_rows for each statement
      execute function require_references_of_history_image_cache()`.execute(db);
  await sql`
    create function refuse_to_move_image() returns trigger language plpgsql as $body$
    begin
      raise integrity_constraint_violation using message = 'An image stays in its dataset.';
    end
    $body$`.execute(db);
  await sql`
    create trigger images_staying before update of dataset_id on images
      for each row when (new.dataset_id <> old.dataset_id) execute function refuse_to_move_image()`.execute(db);
  for (const [parent, its] of Map.groupBy(REFERENCES, (reference) => reference.parent)) {
    const name = sql.ref(`remove_images_of_${parent}`);
    const removals = its.map(
      ({ table, column }) => sql`delete from ${sql.table(table)} where ${sql.ref(column)} in (select id from old_rows)`,
    );
    await sql`
      create function ${name}() returns trigger language plpgsql as $body$
      begin
        ${sql.join(removals, sql`; `)};
        return null;
      end
      $body$`.execute(db);
    await sql`
      create trigger ${sql.ref(`${parent}_images_removed`)} after delete on ${sql.table(parent)}
        referencing old table as old_rows for each statement execute function ${name}()`.execute(db);
  }
}
