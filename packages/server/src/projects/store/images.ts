/**
 * The SQL of images.
 *
 * Filters become conditions on `tags`, which one index answers (db/migrations/0002-projects.ts). Writers lock the row of the
 * dataset first: positions, counts and facets of a dataset have one writer at a time.
 */
import { type RawBuilder, sql } from 'kysely';

import type { Image, ImageFilters, PageRequest, Scalar, TaskType } from '@service/contract';

import { ONE_PLAN } from '../../db/index.ts';
import type { Executor } from './access.ts';

/** Images in the filter's own words: with the status of a task as an attribute. */
export interface StatusFilter {
  workflowtask_id: number;
  statuses: string[];
}

const COLUMNS = ['zarr_url', 'origin', 'attributes', 'types'] as const;
const BATCH = 5000;

/** Conditions on `images` for one dataset. */
export const conditions = (datasetId: number, filters: ImageFilters, status?: StatusFilter): RawBuilder<boolean> =>
  sql.join([sql`images.dataset_id = ${datasetId}`, ...filterConditions(datasetId, filters, status)], sql` and `);

function filterConditions(datasetId: number, filters: ImageFilters, status?: StatusFilter): RawBuilder<boolean>[] {
  const all: RawBuilder<boolean>[] = [];
  for (const [key, values] of Object.entries(filters.attribute_filters)) {
    all.push(sql<boolean>`images.tags && array(
      select image_attribute_tag(${datasetId}, ${key}, value) from jsonb_array_elements(${JSON.stringify(values)}::jsonb) as value)`);
  }
  for (const [key, value] of Object.entries(filters.type_filters)) {
    const has = sql<boolean>`images.tags @> array[image_type_tag(${datasetId}, ${key}, true)]`;
    all.push(value ? has : sql<boolean>`not (${has})`);
  }
  if (status) all.push(sql<boolean>`${statusOf(datasetId, status.workflowtask_id)} = any(${status.statuses})`);
  return all;
}

/**
 * The same, by the index of tags and no other, where a filter asks for tags: a tag belongs to one dataset, so that this is the
 * right way for every dataset and every value, and the plan need not look at them.
 */
function conditionsByTags(datasetId: number, filters: ImageFilters): RawBuilder<boolean> {
  const { attribute_filters, type_filters } = filters;
  const asksForTags = Object.keys(attribute_filters).length > 0 || Object.values(type_filters).includes(true);
  if (!asksForTags) return conditions(datasetId, filters);
  return sql.join([...filterConditions(datasetId, filters), sql`images.dataset_id + 0 = ${datasetId}`], sql` and `);
}

/** What the latest unit of a task did with an image; `unset` where none looked at it. */
export const statusOf = (datasetId: number, workflowTaskId: number) => sql<string>`coalesce((
  select unit.status from history_image_cache cache join history_units unit on unit.id = cache.latest_history_unit_id
  where cache.dataset_id = ${datasetId} and cache.zarr_url = images.zarr_url and cache.workflowtask_id = ${workflowTaskId}
), 'unset')`;

export const isUnfiltered = ({ type_filters, attribute_filters }: ImageFilters) =>
  Object.keys(type_filters).length === 0 && Object.keys(attribute_filters).length === 0;

const numberOf = (datasetId: number, filters: ImageFilters) =>
  isUnfiltered(filters)
    ? sql<number>`coalesce((select num_images from datasets where id = ${datasetId}), 0)`
    : sql<number>`(select count(*) from images where ${conditions(datasetId, filters)})`;

export async function countImages(db: Executor, datasetId: number, filters: ImageFilters): Promise<number> {
  const { rows } = await sql<{ count: number }>`select ${numberOf(datasetId, filters)} as count`.execute(db);
  return rows[0]!.count;
}

/** Another text after every change of the images: PostgreSQL writes a changed row anew, and says in which transaction. */
export async function versionOfImages(db: Executor, datasetId: number): Promise<string> {
  const { rows } = await sql<{ version: string }>`
    select count(*) || ' ' || coalesce(bit_xor(hashtextextended(images.xmin::text || ' ' || images.position, 0)), 0) as version
    from images where dataset_id = ${datasetId}`.execute(db);
  return rows[0]!.version;
}

export type ImageOrder = { by: 'position' } | { by: 'zarr_url' | { attribute: string }; descending: boolean };

function orderBy(order: ImageOrder): RawBuilder<unknown> {
  if (order.by === 'position') return sql`images.position`;
  const value = order.by === 'zarr_url' ? sql`images.zarr_url` : sql`images.attributes -> ${order.by.attribute}`;
  return sql`${value} ${order.descending ? sql`desc` : sql`asc`} nulls last, images.position`;
}

interface Slice {
  offset: number;
  limit: number;
  total: number;
}

/** A page in the middle of a long list is counted from its nearer end. */
async function sliceOfAll(db: Executor, datasetId: number, { offset, limit, total }: Slice): Promise<Image[]> {
  const size = Math.max(0, Math.min(limit, total - offset));
  const fromEnd = offset > total / 2;
  const rows = await db
    .selectFrom('images')
    .select(COLUMNS)
    .where('dataset_id', '=', datasetId)
    .orderBy('position', fromEnd ? 'desc' : 'asc')
    .limit(size)
    .offset(fromEnd ? total - offset - size : offset)
    .execute();
  return fromEnd ? rows.reverse() : rows;
}

/**
 * Some of the images that pass, in order. Materialized: walking the list in order and testing each image would be slow when few of
 * many pass. One by one with `offset 0`: of a dataset that has just been filled the planner knows nothing, and would compare
 * each with each.
 */
const ordered = (
  datasetId: number,
  passing: RawBuilder<boolean>,
  order: ImageOrder,
  { limit, offset }: Record<'limit' | 'offset', RawBuilder<number>>,
) => sql`
  with matched as materialized (
    select images.zarr_url, images.position, images.attributes from images where ${passing}
  ), chosen as (
    select row_number() over (order by ${orderBy(order)}) as place, images.position
    from matched as images order by place limit ${limit} offset ${offset}
  ), listed as (
    select chosen.place, images.zarr_url, images.origin, images.attributes, images.types
    from chosen cross join lateral (
      select * from images where images.dataset_id = ${datasetId} and images.position = chosen.position offset 0
    ) as images
  )`;

export async function sliceOfImages(
  db: Executor,
  datasetId: number,
  filters: ImageFilters,
  order: ImageOrder,
  slice: Slice,
): Promise<Image[]> {
  if (isUnfiltered(filters) && order.by === 'position') return sliceOfAll(db, datasetId, slice);
  const passing = conditionsByTags(datasetId, filters);
  const { rows } = await sql<Image>`
    ${ordered(datasetId, passing, order, { limit: sql`${slice.limit}`, offset: sql`${slice.offset}` })}
    select zarr_url, origin, attributes, types from listed order by place`.execute(db);
  return rows;
}

/** An attribute or type that occurs in a dataset, with all of its values. */
export interface Facet {
  kind: 'attribute' | 'type';
  key: string;
  values: Scalar[];
}

const allFacets = (datasetId: number) => sql<Facet[]>`coalesce((
  select json_agg(facet) from (
    select kind, key, json_agg(value) as values from image_facets where dataset_id = ${datasetId} group by kind, key
  ) as facet), '[]')`;

export async function facetsOf(db: Executor, datasetId: number): Promise<Facet[]> {
  const { rows } = await sql<{ facets: Facet[] }>`select ${allFacets(datasetId)} as facets`.execute(db);
  return rows[0]!.facets;
}

export interface ImagesOnPage {
  total: number;
  /** A JSON text: nobody looks into it on its way. */
  items: string;
  facets: Facet[];
}

/** Longer pages come row by row: one text of all of them would keep everybody else waiting while it is read. */
const LONGEST_IN_ONE = 1000;

/** A page past the end shows the last one. */
export async function pageOfImages(
  db: Executor,
  datasetId: number,
  filters: ImageFilters,
  order: ImageOrder,
  { page, page_size: size }: PageRequest,
): Promise<ImagesOnPage> {
  const { rows } = await sql<Omit<ImagesOnPage, 'items'>>`
    select ${numberOf(datasetId, filters)} as total, ${allFacets(datasetId)} as facets`.execute(db);
  const { total, facets } = rows[0]!;
  if (total === 0) return { total, facets, items: '[]' };
  const limit = size ?? total;
  const offset = (Math.min(page, Math.ceil(total / limit)) - 1) * limit;
  const items = await sliceOfImages(db, datasetId, filters, order, { offset, limit, total });
  return { total, facets, items: JSON.stringify(items) };
}

/** Who asks for a dataset, through which project. */
export interface Reader {
  userId: number;
  projectId: number;
  datasetId: number;
}

/** True where the caller may read the dataset, which every permission includes. */
const isReadable = ({ userId, projectId, datasetId }: Reader) => sql<boolean>`exists (
  select from datasets join project_links as link using (project_id)
  where datasets.id = ${datasetId} and project_id = ${projectId} and link.user_id = ${userId} and link.is_verified)`;

/** Each number of filters is a statement of its own, of which a connection keeps so many. */
const FILTERS_WITH_ONE_PLAN = 3;

function isOften({ type_filters, attribute_filters }: ImageFilters, order: ImageOrder): boolean {
  const number = Object.keys(type_filters).length + Object.keys(attribute_filters).length;
  return order.by === 'position' && number <= FILTERS_WITH_ONE_PLAN;
}

/**
 * The same in one statement with the look at who asks: it comes again and again while somebody looks for images. Undefined
 * where that is not the way: for who may not read them, for all images as they come, for long pages.
 */
export async function filteredPage(
  db: Executor,
  reader: Reader,
  filters: ImageFilters,
  order: ImageOrder,
  { page, page_size: size }: PageRequest,
): Promise<ImagesOnPage | undefined> {
  const isWholeList = isUnfiltered(filters) && order.by === 'position';
  if (isWholeList || size === null || size > LONGEST_IN_ONE) return undefined;
  const { datasetId } = reader;
  const total = sql<number>`(select count(*) from matched)`;
  const limit = sql<number>`${size}::bigint`;
  const offset = sql<number>`greatest(0, least(${page}::bigint, (${total} + ${limit} - 1) / ${limit}) - 1) * ${limit}`;
  const passing = sql<boolean>`${conditionsByTags(datasetId, filters)} and ${isReadable(reader)}`;
  const { rows } = await sql<ImagesOnPage & { readable: boolean }>`${sql.raw(isOften(filters, order) ? ONE_PLAN : '')}
    ${ordered(datasetId, passing, order, { limit, offset })}
    select ${isReadable(reader)} as readable, ${total} as total, ${allFacets(datasetId)} as facets, coalesce((
      select json_agg(json_build_object('zarr_url', zarr_url, 'origin', origin, 'attributes', attributes, 'types', types)
        order by place)::text from listed), '[]') as items`.execute(db);
  const { readable, ...found } = rows[0]!;
  return readable ? found : undefined;
}

export const findImage = (db: Executor, datasetId: number, zarrUrl: string): Promise<Image | undefined> =>
  db
    .selectFrom('images')
    .select(COLUMNS)
    .where('dataset_id', '=', datasetId)
    .where('zarr_url', '=', zarrUrl)
    .executeTakeFirst();

/** Addresses of a few images from the whole length of the list, however long it is: one look into the index for each. */
export async function spreadOfImages(db: Executor, datasetId: number, most: number): Promise<string[]> {
  const { rows } = await sql<{ zarr_url: string }>`
    with ends as (select min(position) as first, max(position) as last from images where dataset_id = ${datasetId})
    select distinct found.position, found.zarr_url
    from ends, generate_series(0::bigint, ${most - 1}) as step cross join lateral (
      select images.position, images.zarr_url from images
      where images.dataset_id = ${datasetId} and images.position >= first + (last - first) * step / ${most - 1}
      order by images.position limit 1
    ) as found
    order by found.position`.execute(db);
  return rows.map(({ zarr_url }) => zarr_url);
}

const lockedDataset = (datasetId: number) => sql`(select id from datasets where id = ${datasetId} for no key update)`;

export async function updateImage(
  db: Executor,
  datasetId: number,
  zarrUrl: string,
  changes: { attributes?: Record<string, Scalar> | undefined; types?: Record<string, boolean> | undefined },
): Promise<Image | undefined> {
  const json = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value));
  const { rows } = await sql<Image>`
    update images set
      attributes = coalesce(${json(changes.attributes)}::jsonb, attributes),
      types = coalesce(${json(changes.types)}::jsonb, types)
    where dataset_id = ${lockedDataset(datasetId)} and zarr_url = ${zarrUrl}
    returning zarr_url, origin, attributes, types`.execute(db);
  return rows[0];
}

/** Removes an image and what history knows of it; true when it was there. */
export async function deleteImage(db: Executor, datasetId: number, zarrUrl: string): Promise<boolean> {
  const { rows } = await sql`
    with gone as (
      delete from images where dataset_id = ${lockedDataset(datasetId)} and zarr_url = ${zarrUrl} returning zarr_url
    ), forgotten as (
      delete from history_image_cache where dataset_id = ${datasetId} and zarr_url in (select zarr_url from gone)
    )
    select 1 from gone`.execute(db);
  return rows.length > 0;
}

export interface ImageChanges {
  set_attributes: Record<string, Scalar>;
  unset_attributes: string[];
  set_types: Record<string, boolean>;
}

/** The images meant by a request for many: those named, as a JSON list, and of these those that pass the filters. */
function chosen(datasetId: number, zarrUrls: Uint8Array | undefined, filters: ImageFilters) {
  const named =
    zarrUrls === undefined
      ? sql`true`
      : sql`images.zarr_url = any(array(select json_array_elements_text(${zarrUrls}::json)))`;
  return sql`images.dataset_id = ${lockedDataset(datasetId)} and ${named} and ${conditions(datasetId, filters)}`;
}

export async function changeImages(
  db: Executor,
  datasetId: number,
  zarrUrls: Uint8Array | undefined,
  filters: ImageFilters,
  changes: ImageChanges,
): Promise<number> {
  const result = await sql`
    update images set
      attributes = (attributes || ${JSON.stringify(changes.set_attributes)}::jsonb) - ${changes.unset_attributes}::text[],
      types = types || ${JSON.stringify(changes.set_types)}::jsonb
    where ${chosen(datasetId, zarrUrls, filters)}`.execute(db);
  return Number(result.numAffectedRows ?? 0);
}

export async function removeImages(
  db: Executor,
  datasetId: number,
  zarrUrls: Uint8Array | undefined,
  filters: ImageFilters,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with gone as (
      delete from images where ${chosen(datasetId, zarrUrls, filters)} returning zarr_url
    ), forgotten as (
      delete from history_image_cache where dataset_id = ${datasetId} and zarr_url in (select zarr_url from gone)
    )
    select count(*) from gone`.execute(db);
  return rows[0]!.count;
}

/** Types that some of the images have true and others do not. */
export async function ambiguousTypes(
  db: Executor,
  datasetId: number,
  filters: ImageFilters,
  status: StatusFilter | undefined,
): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    with matched as materialized (select types from images where ${conditions(datasetId, filters, status)})
    select type.key from matched, jsonb_each(matched.types) as type
    group by type.key
    having bool_or(type.value = 'true'::jsonb)
      and count(*) filter (where type.value = 'true'::jsonb) < (select count(*) from matched)
    order by type.key collate "C"`.execute(db);
  return rows.map((row) => row.key);
}

/** Images that a task has not finished. */
export async function imagesNotDone(
  db: Executor,
  datasetId: number,
  filters: ImageFilters,
  workflowTaskId: number,
): Promise<string[]> {
  const { rows } = await sql<{ zarr_url: string }>`
    select images.zarr_url from images
    where ${conditions(datasetId, filters)} and ${statusOf(datasetId, workflowTaskId)} <> 'done'
    order by images.position`.execute(db);
  return rows.map((row) => row.zarr_url);
}

/** All images that pass, some thousands at a time, in the order of the list. */
export async function* imagesInBatches(
  db: Executor,
  datasetId: number,
  filters: ImageFilters,
): AsyncGenerator<Image[]> {
  let after = -1;
  for (;;) {
    const { rows } = await sql<Image & { position: number }>`
      select images.position, images.zarr_url, images.origin, images.attributes, images.types from images
      where ${conditions(datasetId, filters)} and images.position > ${after}
      order by images.position limit ${BATCH}`.execute(db);
    if (rows.length === 0) return;
    after = rows.at(-1)!.position;
    yield rows.map(({ position: _, ...image }) => image);
    if (rows.length < BATCH) return;
  }
}

interface PrecedingTask {
  order: number;
  previous_id: number | null;
  previous_type: TaskType | null;
  previous_output_types: Record<string, boolean> | null;
}

/** A task of a workflow of this project, with the one before it. */
export async function precedingTask(
  db: Executor,
  projectId: number,
  workflowId: number,
  workflowTaskId: number,
): Promise<PrecedingTask | 'no workflow' | 'no workflow task'> {
  const workflow = await db
    .selectFrom('workflows')
    .select('id')
    .where('id', '=', workflowId)
    .where('project_id', '=', projectId)
    .executeTakeFirst();
  if (!workflow) return 'no workflow';
  const row = await db
    .selectFrom('workflow_tasks as current')
    .leftJoin('workflow_tasks as previous', (join) =>
      join
        .onRef('previous.workflow_id', '=', 'current.workflow_id')
        .on((eb) => eb('previous.order', '=', eb('current.order', '-', 1))),
    )
    .leftJoin('tasks', 'tasks.id', 'previous.task_id')
    .select([
      'current.order',
      'previous.id as previous_id',
      'tasks.type as previous_type',
      'tasks.output_types as previous_output_types',
    ])
    .where('current.id', '=', workflowTaskId)
    .where('current.workflow_id', '=', workflowId)
    .executeTakeFirst();
  return row ?? 'no workflow task';
}
