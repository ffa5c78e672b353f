/** One page of the images of a dataset, with what a task did with them when one is chosen. */
import { call, type CallOptions } from '#lib/api/client.ts';
import { bodyOf, type ImagesPage, type ImagesQuery, pageOf } from '#lib/images/filters.ts';

export interface Place {
  project_id: number;
  dataset_id: number;
}

/** `exact` is for images that are edited afterwards: their numbers go back as they were written. */
export function askImages(
  { project_id, dataset_id }: Place,
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
  const asked = { ...page, sort, workflowtask_id, dataset_id, include_units: true, include_warnings: true };
  return call('jobs.queryImageStatus', { params: { project_id }, query: asked, body: bodyOf(query) }, options);
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
  place: Place,
  task: number | undefined,
  query: ImagesQuery,
  options: CallOptions,
): Promise<Gathered> {
  const ask = (page: number) => askImages(place, task, { ...query, page, pageSize: AT_ONCE }, options);
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
