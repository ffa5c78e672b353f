/** Which images make the picture of a plate: one set of fields for each well. */
import { type Image, plain } from '@service/contract';
import { placeInPlate } from '@service/contract/ome';

import { ofGeneration } from '../projects/index.ts';
import type { Plate, Well } from './ask.ts';

export interface PlateChoice {
  /** Of several rounds of staining; undefined: the first. */
  acquisition?: number | undefined;
  /** What tasks made last, or what they made it from. */
  images: 'newest' | 'original';
}

export interface ChosenPlate extends Plate {
  acquisitions: number[];
}

const WELL_NAME = /^([A-Za-z]{1,2})(\d{1,3})$/;

interface ImageInWell {
  zarr_url: string;
  row: string;
  column: string;
  plate: string | undefined;
}

/** Where an image lies: as its address says, or else the attribute. */
function positionOf({ zarr_url, attributes }: Image): ImageInWell | undefined {
  const place = placeInPlate(zarr_url);
  if (place) return { zarr_url, ...place };
  const { well } = attributes;
  const [, row, column] = (typeof well === 'string' ? WELL_NAME.exec(well) : undefined) ?? [];
  return row === undefined ? undefined : { zarr_url, row, column: column!, plate: undefined };
}

const acquisitionOf = ({ attributes }: Image) => {
  const value = Number(plain(attributes['acquisition'] ?? 0));
  return Number.isInteger(value) ? value : 0;
};

const inOrder = new Intl.Collator('en', { numeric: true });

export function choosePlate(images: readonly Image[], { acquisition, images: which }: PlateChoice): ChosenPlate {
  const acquisitions = [...new Set(images.map(acquisitionOf))].sort((one, other) => one - other);
  const wanted = acquisition ?? acquisitions[0];
  const chosen = ofGeneration(images, which).filter((image) => acquisitionOf(image) === wanted);
  const positioned = chosen.flatMap((image) => positionOf(image) ?? []);
  const wells = new Map<string, Well>();
  for (const { zarr_url, row, column } of positioned) {
    const name = `${row}/${column}`;
    const well = wells.get(name) ?? { row, column, images: [] };
    well.images.push(zarr_url);
    wells.set(name, well);
  }
  for (const { images: fields } of wells.values()) fields.sort(inOrder.compare);
  return { path: positioned.find(({ plate }) => plate !== undefined)?.plate, wells: [...wells.values()], acquisitions };
}
