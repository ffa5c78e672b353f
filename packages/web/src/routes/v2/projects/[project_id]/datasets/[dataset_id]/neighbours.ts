/** The wells around one, in its row, and the image of each that is like the one that is looked at. */
import type { ListedImage } from '#lib/images/filters.ts';
import { cellName, type Plate, readWell, type Well } from '#lib/images/plates/plate.ts';

const ACROSS = 8;

export interface RowOfWells {
  wells: Well[];
  before: Well | undefined;
  after: Well | undefined;
}

/** Eight wells of the row that hold images, the one in the middle as far as the ends of the row allow. */
export function windowOfRow({ wells }: Pick<Plate, 'wells'>, { row, name }: Well): RowOfWells {
  const all = [...wells.values()].filter((well) => well.row === row).sort((one, other) => one.column - other.column);
  const at = all.findIndex((well) => well.name === name);
  const first = Math.max(0, Math.min(at - ACROSS / 2, all.length - ACROSS));
  return { wells: all.slice(first, first + ACROSS), before: all[at - 1], after: all[at + 1] };
}

/** The last part of its path: `0_mip`. */
export const kindOf = (zarrUrl: string): string => zarrUrl.slice(zarrUrl.lastIndexOf('/') + 1);

/** `kind` is the last part of its path, such as `0_mip`; where a well has none of that kind, any of its images. */
export function imageOfWell(images: readonly ListedImage[], well: Well, kind: string | undefined) {
  const own = images.filter(({ attributes }) => {
    const cell = readWell(attributes['well']);
    return cell !== undefined && cellName(cell) === well.name;
  });
  return own.find(({ zarr_url }) => kindOf(zarr_url) === kind) ?? own[0];
}
