/**
 * The SQL of what a task does with the images of a dataset: which ones it gets, and how the list changes afterwards.
 *
 * Changes go to single images, so that what people edit meanwhile stays.
 */
import { sql, type Transaction } from 'kysely';

import type { Image, ImageFilters, ImageStatus } from '@service/contract';

import type { Tables } from '../../db/index.ts';
import { imageRows } from '../../engine/image-rows.ts';
import type { Executor } from './access.ts';
import { conditions, statusOf } from './images.ts';
import { insertImages, tagsOf } from './new-images.ts';

type Trx = Transaction<Tables>;

/** Writers of images have one dataset for themselves; false when it is gone. Rows that only refer to it need not wait. */
export async function holdDataset(trx: Trx, datasetId: number): Promise<boolean> {
  const dataset = trx.selectFrom('datasets').select('id').where('id', '=', datasetId);
  return (await dataset.forNoKeyUpdate().executeTakeFirst()) !== undefined;
}

export interface Selection {
  datasetId: number;
  filters: ImageFilters;
  /** Only images that this job remembers. */
  ofJob?: number | undefined;
  /** Only images with which a task got so far. */
  status?: { workflowtask_id: number; statuses: ImageStatus[] } | undefined;
}

/** In the order of the list. */
export async function selectUrls(trx: Trx, { datasetId, filters, ofJob, status }: Selection): Promise<string[]> {
  const remembered =
    ofJob === undefined
      ? sql`true`
      : sql`exists (select from job_images j where j.job_id = ${ofJob} and j.zarr_url = images.zarr_url)`;
  const { rows } = await sql<{ zarr_url: string }>`
    select images.zarr_url from images
    where ${conditions(datasetId, filters, status)} and ${remembered} order by images.position`.execute(trx);
  return rows.map((row) => row.zarr_url);
}

/** Keeps in mind which images a job that filters on a status begins with: the status changes while it runs. */
export async function rememberImages(
  trx: Trx,
  jobId: number,
  datasetId: number,
  workflowTaskId: number,
  statuses: string[],
): Promise<void> {
  await sql`
    insert into job_images (job_id, zarr_url)
    select ${jobId}, images.zarr_url from images
    where images.dataset_id = ${datasetId} and ${statusOf(datasetId, workflowTaskId)} = any(${statuses})
    on conflict do nothing`.execute(trx);
}

export async function rememberedAmong(trx: Trx, jobId: number, urls: string[]): Promise<Set<string>> {
  const { rows } = await sql<{ zarr_url: string }>`
    select zarr_url from job_images where job_id = ${jobId} and zarr_url = any(${urls})`.execute(trx);
  return new Set(rows.map((row) => row.zarr_url));
}

/** Images made of a remembered one are remembered too, and those made anew of another one are not. */
export async function changeRemembered(trx: Trx, jobId: number, more: string[], fewer: string[]): Promise<void> {
  if (fewer.length > 0) {
    await sql`delete from job_images where job_id = ${jobId} and zarr_url = any(${fewer})`.execute(trx);
  }
  if (more.length === 0) return;
  await sql`
    insert into job_images (job_id, zarr_url) select ${jobId}, unnest(${more}::text[])
    on conflict do nothing`.execute(trx);
}

export async function imagesByUrl(trx: Executor, datasetId: number, urls: string[]): Promise<Map<string, Image>> {
  const { rows } = await sql<Image>`
    select zarr_url, origin, attributes, types from images
    where dataset_id = ${datasetId} and zarr_url = any(${urls})`.execute(trx);
  return new Map(rows.map((image) => [image.zarr_url, image]));
}

export interface ListChanges {
  changed: Image[];
  added: Image[];
  removed: string[];
}

/**
 * Gives images these types, with one statement for all of them. The dataset must be held. False when some of the images are
 * not there.
 */
export async function setTypes(
  trx: Trx,
  datasetId: number,
  urls: string[],
  types: Record<string, boolean>,
): Promise<boolean> {
  let tags = sql`tags`;
  for (const [key, value] of Object.entries(types)) {
    const tag = sql`image_type_tag(${datasetId}, ${key}, true)`;
    tags = sql`array_remove(${tags}, ${tag})`;
    if (value) tags = sql`array_append(${tags}, ${tag})`;
  }
  const json = JSON.stringify(types);
  const { rows } = await sql<{ found: number }>`
    with named as materialized (
      select zarr_url, types @> ${json}::jsonb as has_them from images
      where dataset_id = ${datasetId} and zarr_url = any(${urls})
    ), changed as (
      update images set types = images.types || ${json}::jsonb, tags = ${tags}
      where dataset_id = ${datasetId} and zarr_url in (select zarr_url from named where not has_them)
    )
    select count(*) as found from named`.execute(trx);
  return rows[0]!.found === new Set(urls).size;
}

/** The tags are computed once a value, and come with the images. */
async function updateImages(trx: Trx, datasetId: number, changed: Image[]): Promise<void> {
  const { values, texts } = imageRows(changed);
  const tags = await tagsOf(trx, datasetId, values);
  for (const text of texts) {
    await sql`
      with known as materialized (select ${tags}::bigint[] as tags)
      update images set origin = image.origin, attributes = image.attributes, types = image.types,
        tags = array(select known.tags[number + 1] from unnest(image.tags) as number)
      from known, json_to_recordset(${text}::json)
        as image (zarr_url text, origin text, attributes jsonb, types jsonb, tags int[])
      where images.dataset_id = ${datasetId} and images.zarr_url = image.zarr_url`.execute(trx);
  }
}

/** The dataset must be held. `workflowTaskId` is the task that removes: what others did with a removed image stays known. */
export async function changeImageList(
  trx: Trx,
  datasetId: number,
  workflowTaskId: number,
  { changed, added, removed }: ListChanges,
): Promise<void> {
  if (changed.length > 0) await updateImages(trx, datasetId, changed);
  if (added.length > 0) await insertImages(trx, datasetId, added);
  if (removed.length === 0) return;
  await sql`delete from images where dataset_id = ${datasetId} and zarr_url = any(${removed})`.execute(trx);
  await sql`
    delete from history_image_cache
    where dataset_id = ${datasetId} and workflowtask_id = ${workflowTaskId} and zarr_url = any(${removed})`.execute(
    trx,
  );
}
