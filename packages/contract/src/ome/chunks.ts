/** Parts of arrays that are kept in chunks: which chunks hold a part, and how it is put together from them. */

export interface ChunkOfArray {
  data: ArrayLike<number | bigint> & { get?: (at: number) => number };
  shape: number[];
  stride: number[];
}

/** From where to where along each axis. */
export type Span = readonly [from: number, to: number];

/** All chunks that hold a part of the spans. */
export function chunksWithin(spans: readonly Span[], sizes: readonly number[]): number[][] {
  return spans.reduce<number[][]>(
    (before, [from, to], axis) => {
      const size = sizes[axis]!;
      const [first, last] = [Math.floor(from / size), Math.floor((to - 1) / size)];
      return before.flatMap((coords) => Array.from({ length: last - first + 1 }, (_, at) => [...coords, first + at]));
    },
    [[]],
  );
}

export const countChunks = (spans: readonly Span[], sizes: readonly number[]) =>
  spans.reduce((product, [from, to], axis) => {
    const size = sizes[axis]!;
    return product * (Math.floor((to - 1) / size) - Math.floor(from / size) + 1);
  }, 1);

function valuesOf({ data }: ChunkOfArray): ArrayLike<number | bigint> {
  // packed flags are no list of numbers
  return typeof data.get === 'function' && !ArrayBuffer.isView(data)
    ? Array.from({ length: data.length }, (_, at) => Number(data.get!(at)))
    : data;
}

type Numbers = Float64Array | Float32Array | Uint32Array | Uint16Array | Uint8Array;

/** Takes the part of a chunk that lies in the spans over; the brighter value stays. */
export function takeChunk(chunk: ChunkOfArray, coords: readonly number[], spans: readonly Span[], to: Numbers): void {
  const { shape, stride } = chunk;
  const values = valuesOf(chunk);
  const axes = spans.length;
  const begin = spans.map(
    ([from], axis) => Math.max(from, coords[axis]! * shape[axis]!) - coords[axis]! * shape[axis]!,
  );
  const end = spans.map(
    ([, until], axis) => Math.min(until, (coords[axis]! + 1) * shape[axis]!) - coords[axis]! * shape[axis]!,
  );
  const [y, x] = [axes - 2, axes - 1];
  const width = spans[x]![1] - spans[x]![0];
  const left = coords[x]! * shape[x]! - spans[x]![0];
  const top = coords[y]! * shape[y]! - spans[y]![0];
  const at = begin.slice(0, -2);
  for (;;) {
    const offset = at.reduce((sum, index, axis) => sum + index * stride[axis]!, 0);
    for (let row = begin[y]!; row < end[y]!; row++) {
      let from = offset + row * stride[y]! + begin[x]! * stride[x]!;
      let place = (top + row) * width + left + begin[x]!;
      for (let column = begin[x]!; column < end[x]!; column++, place++, from += stride[x]!) {
        const value = Number(values[from]);
        // what was there before is no number, or darker
        if (!(to[place]! >= value)) to[place] = value;
      }
    }
    let axis = at.length - 1;
    while (axis >= 0 && ++at[axis]! >= end[axis]!) at[axis] = begin[axis--]!;
    if (axis < 0) return;
  }
}
