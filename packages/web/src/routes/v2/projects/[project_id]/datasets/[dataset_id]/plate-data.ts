/** What the map of a plate and the panel beside it ask for. */
import type { Scalar } from '@service/contract';

import { call, type CallOptions } from '#lib/api/client.ts';
import { bodyOf, changed, type ImagesPage, type ImagesQuery, newQuery } from '#lib/images/filters.ts';

import { askImages, type Place } from './images.ts';

/** Which of the plates the map shows: the one that is filtered for, else the first. */
export const shownPlate = (plates: readonly unknown[], query: ImagesQuery): Scalar | undefined =>
  (query.attributes['plate']?.[0] ?? plates[0]) as Scalar | undefined;

/** All filters but those that the map itself sets, and the status, which it shows. */
export function plateQuery(query: ImagesQuery, plate: Scalar): ImagesQuery {
  const { well: _, ...attributes } = query.attributes;
  return newQuery({ attributes: { ...attributes, plate: [plate] }, types: query.types });
}

export interface PlateQuestion {
  place: Place;
  task: number | undefined;
  query: ImagesQuery;
  /** The attribute that wells are coloured by. */
  by: string | undefined;
  /** Counts what was changed here, so that it is asked again. */
  version: number;
}

/** The wells of a plate with what is in them: one answer, however many images there are. */
export const askPlate = ({ place, task, query, by }: PlateQuestion, options: CallOptions) =>
  call(
    'jobs.countImageGroups',
    {
      params: { project_id: place.project_id },
      query: { dataset_id: place.dataset_id, workflowtask_id: task },
      body: { ...bodyOf(query), by: ['well', ...(by === undefined ? [] : [by])] },
    },
    options,
  );

export interface WellsQuestion {
  place: Place;
  task: number | undefined;
  /** With the wells that are meant, if any. */
  query: ImagesQuery;
  version: number;
}

/** As many images as are looked at one by one; of more only the first are read. */
const SEEN = 60;

/** Images of wells, those that failed first. */
export const askWells = ({ place, task, query }: WellsQuestion, options: CallOptions): Promise<ImagesPage> =>
  askImages(
    place,
    task,
    { ...query, sort: task === undefined ? 'zarr_url' : 'status', page: 1, pageSize: SEEN },
    options,
  );

/** The query for some wells of a plate, by the names that images give them; of none: the whole plate. */
export const wellsQuery = (query: ImagesQuery, names: readonly string[]): ImagesQuery =>
  names.length === 0 ? query : changed(query, { attributes: { ...query.attributes, well: [...names].sort() } });
