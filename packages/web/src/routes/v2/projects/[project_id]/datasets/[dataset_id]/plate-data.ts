/** What the map of a plate and the panel beside it ask for. */
import type { ImageGroup, Scalar } from '@service/contract';

import { call, type CallOptions, type DatasetIds } from '#lib/api/client.ts';
import { bodyOf, changed, type ImagesPage, type ImagesQuery, newQuery, valueKey } from '#lib/images/filters.ts';

import { askImages } from './images.ts';

/** The plate that a task looked at last: undefined where it looked at none. */
export function newestPlate(groups: readonly Pick<ImageGroup, 'values' | 'newest_unit_id'>[]): Scalar | undefined {
  const seen = groups.filter(({ values, newest_unit_id }) => newest_unit_id !== null && values['plate'] !== undefined);
  const newest = Math.max(...seen.map(({ newest_unit_id }) => newest_unit_id!));
  return seen.find(({ newest_unit_id }) => newest_unit_id === newest)?.values['plate'];
}

/** Asked once for a task: a map does not change its plate while somebody looks at it. */
export const askNewestPlate = async ({ ids, task }: { ids: DatasetIds; task: number }, options: CallOptions) => {
  const { groups } = await call(
    'jobs.countImageGroups',
    {
      params: { project_id: ids.project_id },
      query: { dataset_id: ids.dataset_id, workflowtask_id: task },
      body: { by: ['plate'] },
    },
    options,
  );
  return { plate: newestPlate(groups) };
};

/** Which of the plates the map shows: the one that is filtered for, else the one with the newest results, else the first. */
export const shownPlate = (plates: readonly unknown[], query: ImagesQuery, newest: unknown): Scalar | undefined =>
  (query.attributes['plate']?.[0] ?? plates.find((one) => valueKey(one) === valueKey(newest)) ?? plates[0]) as
    | Scalar
    | undefined;

/** All filters but those that the map itself sets, and the status, which it shows. */
export function plateQuery(query: ImagesQuery, plate: Scalar): ImagesQuery {
  const { well: _, ...attributes } = query.attributes;
  return newQuery({ attributes: { ...attributes, plate: [plate] }, types: query.types });
}

export interface PlateQuestion {
  ids: DatasetIds;
  task: number | undefined;
  query: ImagesQuery;
  /** The attribute that wells are coloured by. */
  by: string | undefined;
  /** Counts what was changed here, so that it is asked again. */
  version: number;
}

/** The wells of a plate with what is in them: one answer, however many images there are. */
export const askPlate = ({ ids, task, query, by }: PlateQuestion, options: CallOptions) =>
  call(
    'jobs.countImageGroups',
    {
      params: { project_id: ids.project_id },
      query: { dataset_id: ids.dataset_id, workflowtask_id: task },
      body: { ...bodyOf(query), by: ['well', ...(by === undefined ? [] : [by])] },
    },
    options,
  );

export interface WellsQuestion {
  ids: DatasetIds;
  task: number | undefined;
  /** With the wells that are meant, if any. */
  query: ImagesQuery;
  version: number;
}

/** As many images as are looked at one by one; of more only the first are read. */
const SEEN = 60;

/** Images of wells, those that failed first. */
export const askWells = ({ ids, task, query }: WellsQuestion, options: CallOptions): Promise<ImagesPage> =>
  askImages(
    ids,
    task,
    { ...query, sort: task === undefined ? 'zarr_url' : 'status', page: 1, pageSize: SEEN },
    options,
  );

/** The query for some wells of a plate, by the names that images give them; of none: the whole plate. */
export const wellsQuery = (query: ImagesQuery, names: readonly string[]): ImagesQuery =>
  names.length === 0 ? query : changed(query, { attributes: { ...query.attributes, well: [...names].sort() } });
