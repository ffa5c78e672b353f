/**
 * Images that are added to the end of a list: one in one round trip, many by COPY. Of many, tags and facets are computed once a
 * value (engine/image-rows.ts), and the trigger is told so (db/migrations/0016-brought-facets.ts).
 */
import { sql, type Transaction } from 'kysely';

import type { ImageCreate } from '@service/contract';

import { copyInto, type Tables } from '../../db/index.ts';
import { imageLines, type ImageRows, placedLines } from '../../engine/image-rows.ts';
import type { Executor } from './access.ts';

/** Values of images, as engine/image-rows.ts lists them, with the tag of each. */
const tagged = (datasetId: number, values: Uint8Array) => sql`
  select number, kind, key, value, num, case kind when 'type' then image_type_tag(${datasetId}, key, value = 'true'::jsonb)
                                                  else image_attribute_tag(${datasetId}, key, value) end as tag
  from jsonb_array_elements(${values}::json::jsonb) with ordinality as list (item, number)
    cross join lateral (select item ->> 0 as kind, item ->> 1 as key, item -> 2 as value, (item -> 3)::bigint as num) as fields`;

const ALL_TAGS = sql<string>`coalesce(array_agg(tag order by number), '{}')::text`;

/** The tags of all values, in their order. */
export async function tagsOf(db: Executor, datasetId: number, values: Uint8Array): Promise<string> {
  const { rows } = await sql<{ tags: string }>`
    select ${ALL_TAGS} as tags from (${tagged(datasetId, values)}) as tagged`.execute(db);
  return rows[0]!.tags;
}

/** Room for the rows of a hundred thousand images, which triggers and the index of tags look at together. */
const ENOUGH_MEMORY = '64MB';

const withMemory = sql`
  case when pg_size_bytes(current_setting('work_mem')) < pg_size_bytes(${ENOUGH_MEMORY})
    then set_config('work_mem', ${ENOUGH_MEMORY}, true) end`;

/** The same, for new images: their facets are counted, and the trigger is told that those of these rows are. */
async function countFacets(
  db: Transaction<Tables>,
  datasetId: number,
  { count, values }: ImageRows,
  first: number,
): Promise<string[]> {
  const brought = [datasetId, first, first + count - 1, count].join(' ');
  const { rows } = await sql<{ tags: string }>`
    with tagged as materialized (${tagged(datasetId, values)}), counted as (
      insert into image_facets as f (dataset_id, tag, kind, key, value, num_images)
      select ${datasetId}, tag, kind, min(key), (array_agg(value order by number))[1], sum(num)
      from tagged group by tag, kind order by tag
      on conflict (dataset_id, tag) do update set num_images = f.num_images + excluded.num_images
    )
    select ${ALL_TAGS} as tags, set_config('service.brought_facets', ${brought}, true), ${withMemory} from tagged`.execute(
    db,
  );
  return rows[0]!.tags.slice(1, -1).split(',');
}

/** Adds lines to the end of the list, in order. Fails on one that is there, by the constraint images_zarr_url_unique. */
export async function insertRows(db: Transaction<Tables>, datasetId: number, images: ImageRows): Promise<void> {
  const { count, texts } = images;
  const { rows } = await sql<{ first: number }>`
    update datasets set next_position = next_position + ${count}
    where id = ${datasetId} returning next_position - ${count} as first`.execute(db);
  const place = rows[0];
  if (!place || count === 0) return;
  const tags = await countFacets(db, datasetId, images, place.first);
  const into = 'images (dataset_id, position, tags, zarr_url, origin, attributes, types)';
  await db.executeQuery(copyInto(into, placedLines(texts, { datasetId, first: place.first, tags })));
}

export const insertImages = (db: Transaction<Tables>, datasetId: number, images: ImageCreate[]): Promise<void> =>
  insertRows(db, datasetId, imageLines(images));

/** One image, in one round trip; its tags are computed where it is stored. */
export async function insertImage(db: Executor, datasetId: number, image: ImageCreate): Promise<void> {
  const { zarr_url, origin, attributes, types } = image;
  await sql`
    with place as (
      update datasets set next_position = next_position + 1
      where id = ${datasetId} returning id, next_position - 1 as position
    )
    insert into images (dataset_id, position, zarr_url, origin, attributes, types)
    select place.id, place.position, ${zarr_url}, ${origin}, ${JSON.stringify(attributes)}::jsonb, ${JSON.stringify(types)}::jsonb
    from place`.execute(db);
}
