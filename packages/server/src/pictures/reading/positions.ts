/**
 * Where a field lies in its well: as the table of regions says that task packages write beside an image
 * (`tables/FOV_ROI_table`, an AnnData table in Zarr), or as the metadata of the image says.
 */
import type { OpenImage } from './image.ts';
import { openNumbers } from '../../zarr/arrays.ts';
import { readAttributes } from '../../zarr/attributes.ts';
import type { Reading } from '../../zarr/store.ts';

export interface Position {
  x: number;
  y: number;
}

/** Where the microscope was, before where the region begins in the image. */
const COLUMNS = [
  ['x_micrometer_original', 'y_micrometer_original'],
  ['x_micrometer', 'y_micrometer'],
] as const;
const MOST_VALUES = 10_000;

function translationOf({ levels }: OpenImage): Position | undefined {
  const translation = levels[0]?.translation;
  const [y, x] = [translation?.at(-2), translation?.at(-1)];
  return x === undefined || y === undefined ? undefined : { x, y };
}

/** All values of a small array, row by row. */
async function valuesOf(
  folder: string,
  name: string,
  version: 2 | 3,
  reading: Reading,
): Promise<unknown[] | undefined> {
  const array = await openNumbers(folder, name, version, reading);
  const count = [...array.shape, ...array.chunks].reduce((product, size) => product * size, 1);
  if (!(count <= MOST_VALUES ** 2) || array.chunks.some((size, axis) => size < array.shape[axis]!)) return undefined;
  const { data, shape, stride } = (await array.getChunk(array.shape.map(() => 0))) as unknown as {
    data: ArrayLike<unknown>;
    shape: number[];
    stride: number[];
  };
  const [rows = 0, columns = 1] = array.shape;
  if (shape.length > 2) return undefined;
  return Array.from({ length: rows * columns }, (_, at) => {
    const [row, column] = [Math.floor(at / columns), at % columns];
    return data[row * (stride[0] ?? 1) + column * (stride[1] ?? 0)];
  });
}

function firstPosition(names: unknown[], values: unknown[]): Position | undefined {
  const found = COLUMNS.map(([left, top]) => ({ x: values[names.indexOf(left)], y: values[names.indexOf(top)] }));
  return found.find((one): one is Position => Number.isFinite(one.x) && Number.isFinite(one.y));
}

/** The first region of the table: a field is a region of its own image. */
async function fromTable(image: OpenImage, reading: Reading): Promise<Position | undefined> {
  const table = `${image.path}/tables/FOV_ROI_table`;
  try {
    const attributes = await readAttributes(`${table}/var`, reading);
    if (!attributes) return undefined;
    const index = (attributes.values as { _index?: unknown } | undefined)?._index;
    const names = await valuesOf(
      `${table}/var`,
      typeof index === 'string' ? index : '_index',
      attributes.version,
      reading,
    );
    const values = await valuesOf(table, 'X', attributes.version, reading);
    return names && values && firstPosition(names, values);
  } catch {
    // a table that cannot be read says nothing about positions
    reading.signal.throwIfAborted();
    return undefined;
  }
}

const areDifferent = (positions: readonly (Position | undefined)[]): positions is Position[] =>
  positions.every((one) => one !== undefined) &&
  new Set(positions.map((one) => `${one.x} ${one.y}`)).size === positions.length;

/** The positions of the fields of one well; undefined where they are not known of all, or two are the same. */
export async function positionsOf(fields: readonly OpenImage[], reading: Reading): Promise<Position[] | undefined> {
  const told = fields.map(translationOf);
  if (areDifferent(told)) return told;
  const first = await fromTable(fields[0]!, reading);
  if (first === undefined) return undefined;
  const fromTables = [first, ...(await Promise.all(fields.slice(1).map((field) => fromTable(field, reading))))];
  return areDifferent(fromTables) ? fromTables : undefined;
}
