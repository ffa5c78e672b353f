/** The picture of a plate behind the map of its wells: what it shows, and where each well of it goes. */
import type { PlatePictureInfo } from '@service/contract';

import type { Tile } from '../../pixels/facts.ts';
import type { Histogram } from '../../pixels/histogram.ts';
import { cellName, readWell, type Well } from './plate.ts';

/** A well whose picture is there, one whose files are gone, and one that cannot be read. */
export type PictureLook = 'pictured' | 'gone' | 'unreadable';

/** How the map is laid out, in its own units; `zoom` is pixels of the page for one of them. */
export interface MapPlaces {
  width: number;
  height: number;
  /** Of a well. */
  side: number;
  zoom: number;
  /** Of the corners of a well. */
  radius: number;
  x: (column: number) => number;
  y: (row: number) => number;
}

/** All wells in one picture, as they are shown. */
export interface DrawnPlate {
  mosaic: OffscreenCanvas;
  info: PlatePictureInfo;
  /** Of each channel that is shown. */
  histograms: (Histogram | undefined)[];
  tileOf: (channel: number) => Tile | undefined;
}

type WellInfo = PlatePictureInfo['wells'][number];

/** By the names that the map gives to wells. */
export function wellsOf({ wells }: PlatePictureInfo): Map<string, WellInfo> {
  return new Map(
    wells.flatMap((well) => {
      const cell = readWell(well.name);
      return cell ? [[cellName(cell), well] as const] : [];
    }),
  );
}

export function pictureLook(wells: ReadonlyMap<string, WellInfo>, { name }: Well): PictureLook {
  const well = wells.get(name);
  if (!well || well.state === 'missing') return 'gone';
  return well.state === 'unreadable' ? 'unreadable' : 'pictured';
}

const WORDS: Partial<Record<WellInfo['state'], string>> = {
  missing: 'not on disk',
  unreadable: 'not readable',
  being_written: 'being written',
};

export function pictureWords(wells: ReadonlyMap<string, WellInfo>, { name }: Well): string {
  const state = wells.get(name)?.state ?? 'missing';
  return WORDS[state] ?? '';
}

const LARGEST = 4096;

/** Wells that are smaller than this on the page are seen through a lens, three by three. */
export const LENS_BELOW = 24;
export const IN_LENS = 48;

/** The side of the picture that shows every well as sharp as the screen does, also under a lens. */
export function sideFor({ rows, columns }: PlatePictureInfo, { side, zoom }: MapPlaces, ratio: number): number {
  const onPage = side * zoom;
  const cell = Math.ceil(((onPage < LENS_BELOW ? IN_LENS : onPage) * ratio) / 8) * 8;
  return Math.min(LARGEST, Math.max(rows.length, columns.length) * cell);
}

/** Whether a picture can be shown at all. */
export const hasPicture = (info: PlatePictureInfo | undefined): info is PlatePictureInfo =>
  info !== undefined && info.channels.length > 0 && info.wells.some(({ state }) => state !== 'missing');
