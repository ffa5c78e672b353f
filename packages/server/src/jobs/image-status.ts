/** Images of a dataset, each with what a task did with it. */
import {
  IMAGE_STATUSES,
  type ImageFilters,
  type ImageStatus,
  type ImageStatusPage,
  type ImageWithStatus,
  type PageRequest,
  type User,
} from '@service/contract';

import { type Database, rowsOf } from '../db/index.ts';
import { STATUS_KEY } from '../engine/filters.ts';
import {
  countStatuses,
  type ImageSeen,
  readSort,
  sliceOfSeenImages,
  splitStatus,
  type StatusOrder,
  valuesOf,
} from '../projects/index.ts';
import { openHistory, type TaskOnDataset } from './history.ts';

interface Shown {
  include_warnings: boolean;
  include_units: boolean;
  sort?: string | undefined;
}

const orderOf = (sort = 'zarr_url'): StatusOrder => readSort(sort, ['zarr_url', 'status']);

const asShown = ({ status, has_warnings, unit, ...image }: ImageSeen, shown: Shown): ImageWithStatus => ({
  ...image,
  attributes: { ...image.attributes, [STATUS_KEY]: status },
  has_warnings: shown.include_warnings ? has_warnings : null,
  ...(shown.include_units ? { unit } : {}),
});

/** A page past the end is empty. */
export async function queryImageStatus(
  db: Database,
  user: User,
  place: TaskOnDataset,
  asked: ImageFilters,
  shown: Shown,
  page: PageRequest,
): Promise<ImageStatusPage> {
  await openHistory(db, user, place);
  const order = orderOf(shown.sort);
  const { filters, status } = splitStatus(asked, place.workflowtask_id);
  const statuses = status && IMAGE_STATUSES.filter((one) => status.statuses.includes(one));
  const seen = { dataset_id: place.dataset_id, workflowtask_id: place.workflowtask_id, filters };
  const status_counts = await countStatuses(db, seen);
  const counted: readonly ImageStatus[] = statuses ?? IMAGE_STATUSES;
  const total_count = counted.reduce((total, one) => total + status_counts[one], 0);
  const { attributes, types } = await valuesOf(db, place.dataset_id);
  const { limit, offset } = rowsOf(page);
  const images =
    offset >= total_count
      ? []
      : await sliceOfSeenImages(db, seen, statuses, order, { offset, limit: limit ?? total_count });
  return {
    current_page: page.page,
    page_size: page.page_size ?? total_count,
    total_count,
    items: images.map((image) => asShown(image, shown)),
    attributes: { ...attributes, [STATUS_KEY]: [...IMAGE_STATUSES] },
    types,
    status_counts,
  };
}
