/** What the service counts for a well. */
import type { TableGroups } from '@service/contract';

type Group = TableGroups['groups'][number];

/** A well with some objects, and the median of their area. */
export function group(plate: string, well: string, num_rows: number, median: number | null): Group {
  const name = well.replace('/', '');
  const none = { std: null, min: null, max: null, q1: null, q3: null };
  return {
    values: [plate, well],
    zarr_urls: [`/d/${plate}.zarr/${name[0]}/${name.slice(1)}/0`],
    num_rows,
    columns: [{ name: 'area', count: num_rows, num_missing: 0, mean: median, median, ...none }],
  };
}
