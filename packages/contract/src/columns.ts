/**
 * Columns of a table as typed arrays, for plots of a million objects: a length (32 bits, little endian), a header in JSON that
 * is as long, and the arrays behind it, each at a multiple of 8 bytes.
 *
 *     const { header, arrays } = readColumns(await response.arrayBuffer());
 *     header.images[0]   // { zarr_url, attributes, rows }: the first `rows` rows are of this image
 *     arrays.get('area') // Float64Array
 *
 * It imports no code, so that pages can have it alone.
 */
import type { ColumnType, TableProblem } from './projects/table.ts';

export interface ColumnOfFile {
  name: string;
  type: ColumnType;
  /** Numbers have NaN for what is missing. Texts are numbers into `texts`, -1 for what is missing. */
  array: 'float32' | 'float64' | 'int32';
  texts?: string[];
}

export interface ColumnsHeader {
  rows: number;
  /** The column that names the objects. */
  index: string | null;
  columns: ColumnOfFile[];
  /** Rows are in the order of the images. */
  images: { zarr_url: string; attributes: Record<string, string | number | boolean>; rows: number }[];
  problems: TableProblem[];
  num_problems: number;
}

export type ColumnArray = Float32Array | Float64Array | Int32Array;

const KINDS = { float32: Float32Array, float64: Float64Array, int32: Int32Array };
const ALIGNMENT = 8;
const aligned = (length: number) => Math.ceil(length / ALIGNMENT) * ALIGNMENT;

/** The parts of a file, one after the other. The arrays are those of the header's columns, in their order. */
export function* writeColumns(header: ColumnsHeader, arrays: Iterable<ColumnArray>): Generator<Uint8Array> {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const head = new Uint8Array(aligned(4 + text.length)).fill(0x20);
  new DataView(head.buffer).setUint32(0, head.length - 4, true);
  head.set(text, 4);
  yield head;
  for (const array of arrays) {
    yield new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    yield new Uint8Array(aligned(array.byteLength) - array.byteLength);
  }
}

/** The arrays are views of the bytes: nothing is copied. */
export function readColumns(bytes: ArrayBuffer): { header: ColumnsHeader; arrays: Map<string, ColumnArray> } {
  const length = new DataView(bytes).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as ColumnsHeader;
  const arrays = new Map<string, ColumnArray>();
  let at = 4 + length;
  for (const { name, array } of header.columns) {
    const Kind = KINDS[array];
    arrays.set(name, new Kind(bytes, at, header.rows));
    at += aligned(header.rows * Kind.BYTES_PER_ELEMENT);
  }
  return { header, arrays };
}
