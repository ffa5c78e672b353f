/**
 * Images as texts that the database takes as they are, some thousands in one text. Who has many images makes the texts
 * where nobody waits, and hands them over as bytes.
 *
 * The tags of an image are computed by the database once a value, not once an image: `values` lists what occurs, and each
 * row has the places of its own in that list.
 */
import { type ImageBulk, type ImageCreate, type DatasetImport, NumberAsWritten, type Scalar } from '@service/contract';

export interface ImageRows {
  /** JSON: `[["well", "A01"], ["is_3D", null], …]`; null stands for a type that is true. */
  values: Uint8Array;
  /** JSON: `[{"zarr_url", "origin", "attributes", "types", "tags"}, …]`, with how many there are. */
  batches: { count: number; text: Uint8Array }[];
}

/** A statement has about so much; images with long attributes are fewer. */
const BATCH_IMAGES = 5000;
const BATCH_CHARACTERS = 2 ** 20;

const encoder = new TextEncoder();
const written = (value: Scalar) => (value instanceof NumberAsWritten ? value.source : String(value));

/** Numbers the values of images in the order in which they occur. */
function createNumbering() {
  const places = new Map<string, number>();
  const listed: string[] = [];
  const placeOf = (name: string, key: string, value: Scalar | null): number => {
    const known = places.get(name);
    if (known !== undefined) return known;
    places.set(name, listed.length);
    return listed.push(JSON.stringify([key, value])) - 1;
  };
  return {
    tagsOf({ attributes, types }: ImageCreate): number[] {
      const tags: number[] = [];
      for (const key in attributes) {
        const value = attributes[key]!;
        tags.push(placeOf(`${typeof value === 'string' ? 's' : 'n'}${key}\u001f${written(value)}`, key, value));
      }
      for (const key in types) if (types[key]) tags.push(placeOf(`t${key}`, key, null));
      return tags;
    },
    values: () => encoder.encode(`[${listed.join(',')}]`),
  };
}

export function imageRows(images: readonly ImageCreate[]): ImageRows {
  const numbering = createNumbering();
  const batches: ImageRows['batches'] = [];
  let rows: string[] = [];
  let length = 0;
  const close = () => {
    if (rows.length > 0) batches.push({ count: rows.length, text: encoder.encode(`[${rows.join(',')}]`) });
    rows = [];
    length = 0;
  };
  for (const image of images) {
    const { zarr_url, origin, attributes, types } = image;
    const row = JSON.stringify({ zarr_url, origin, attributes, types, tags: numbering.tagsOf(image) });
    rows.push(row);
    length += row.length;
    if (rows.length >= BATCH_IMAGES || length >= BATCH_CHARACTERS) close();
  }
  close();
  return { values: numbering.values(), batches };
}

export type ImportRest = Omit<DatasetImport, 'images'> & { counts: number[] };

export function packImport({ images, ...rest }: DatasetImport) {
  const { values, batches } = imageRows(images);
  const packed: ImportRest = { ...rest, counts: batches.map(({ count }) => count) };
  return { rest: packed, texts: [values, ...batches.map(({ text }) => text)] };
}

/** The rows of a packed import. */
export function rowsOf({ counts }: ImportRest, [values, ...texts]: Uint8Array[]): ImageRows {
  return { values: values!, batches: counts.map((count, index) => ({ count, text: texts[index]! })) };
}

export type BulkRest = Omit<ImageBulk, 'zarr_urls'>;

/** The addresses become one text, a JSON list, if there are any. */
export function packBulk({ zarr_urls, ...rest }: ImageBulk) {
  const packed: BulkRest = rest;
  return { rest: packed, texts: zarr_urls === undefined ? [] : [encoder.encode(JSON.stringify(zarr_urls))] };
}
