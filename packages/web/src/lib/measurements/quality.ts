/**
 * What stands out on each plate, at a glance: wells that failed, wells without objects, and wells far from all others.
 *
 *     qualityOf(groups, { answer, column: 'mean_dapi' })   // [{ plate: 'P3', wells: 384, objects: 412806, findings: [ … ] }]
 */
import type { ImageGroup, TableGroups } from '@service/contract';

import { valueKey, valueWords } from '../images/filters.ts';
import { layOut, type Plate } from '../images/plates/plate.ts';
import { robustScores } from './statistics.ts';
import { wellsOfGroups } from './well-groups.ts';
import type { WellValue } from './wells.ts';

/** From so many deviations on a well is an outlier: of 384 wells that are alike, chance makes none. */
const FAR = 3.5;
/** With fewer wells nobody knows what is usual. */
const LEAST_WELLS = 6;

export type FindingKind = 'failed' | 'unmeasured' | 'empty' | 'count' | 'intensity';

export interface Finding {
  kind: FindingKind;
  /** How many wells, and as images write them, for filters. */
  count: number;
  wells: string[];
}

export interface PlateQuality {
  /** As images name it, and in words. */
  value: unknown;
  plate: string;
  wells: number;
  /** Undefined where nothing was measured. */
  objects: number | undefined;
  findings: Finding[];
}

interface Measured {
  answer: Pick<TableGroups, 'by' | 'groups' | 'problems'>;
  /** The brightness of objects; undefined where none was measured. */
  column: string | undefined;
}

/** Names of the wells whose value is far from that of the others. */
function outliers(wells: ReadonlyMap<string, WellValue>): string[] {
  const known = [...wells].filter(([, { value }]) => Number.isFinite(value));
  if (known.length < LEAST_WELLS) return [];
  const scores = robustScores(known.map(([, { value }]) => value));
  return known.filter((_, at) => Math.abs(scores[at]!) > FAR).map(([name]) => name);
}

const namesWhere = (wells: ReadonlyMap<string, WellValue>, is: (well: WellValue) => boolean): string[] =>
  [...wells].filter(([, well]) => is(well)).map(([name]) => name);

const isEmpty = ({ objects, problem }: WellValue) => objects === 0 && !problem;

/** Names of wells by what is unusual about them. */
function foundIn(counts: ReadonlyMap<string, WellValue>, values: ReadonlyMap<string, WellValue> | undefined) {
  const empty = namesWhere(counts, isEmpty);
  return {
    unmeasured: namesWhere(counts, ({ problem }) => problem !== undefined),
    empty,
    // that there is none at all is told already
    count: outliers(counts).filter((name) => !empty.includes(name)),
    intensity: values ? outliers(values) : [],
  };
}

function findingsOf({ wells }: Plate, found: Partial<Record<FindingKind, string[]>>): Finding[] {
  const failed = [...wells.values()].filter((well) => well.failed > 0).map(({ name }) => name);
  const valuesOf = (name: string) => wells.get(name)?.values ?? [name];
  return Object.entries({ failed, ...found })
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => ({ kind: kind as FindingKind, count: names.length, wells: names.flatMap(valuesOf) }));
}

function plateQuality(value: unknown, groups: readonly ImageGroup[], measured: Measured | undefined): PlateQuality {
  const plate = layOut(groups);
  const told = { value, plate: valueWords(value), wells: plate.wells.size };
  const ofPlate = measured?.answer.groups.filter(({ values }) => valueKey(values[0]) === valueKey(value)) ?? [];
  if (!measured || ofPlate.length === 0) return { ...told, objects: undefined, findings: findingsOf(plate, {}) };
  const answer = { ...measured.answer, groups: ofPlate };
  const counts = wellsOfGroups(answer, { column: '', per: 'count' });
  const { column } = measured;
  const values = column === undefined ? undefined : wellsOfGroups(answer, { column, per: 'median' });
  const objects = [...counts.values()].reduce((sum, well) => sum + well.objects, 0);
  return { ...told, objects, findings: findingsOf(plate, foundIn(counts, values)) };
}

/** One for each plate that has wells, in their order. Groups are by plate and well. */
export function qualityOf(groups: readonly ImageGroup[], measured: Measured | undefined): PlateQuality[] {
  const byPlate = Map.groupBy(
    groups.filter(({ values }) => values['plate'] !== undefined && values['plate'] !== null),
    ({ values }) => valueKey(values['plate']),
  );
  return [...byPlate.values()]
    .map((list) => plateQuality(list[0]!.values['plate'], list, measured))
    .filter(({ wells }) => wells > 0)
    .sort((one, other) => one.plate.localeCompare(other.plate, 'en', { numeric: true }));
}
