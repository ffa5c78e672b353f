/** One page of the images of a dataset, with what a task did with them when one is chosen. */
import { call, type CallOptions, type DatasetIds } from '#lib/api/client.ts';
import {
  bodyOf,
  changed,
  type ImagesPage,
  type ImagesQuery,
  type ListedImage,
  pageOf,
  processedFirst,
  valueKey,
  withAttribute,
} from '#lib/images/filters.ts';
import type { Counted } from '#lib/images/ranges.ts';
import { ownOf } from '#lib/json.ts';

/** `exact` is for images that are edited afterwards: their numbers go back as they were written. */
export function askImages(
  { project_id, dataset_id }: DatasetIds,
  workflowtask_id: number | undefined,
  query: ImagesQuery,
  options: CallOptions,
): Promise<ImagesPage> {
  const { sort, ...page } = pageOf(query);
  if (workflowtask_id === undefined) {
    const body = bodyOf({ ...query, status: [] });
    const order = sort === 'status' || sort === '-status' ? undefined : sort;
    return call(
      'projects.queryImages',
      { params: { project_id, dataset_id }, query: { ...page, sort: order }, body },
      options,
    );
  }
  const asked = {
    ...page,
    sort: processedFirst(query).sort,
    workflowtask_id,
    dataset_id,
    include_units: true,
    include_warnings: true,
  };
  return call('jobs.queryImageStatus', { params: { project_id }, query: asked, body: bodyOf(query) }, options);
}

/** How many images that pass the other filters have each value of a number. */
export async function countValues(
  { project_id, dataset_id }: DatasetIds,
  query: ImagesQuery,
  key: string,
): Promise<Counted[]> {
  const { attribute_filters, type_filters } = bodyOf({ ...withAttribute(query, key, []), status: [] });
  const { groups } = await call(
    'jobs.countImageGroups',
    { params: { project_id }, query: { dataset_id }, body: { attribute_filters, type_filters, by: [key] } },
    { quiet: true },
  );
  return groups.flatMap(({ values, num_images: count }) => {
    const value = ownOf(values, key);
    return typeof value === 'number' ? [{ value, count }] : [];
  });
}

/** As many as a change or a file can name. */
export const MOST = 10_000;
const AT_ONCE = 2_000;

export interface Gathered extends Omit<ImagesPage, 'current_page' | 'page_size'> {
  /** There are more than were asked for. */
  cut: boolean;
}

/** Many images over several pages, up to a limit. */
export async function gatherImages(
  ids: DatasetIds,
  task: number | undefined,
  query: ImagesQuery,
  options: CallOptions,
): Promise<Gathered> {
  const ask = (page: number) => askImages(ids, task, { ...query, page, pageSize: AT_ONCE }, options);
  const first = await ask(1);
  const items = [...first.items];
  const wanted = Math.min(first.total_count, MOST);
  for (let page = 2; items.length < wanted; page++) {
    const next = await ask(page);
    if (next.items.length === 0) break;
    items.push(...next.items);
  }
  return { ...first, items, cut: first.total_count > items.length };
}

/** Filters for values that no image has any more, as after the last image of a plate was removed. */

/** The query without them; undefined when there are none. */
export function forgetGone(query: ImagesQuery, attributes: Record<string, unknown[]>): ImagesQuery | undefined {
  const there = (key: string, value: unknown) =>
    (ownOf(attributes, key) ?? []).some((one) => valueKey(one) === valueKey(value));
  const kept = Object.entries(query.attributes)
    .map(([key, values]) => [key, values.filter((value) => there(key, value))] as const)
    .filter(([, values]) => values.length > 0);
  const before = Object.values(query.attributes).flat().length;
  const after = kept.flatMap(([, values]) => values).length;
  return before === after ? undefined : changed(query, { attributes: Object.fromEntries(kept) });
}

/** What can be open over the page of a dataset. */
export type ChangeOfMany = 'set' | 'unset' | 'type' | 'remove';

export type Open =
  /** Without an image a new one is added. */
  | { what: 'edit'; image: ListedImage | undefined }
  | { what: 'remove'; image: ListedImage }
  | { what: 'log'; image: ListedImage }
  | { what: 'bulk'; change: ChangeOfMany }
  | { what: 'delete' };
