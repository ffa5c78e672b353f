/**
 * A plate, ready to be drawn: which wells there are, where their fields lie, and which of them cannot be read. One bad well
 * never hides the good ones.
 */
import { channelsOf, readPlate } from '@service/contract/ome';

import type { Plate, Well } from '../ask.ts';
import { type FieldPlace, fromCorner, inCell, inReadingOrder, sideOf } from '../drawing/mosaic.ts';
import { readAttributes } from '../../zarr/attributes.ts';
import { eachAtOnce } from '../../zarr/each-at-once.ts';
import { type OpenImage, openImage, type OpenLevel } from '../reading/image.ts';
import { positionsOf } from '../reading/positions.ts';
import type { Reading } from '../../zarr/store.ts';
import { unreadable, Unreadable } from '../../zarr/unreadable.ts';

const MOST_WELLS = 6144;
const WELLS_AT_ONCE = 12;

export interface Field {
  image: OpenImage;
  /** In its cell, as parts of 1. */
  place: FieldPlace;
}

export interface LaidWell extends Well {
  cell: { row: number; column: number };
  /** Those that can be read. */
  fields: Field[];
  /** Why some cannot. */
  problem: Unreadable | undefined;
}

export interface Layout {
  rows: string[];
  columns: string[];
  wells: LaidWell[];
  byPosition: boolean;
  /** The side of a cell at the full size of the images, in pixels. */
  fullSize: number;
  /** The first image that can be read, and its smallest level. */
  sample: { image: OpenImage; level: OpenLevel } | undefined;
}

const byName = (one: string, other: string) => one.length - other.length || (one < other ? -1 : 1);
const byNumber = (one: string, other: string) => Number(one) - Number(other) || byName(one, other);

/** Of the plate's metadata, and where it says less than the list of images, of both. */
async function gridOf({ path, wells }: Plate, reading: Reading) {
  let told: { rows: string[]; columns: string[] } | undefined;
  try {
    if (path !== undefined) told = readPlate((await readAttributes(path, reading))?.values);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
  }
  const all = (known: string[] | undefined, used: string[], order: (one: string, other: string) => number) => {
    const missing = [...new Set(used)].filter((name) => !known?.includes(name));
    return missing.length === 0 ? known! : [...(known ?? []), ...missing].sort(order);
  };
  return {
    rows: all(
      told?.rows,
      wells.map(({ row }) => row),
      byName,
    ),
    columns: all(
      told?.columns,
      wells.map(({ column }) => column),
      byNumber,
    ),
  };
}

interface Measured {
  image: OpenImage;
  level: OpenLevel;
  width: number;
  height: number;
}

/** The size of a field in the unit of its image, or in pixels where it has none. */
async function measured(path: string, reading: Reading): Promise<Measured> {
  const image = await openImage(path, reading);
  const level = await image.level(image.levels.length - 1);
  if (level.pixel) return { image, level, width: level.width * level.pixel.x, height: level.height * level.pixel.y };
  const { width, height } = await image.level(0);
  return { image, level, width, height };
}

async function openFields(
  { images }: Well,
  reading: Reading,
): Promise<{ fields: Measured[]; problem: Unreadable | undefined }> {
  const fields: Measured[] = [];
  let problem: Unreadable | undefined;
  for (const path of images) {
    try {
      fields.push(await measured(path, reading));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      problem ??= error;
    }
  }
  return { fields, problem };
}

interface Opened {
  well: Well;
  fields: Measured[];
  problem: Unreadable | undefined;
  places: FieldPlace[];
  byPosition: boolean;
}

async function openWell(well: Well, reading: Reading): Promise<Opened> {
  const { fields, problem } = await openFields(well, reading);
  const sizes = fields.map(({ width, height }) => ({ width, height }));
  if (fields.length <= 1) {
    return { well, fields, problem, places: sizes.map((size) => ({ x: 0, y: 0, ...size })), byPosition: true };
  }
  const images = fields.map(({ image }) => image);
  const positions = await positionsOf(images, reading);
  const places = positions
    ? fromCorner(sizes.map((size, at) => ({ ...size, ...positions[at]! })))
    : inReadingOrder(sizes);
  return { well, fields, problem, places, byPosition: positions !== undefined };
}

/** How many pixels of the largest level a length has. */
const pixelsPerUnit = ({ image, level }: Measured) => {
  const finest = image.levels[0]?.scale?.at(-1);
  return level.pixel && finest !== undefined && finest > 0 ? 1 / finest : 1;
};

export async function layPlate(plate: Plate, reading: Reading): Promise<Layout> {
  if (plate.wells.length > MOST_WELLS) throw unreadable(`This plate has more than ${MOST_WELLS} wells.`);
  const { rows, columns } = await gridOf(plate, reading);
  if (rows.length * columns.length > MOST_WELLS) {
    throw unreadable(`${plate.path} is damaged: its metadata names ${rows.length} rows and ${columns.length} columns.`);
  }
  const opened = new Array<Opened>(plate.wells.length);
  await eachAtOnce(plate.wells, WELLS_AT_ONCE, async (well, at) => {
    opened[at] = await openWell(well, reading);
  });
  const readable = opened.filter(({ fields }) => fields.length > 0);
  const side = readable.length === 0 ? 1 : sideOf(readable.map(({ places }) => places));
  const first = readable[0]?.fields[0];
  return {
    rows,
    columns,
    wells: opened.map(({ well, fields, problem, places }) => ({
      ...well,
      cell: { row: rows.indexOf(well.row), column: columns.indexOf(well.column) },
      fields: inCell(places, side).map((place, at) => ({ image: fields[at]!.image, place })),
      problem,
    })),
    byPosition: opened.every(({ byPosition }) => byPosition),
    fullSize: first ? Math.round(side * pixelsPerUnit(first)) : 0,
    sample: first && { image: first.image, level: first.level },
  };
}

/** The channels of a plate are those of its first image. */
export const channelsOfPlate = ({ sample }: Layout) =>
  sample ? channelsOf(sample.image.channels, sample.level.channels) : [];
