/** What of an image is shown beside its rows: its address, its attributes, and what condition tables say. */
import type { Value } from '../ask.ts';
import type { Cell, ColumnType } from '../reading/columns.ts';
import { commonType, type ImageWithTable, type OpenSelection } from './parts.ts';

export interface ShownColumn {
  name: string;
  type: ColumnType;
  valueOf(image: ImageWithTable): Value | null;
}

function typeOf(value: Value): ColumnType {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return 'boolean';
  return Number.isInteger(value) ? 'integer' : 'number';
}

/** A column of the table keeps its name; an attribute that is called like it gets one more word. */
export function attributeColumns({ images, columns, attributes }: OpenSelection): ShownColumn[] {
  const taken = new Set(columns.map(({ name }) => name));
  const named = (name: string) => (taken.has(name) ? `image_${name}` : name);
  const ofImages = attributes.map((key): ShownColumn => {
    const values = images.flatMap(({ attributes: own }) => (Object.hasOwn(own, key) ? [typeOf(own[key]!)] : []));
    const type = values.reduce(commonType);
    const valueOf = ({ attributes: own }: ImageWithTable) => {
      const value = Object.hasOwn(own, key) ? own[key]! : null;
      return type === 'text' && value !== null ? String(value) : value;
    };
    return { name: named(key), type, valueOf };
  });
  return [{ name: named('zarr_url'), type: 'text', valueOf: ({ zarr_url }) => zarr_url }, ...ofImages];
}

/** JSON has no infinite numbers: they are texts. */
export const wireCell = (cell: Cell): Cell =>
  typeof cell === 'number' && !Number.isFinite(cell) ? String(cell) : cell;
