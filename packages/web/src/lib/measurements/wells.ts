/** One value for each well of a plate, for the map of it. */
import type { ImageGroup, TableProblem } from '@service/contract';

import { counted, formatNumber } from '../format.ts';
import type { PictureLook } from '../images/plates/picture.ts';
import { cellName, layOut, type Plate, readWell } from '../images/plates/plate.ts';
import type { Fill } from '../images/plates/values.ts';
import { platePath } from '../images/viewers.ts';
import { colourOf, type Legend, legendOf } from '../pixels/colour-map.ts';
import type { ImagePairs } from './match.ts';
import { imageOf, type ImageRows, type Rows, wellOf } from './rows.ts';
import { meanOf, type Numbers, quantile, robustScores } from './statistics.ts';
import { shareWords } from './words.ts';

export const PER_WELL = ['median', 'mean', 'count', 'score', 'share', 'difference', 'more'] as const;
export type PerWell = (typeof PER_WELL)[number];

export const PER_WELL_WORDS: Record<PerWell, string> = {
  median: 'Median',
  mean: 'Mean',
  count: 'Objects',
  score: 'Robust z-score',
  share: 'Share selected',
  difference: 'Difference',
  more: 'More objects',
};

/** What needs nothing but the table: no selection, no second run. */
const ALONE = ['median', 'mean', 'count', 'score'] as const;
export const PER_WELL_ALONE: readonly PerWellAlone[] = ALONE;
export type PerWellAlone = (typeof ALONE)[number];
export const isAlone = (per: PerWell): per is PerWellAlone => (ALONE as readonly PerWell[]).includes(per);

/** Shares are of a selection, differences of two runs. */
export const perWellFor = (isSelected: boolean, isCompared: boolean): PerWell[] =>
  PER_WELL.filter((one) => isAlone(one) || (one === 'share' ? isSelected : isCompared));

/** Another run, with its values, and which of its images is which of this one. */
export interface Compared {
  values: Numbers;
  pairs: ImagePairs;
}

type WellImage = Pick<ImageRows, 'zarr_url' | 'attributes'>;

export interface WellValue {
  /** NaN where nothing was measured. */
  value: number;
  objects: number;
  /** Objects whose value is not a number. */
  missing: number;
  images: WellImage[];
  /** Why it has no rows, where there is an image. */
  problem?: TableProblem;
}

const NO_PLATE = '';
const plateName = ({ attributes }: WellImage) => String(attributes['plate'] ?? NO_PLATE);

/** The plates that rows are of, in the order of the images. */
export const platesOf = ({ images }: Rows): string[] => [
  ...new Set(images.filter((image) => wellOf(image) !== undefined).map(plateName)),
];

function imagesByWell({ images }: Rows, plate: string): Map<string, ImageRows[]> {
  const wells = new Map<string, ImageRows[]>();
  for (const image of images) {
    const well = wellOf(image);
    if (well === undefined || plateName(image) !== plate) continue;
    const list = wells.get(well);
    if (list) list.push(image);
    else wells.set(well, [image]);
  }
  return wells;
}

function valuesOf(values: Numbers, images: ImageRows[]): { known: Float64Array; missing: number } {
  const all = images.reduce((sum, { from, to }) => sum + to - from, 0);
  const known = new Float64Array(all);
  let count = 0;
  for (const { from, to } of images) {
    for (let row = from; row < to; row++) if (Number.isFinite(values[row])) known[count++] = values[row]!;
  }
  return { known: known.subarray(0, count), missing: all - count };
}

const OF_VALUES: Record<'median' | 'mean', (known: Float64Array) => number> = {
  median: (known) => quantile(known.sort(), 0.5),
  mean: meanOf,
};

function shareOf(images: ImageRows[], selected: Uint8Array): number {
  let [chosen, all] = [0, 0];
  for (const { from, to } of images) {
    all += to - from;
    for (let row = from; row < to; row++) chosen += selected[row]!;
  }
  return all === 0 ? NaN : chosen / all;
}

/** By its place in the folder of a plate: an image without rows says nothing else about itself. */
function wellInFolder(zarrUrl: string, folders: ReadonlySet<string | undefined>): string | undefined {
  const folder = platePath(zarrUrl);
  if (folder === undefined || !folders.has(folder)) return undefined;
  const cell = readWell(zarrUrl.split('/').slice(-3, -1).join(''));
  return cell && cellName(cell);
}

/** Wells of a plate whose images have no rows at all, with the reason. `images` are those that have some. */
export function unreadWells(
  problems: readonly TableProblem[],
  images: readonly Pick<WellImage, 'zarr_url'>[],
  known: ReadonlyMap<string, unknown>,
): Map<string, WellValue> {
  const folders = new Set(images.map(({ zarr_url }) => platePath(zarr_url)));
  const found = new Map<string, WellValue>();
  for (const problem of problems) {
    const well = wellInFolder(problem.zarr_url, folders);
    if (well === undefined || known.has(well)) continue;
    found.set(well, { value: NaN, objects: 0, missing: 0, images: [], problem });
  }
  return found;
}

/** How far the value of each well is from that of the others. */
export function withScores(wells: ReadonlyMap<string, WellValue>): Map<string, WellValue> {
  const scores = robustScores([...wells.values()].map(({ value }) => value));
  return new Map([...wells].map(([well, one], at) => [well, { ...one, value: scores[at]! }]));
}

/** Against the same images of another run: medians, or how many more objects there are. NaN where one of them has none. */
function differenceOf(
  own: { known: Float64Array; objects: number },
  images: ImageRows[],
  per: PerWell,
  other: Compared,
) {
  const theirs = images.flatMap((image) => other.pairs.get(image) ?? []);
  if (theirs.length === 0) return NaN;
  const { known, missing } = valuesOf(other.values, theirs);
  if (per === 'more') return own.objects - known.length - missing;
  return own.known.length === 0 || known.length === 0 ? NaN : OF_VALUES.median(own.known) - OF_VALUES.median(known);
}

interface Beside {
  /** One for each row that is selected. */
  selected: Uint8Array;
  compared?: Compared | undefined;
}

function valueOf(images: ImageRows[], values: Numbers, per: PerWell, { selected, compared }: Beside): WellValue {
  const { known, missing } = valuesOf(values, images);
  const objects = known.length + missing;
  const value = () => {
    if (per === 'count') return objects;
    if (per === 'share') return shareOf(images, selected);
    if (per === 'difference' || per === 'more')
      return compared ? differenceOf({ known, objects }, images, per, compared) : NaN;
    return known.length === 0 ? NaN : OF_VALUES[per === 'mean' ? 'mean' : 'median'](known);
  };
  return { value: value(), objects, missing, images };
}

/** By the name of the well. Scores compare the medians of the wells of this plate. */
export function wellValues(
  rows: Rows,
  plate: string,
  values: Numbers,
  per: PerWell,
  beside: Beside,
): Map<string, WellValue> {
  const found = new Map(
    [...imagesByWell(rows, plate)].map(([well, images]) => [well, valueOf(images, values, per, beside)]),
  );
  const ofPlate = rows.images.filter((image) => plateName(image) === plate);
  const unread = unreadWells(rows.header.problems, ofPlate, found);
  return new Map([...(per === 'score' ? withScores(found) : found), ...unread]);
}

/** As the map of wells takes it. */
export function plateOf(wells: ReadonlyMap<string, WellValue>): Plate {
  const groups = [...wells].map(([well, { images }]): ImageGroup => ({
    values: { well },
    num_images: images.length,
    counts: null,
    num_running: 0,
    num_stopped: 0,
    num_with_warnings: 0,
    newest_unit_id: null,
  }));
  const plate = layOut(groups);
  // as the images write it, for filters
  for (const [name, well] of plate.wells) {
    const images = wells.get(name)?.images ?? [];
    well.values = [...new Set(images.map(({ attributes }) => String(attributes['well'])))];
  }
  return plate;
}

export const legendOfWells = (wells: ReadonlyMap<string, WellValue>, per: PerWell): Legend | undefined =>
  legendOf(
    per === 'score' || per === 'difference' || per === 'more' ? 'diverging' : 'sequential',
    [...wells.values()].map(({ value }) => value),
  );

export const valueWords = (per: PerWell, value: number): string =>
  Number.isNaN(value) ? 'not measured' : per === 'share' ? shareWords(value) : formatNumber(value, 4);

/** Undefined: not measured, drawn as a gap. */
export const fillOf = (legend: Legend | undefined, value: number | undefined): string | undefined =>
  legend === undefined || value === undefined || Number.isNaN(value) ? undefined : colourOf(legend, value);

/** As the map draws it: a colour, a gap, or a sign where there is a table that can't be read. */
export function lookOfWell(legend: Legend | undefined, well: WellValue | undefined): Fill | PictureLook {
  if (well?.problem && well.problem.kind !== 'no_table') return 'unreadable';
  const fill = fillOf(legend, well?.value);
  return fill === undefined ? 'gone' : { fill };
}

/** `1 212.5, 318 objects` */
export function wellWords(per: PerWell, well: WellValue | undefined): string {
  if (!well) return 'no image';
  if (well.problem) return well.problem.kind === 'no_table' ? 'no such table' : 'its table can’t be read';
  const lost = well.missing > 0 ? [`${counted(well.missing, 'value')} missing`] : [];
  return [valueWords(per, well.value), counted(well.objects, 'object'), ...lost].join(', ');
}

export const countUnmeasured = (wells: ReadonlyMap<string, WellValue>): number =>
  [...wells.values()].filter(({ value }) => Number.isNaN(value)).length;

/** What a map shows: `Median of Area, µm²`, `Objects`. */
export const shownWords = (per: PerWell, name: string): string =>
  per === 'count' || per === 'share' || per === 'more' ? PER_WELL_WORDS[per] : `${PER_WELL_WORDS[per]} of ${name}`;

/** The row as a place on a plate: `P3, F16`. */
export function placeWords(rows: Rows, row: number): string {
  const image = imageOf(rows, row);
  return [image.attributes['plate'], wellOf(image)].filter((part) => part !== undefined).join(', ') || image.zarr_url;
}
