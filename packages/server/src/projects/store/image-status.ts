/** The SQL of images together with what a task did with them. */
import { type RawBuilder, sql } from 'kysely';

import type { Image, ImageFilters, ImageStatus, UnitOfImage } from '@service/contract';

import type { Executor } from './access.ts';
import { conditions, isUnfiltered } from './images.ts';

/** Which images of which dataset, seen from which task. */
export interface SeenImages {
  dataset_id: number;
  workflowtask_id: number;
  filters: ImageFilters;
}

export interface StatusOrder {
  by: 'zarr_url' | 'status' | { attribute: string };
  descending: boolean;
}

/**
 * Joined behind `images`, to tell the status of many: where the unit that looked at an image last is not among those of the
 * task that are unfinished or failed, it is done. This spares reading a unit for each image.
 */
const latestStatuses = ({ dataset_id, workflowtask_id }: SeenImages) => sql`
  left join history_image_cache cache on cache.dataset_id = ${dataset_id} and cache.zarr_url = images.zarr_url
    and cache.workflowtask_id = ${workflowtask_id}
  left join (
    select unit.id, unit.status from history_runs run join history_units unit on unit.history_run_id = run.id
    where run.dataset_id = ${dataset_id} and run.workflowtask_id = ${workflowtask_id} and unit.status <> 'done'
  ) not_done on not_done.id = cache.latest_history_unit_id`;

const STATUS = sql<ImageStatus>`
  coalesce(not_done.status, case when cache.zarr_url is null then 'unset' else 'done' end)`;

/** The same for a few images, with everything about the unit. */
const latestUnits = ({ dataset_id, workflowtask_id }: SeenImages) => sql`
  left join history_image_cache cache on cache.dataset_id = ${dataset_id} and cache.zarr_url = images.zarr_url
    and cache.workflowtask_id = ${workflowtask_id}
  left join history_units unit on unit.id = cache.latest_history_unit_id`;

/** The images that pass, by their status. */
export async function countStatuses(db: Executor, seen: SeenImages): Promise<Record<ImageStatus, number>> {
  const { rows } = await sql<{ status: ImageStatus; num: number }>`
    select ${STATUS} as status, count(*) as num
    from images ${latestStatuses(seen)}
    where ${conditions(seen.dataset_id, seen.filters)} group by 1`.execute(db);
  const counts = { done: 0, submitted: 0, failed: 0, unset: 0 };
  for (const { status, num } of rows) counts[status] = num;
  return counts;
}

/** What needs a look comes first, what nothing was done with last. */
const BY_STATUS: readonly ImageStatus[] = ['failed', 'submitted', 'done', 'unset'];

function orderBy({ by, descending }: StatusOrder): RawBuilder<unknown> {
  const direction = descending ? sql`desc` : sql`asc`;
  if (by === 'zarr_url') return sql`images.zarr_url ${direction}`;
  const value =
    by === 'status'
      ? sql`array_position(${sql.val([...BY_STATUS])}::text[], images.status)`
      : sql`images.attributes -> ${by.attribute}`;
  return sql`${value} ${direction} nulls last, images.zarr_url`;
}

export interface ImageSeen extends Image {
  status: ImageStatus;
  has_warnings: boolean;
  unit: UnitOfImage | null;
}

interface Slice {
  offset: number;
  limit: number;
}

/**
 * Where every image passes and the order is that of the index, a page is read from the index alone. Else all that pass
 * are looked at first, and only those of the page are read whole.
 */
function chosen(seen: SeenImages, statuses: ImageStatus[] | undefined, order: StatusOrder, { offset, limit }: Slice) {
  if (isUnfiltered(seen.filters) && statuses === undefined && order.by === 'zarr_url') {
    return sql`chosen as materialized (
      select images.zarr_url, row_number() over (order by ${orderBy(order)}) as place from images
      where images.dataset_id = ${seen.dataset_id} order by ${orderBy(order)} limit ${limit} offset ${offset}
    )`;
  }
  const asked = statuses === undefined ? sql`true` : sql`${STATUS} = any(${statuses}::text[])`;
  return sql`matched as materialized (
      select images.zarr_url, images.attributes, ${STATUS} as status
      from images ${latestStatuses(seen)} where ${conditions(seen.dataset_id, seen.filters)} and ${asked}
    ), chosen as materialized (
      select images.zarr_url, row_number() over (order by ${orderBy(order)}) as place
      from matched as images order by place limit ${limit} offset ${offset}
    )`;
}

type Row = Omit<ImageSeen, 'unit' | 'has_warnings'> &
  Omit<UnitOfImage, 'id'> & { has_warnings: boolean | null } & {
    unit_id: number | null;
  };

/** One page of images, each with the unit that looked at it last. One by one with `offset 0`, as in `sliceOfImages`. */
export async function sliceOfSeenImages(
  db: Executor,
  seen: SeenImages,
  statuses: ImageStatus[] | undefined,
  order: StatusOrder,
  slice: Slice,
): Promise<ImageSeen[]> {
  const { rows } = await sql<Row>`
    with ${chosen(seen, statuses, order, slice)}
    select images.zarr_url, images.origin, images.attributes, images.types,
           coalesce(unit.status, 'unset') as status, unit.has_warnings, unit.id as unit_id, unit.history_run_id,
           unit.timestamp_started is not null as started, unit.timestamp_started, unit.timestamp_ended,
           unit.cause, unit.message, unit.num_warnings, unit.peak_memory_bytes
    from chosen cross join lateral (
      select * from images where images.dataset_id = ${seen.dataset_id} and images.zarr_url = chosen.zarr_url offset 0
    ) as images
    ${latestUnits(seen)}
    order by chosen.place`.execute(db);
  return rows.map(({ zarr_url, origin, attributes, types, status, has_warnings, unit_id, ...unit }) => ({
    zarr_url,
    origin,
    attributes,
    types,
    status,
    has_warnings: has_warnings ?? false,
    unit: unit_id === null ? null : { id: unit_id, ...unit },
  }));
}
