/**
 * Who adds many images may bring their facets along, as their tags: counted where the images were read, they need no second
 * look at each image.
 *
 * Such a writer says for which rows that holds, in a setting of its transaction: `service.brought_facets` is `dataset, first
 * position, last position, number of rows`. A statement that added other rows, or more, is counted as that of anybody else.
 * A position occurs once in a dataset, so that no later statement is taken for this one.
 */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function count_added_images() returns trigger language plpgsql set work_mem = '32MB' as $body$
    declare added text;
    begin
      with counts as (
        select dataset_id, min(position) as first, max(position) as last, count(*) as num from new_rows group by dataset_id
      ), counted as (
        update datasets d set num_images = d.num_images + num, next_position = greatest(d.next_position, last + 1)
        from counts where d.id = counts.dataset_id
      )
      select string_agg(concat_ws(' ', dataset_id, first, last, num), ', ') into added from counts;
      if added = current_setting('service.brought_facets', true) then
        return null;
      end if;
      insert into image_facets as f (dataset_id, tag, kind, key, value, num_images)
      select dataset_id, image_attribute_tag(dataset_id, key, value) as tag, 'attribute', min(key),
             (array_agg(value order by first))[1], sum(num)
      from (select dataset_id, key, value, min(position) as first, count(*) as num
            from new_rows, jsonb_each(attributes) group by dataset_id, key, value) attributes
      group by dataset_id, tag
      union all
      select dataset_id, image_type_tag(dataset_id, key, value = 'true'::jsonb), 'type', key, value, sum(num)
      from (select dataset_id, types, count(*) as num from new_rows group by dataset_id, types) objects, jsonb_each(types)
      group by dataset_id, key, value
      order by dataset_id, tag
      on conflict (dataset_id, tag) do update set num_images = f.num_images + excluded.num_images;
      return null;
    end
    $body$`.execute(db);
  await sql`drop trigger images_inserted on images`.execute(db);
  await sql`
    create trigger images_inserted after insert on images referencing new table as new_rows
      for each statement execute function count_added_images()`.execute(db);
}
