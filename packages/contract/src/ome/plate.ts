/** What the metadata of an OME-Zarr plate says: its rows and columns, in their order. */
import { isObject, objects, omeOf } from './attributes.ts';

export interface OmePlate {
  rows: string[];
  columns: string[];
}

const namesOf = (list: unknown): string[] => {
  const names = objects(list).flatMap(({ name }) =>
    typeof name === 'string' || typeof name === 'number' ? [`${name}`] : [],
  );
  return [...new Set(names)];
};

/** Undefined for what is no plate. */
export function readPlate(attributes: unknown): OmePlate | undefined {
  const { plate } = omeOf(attributes);
  if (!isObject(plate)) return undefined;
  const [rows, columns] = [namesOf(plate['rows']), namesOf(plate['columns'])];
  return rows.length === 0 || columns.length === 0 ? undefined : { rows, columns };
}

/** `A/01/0` at the end of an address: row, column and image. Undefined where it is not so. */
export function placeInPlate(zarrUrl: string): { plate: string; row: string; column: string } | undefined {
  const [, plate, row, column] = /^(.+)\/([A-Za-z]{1,2})\/(\d{1,3})\/[^/]+\/?$/.exec(zarrUrl) ?? [];
  return plate === undefined ? undefined : { plate, row: row!, column: column! };
}
