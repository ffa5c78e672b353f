/** Images of a dataset, each with what a task did with it. */
import {
  IMAGE_STATUSES,
  type ImageFilters,
  type ImageGroups,
  type ImageStatus,
  type ImageStatusPage,
  type ImageWithStatus,
  type PageRequest,
  type User,
} from '@service/contract';

import { type Database, rowsOf } from '../db/index.ts';
import { STATUS_KEY } from '../engine/filters.ts';
import {
  countGroups,
  countStatuses,
  type ImageSeen,
  openDataset,
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

/** The statuses that a filter lets through; undefined where there is no such filter. */
const statusesOf = (status: { statuses: string[] } | undefined): ImageStatus[] | undefined =>
  status && IMAGE_STATUSES.filter((one) => status.statuses.includes(one));

/** Where all images have one status, their order is that of the addresses, which an index has. */
function plainOrder(order: StatusOrder, counts: Record<ImageStatus, number>): StatusOrder {
  const occurring = IMAGE_STATUSES.filter((one) => counts[one] > 0);
  return order.by === 'status' && occurring.length <= 1 ? { by: 'zarr_url', descending: false } : order;
}

/** A page past the end is empty. */
export async function queryImageStatus(
  db: Database,
  user: User,
  target: TaskOnDataset,
  asked: ImageFilters,
  shown: Shown,
  page: PageRequest,
): Promise<ImageStatusPage> {
  await openHistory(db, user, target);
  const wanted = orderOf(shown.sort);
  const { filters, status } = splitStatus(asked, target.workflowtask_id);
  const statuses = statusesOf(status);
  const seen = { dataset_id: target.dataset_id, workflowtask_id: target.workflowtask_id, filters };
  const status_counts = await countStatuses(db, seen);
  const counted: readonly ImageStatus[] = statuses ?? IMAGE_STATUSES;
  const total_count = counted.reduce((total, one) => total + status_counts[one], 0);
  const order = plainOrder(wanted, status_counts);
  const { attributes, types } = await valuesOf(db, target.dataset_id);
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

/** A longer list is no help to anybody who looks at it. */
const MOST_GROUPS = 20_000;

/** Images by the values of some attributes. Without a task they are counted, and nothing is said of their status. */
export async function countImageGroups(
  db: Database,
  user: User,
  { workflowtask_id, ...target }: Omit<TaskOnDataset, 'workflowtask_id'> & { workflowtask_id?: number | undefined },
  asked: ImageFilters,
  by: string[],
): Promise<ImageGroups> {
  const { dataset_id } = target;
  if (workflowtask_id === undefined) {
    await openDataset(db, user, target.project_id, dataset_id, 'r');
    return countGroups(db, { dataset_id, filters: asked }, undefined, by, MOST_GROUPS);
  }
  await openHistory(db, user, { ...target, workflowtask_id });
  const { filters, status } = splitStatus(asked, workflowtask_id);
  return countGroups(db, { dataset_id, workflowtask_id, filters }, statusesOf(status), by, MOST_GROUPS);
}
