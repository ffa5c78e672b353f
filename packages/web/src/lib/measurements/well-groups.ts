/**
 * Wells from what the service counted for each of them: a map of a plate with a million objects costs some kilobytes.
 *
 *     wellsOfGroups(await askGroups(…), { column: 'area', per: 'median' })   // wells by their name
 */
import type { TableGroups } from '@service/contract';

import { wellOf } from './rows.ts';
import { type PerWellAlone, unreadWells, type WellValue, withScores } from './wells.ts';

type Counted = TableGroups['groups'][number];

interface Value {
  column: string;
  per: PerWellAlone;
}

const valueOf = ({ num_rows, columns }: Counted, { column, per }: Value): number =>
  per === 'count'
    ? num_rows
    : (columns.find(({ name }) => name === column)?.[per === 'mean' ? 'mean' : 'median'] ?? NaN);

const missingOf = ({ columns }: Counted, { column }: Value): number =>
  columns.find(({ name }) => name === column)?.num_missing ?? 0;

/** Images may write one well in two ways: the objects of both are counted, the larger part says the value. */
function together(one: WellValue, other: WellValue, per: Value['per']): WellValue {
  const larger = one.objects >= other.objects ? one : other;
  return {
    value: per === 'count' ? one.value + other.value : larger.value,
    objects: one.objects + other.objects,
    missing: one.missing + other.missing,
    images: [...one.images, ...other.images],
  };
}

/** By the name of the well, with those whose tables are not there. The groups are those of one plate. */
export function wellsOfGroups(
  { by, groups, problems }: Pick<TableGroups, 'by' | 'groups' | 'problems'>,
  value: Value,
): Map<string, WellValue> {
  const found = new Map<string, WellValue>();
  for (const group of groups) {
    const attributes = Object.fromEntries(by.map((key, at) => [key, group.values[at] as string]));
    const well = wellOf({ attributes });
    if (well === undefined) continue;
    const own = {
      value: valueOf(group, value),
      objects: group.num_rows,
      missing: missingOf(group, value),
      images: group.zarr_urls.map((zarr_url) => ({ zarr_url, attributes })),
    };
    const before = found.get(well);
    found.set(well, before ? together(before, own, value.per) : own);
  }
  const images = [...found.values()].flatMap((well) => well.images);
  const unread = unreadWells(problems, images, found);
  return new Map([...(value.per === 'score' ? withScores(found) : found), ...unread]);
}
