/**
 * Images as texts for the database, some thousands in one text. Who has many images makes the texts where nobody waits, and
 * hands them over as bytes: as JSON for images that change, as lines for COPY for new ones.
 *
 * The tags of an image are computed by the database once a value, not once an image: `values` lists what occurs, and each
 * row has the numbers of its own in that list.
 */
import { type ImageBulk, type ImageCreate, type DatasetImport, NumberAsWritten, type Scalar } from '@service/contract';

export interface ImageRows {
  /** JSON: `[["well", "A01"], ["is_3D", null], …]`; null stands for a type that is true. */
  values: Uint8Array;
  /** Texts, with how many images there are in each. */
  batches: { count: number; text: Uint8Array }[];
}

/** A statement has about so much; images with long attributes are fewer. */
const BATCH_IMAGES = 5000;
const BATCH_CHARACTERS = 2 ** 20;

const encoder = new TextEncoder();
const written = (value: Scalar) => (value instanceof NumberAsWritten ? value.source : String(value));

/** Numbers the values of images in the order in which they occur. */
function createNumbering() {
  const indexes = new Map<string, number>();
  const listed: string[] = [];
  const tagIndex = (name: string, key: string, value: Scalar | null): number => {
    const known = indexes.get(name);
    if (known !== undefined) return known;
    indexes.set(name, listed.length);
    return listed.push(JSON.stringify([key, value])) - 1;
  };
  return {
    tagsOf({ attributes, types }: ImageCreate): number[] {
      const tags: number[] = [];
      for (const key in attributes) {
        const value = attributes[key]!;
        tags.push(tagIndex(`${typeof value === 'string' ? 's' : 'n'}${key}\u001f${written(value)}`, key, value));
      }
      for (const key in types) if (types[key]) tags.push(tagIndex(`t${key}`, key, null));
      return tags;
    },
    values: () => encoder.encode(`[${listed.join(',')}]`),
  };
}

/** One text of many rows. */
interface Format {
  row(image: ImageCreate, tags: number[]): string;
  joined(rows: string[]): string;
}

function inBatches(images: readonly ImageCreate[], { row, joined }: Format): ImageRows {
  const numbering = createNumbering();
  const batches: ImageRows['batches'] = [];
  let rows: string[] = [];
  let length = 0;
  const close = () => {
    if (rows.length > 0) batches.push({ count: rows.length, text: encoder.encode(joined(rows)) });
    rows = [];
    length = 0;
  };
  for (const image of images) {
    const text = row(image, numbering.tagsOf(image));
    rows.push(text);
    length += text.length;
    if (rows.length >= BATCH_IMAGES || length >= BATCH_CHARACTERS) close();
  }
  close();
  return { values: numbering.values(), batches };
}

/** JSON: `[{"zarr_url", "origin", "attributes", "types", "tags"}, …]`. */
export const imageRows = (images: readonly ImageCreate[]): ImageRows =>
  inBatches(images, {
    row: ({ zarr_url, origin, attributes, types }, tags) =>
      JSON.stringify({ zarr_url, origin, attributes, types, tags }),
    joined: (rows) => `[${rows.join(',')}]`,
  });

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
const column = (text: string) => text.replace(/[\\\t\n\r]/g, (sign) => ESCAPES[sign]!);

/** Lines for COPY: `numbers of the tags ⇥ zarr_url ⇥ origin ⇥ attributes ⇥ types`. */
export const imageLines = (images: readonly ImageCreate[]): ImageRows =>
  inBatches(images, {
    row: ({ zarr_url, origin, attributes, types }, tags) =>
      [
        tags.join(','),
        column(zarr_url),
        origin === null ? '\\N' : column(origin),
        column(JSON.stringify(attributes)),
        column(JSON.stringify(types)),
      ].join('\t'),
    joined: (rows) => `${rows.join('\n')}\n`,
  });

/**
 * The same lines with what only the database knew: `dataset_id ⇥ position ⇥ tags ⇥ …`, a text at a time. What is not ASCII
 * passes as the bytes that it is.
 */
export function* placedLines(
  batches: ImageRows['batches'],
  { datasetId, first, tags }: { datasetId: number; first: number; tags: string[] },
): Generator<Uint8Array> {
  let position = first;
  for (const { text } of batches) {
    const lines = Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('latin1').split('\n');
    lines.pop();
    let placed = '';
    for (const line of lines) {
      const end = line.indexOf('\t');
      const numbers = end === 0 ? [] : line.slice(0, end).split(',');
      const own = numbers.map((number) => tags[Number(number)]).join(',');
      placed += `${datasetId}\t${position++}\t{${own}}${line.slice(end)}\n`;
    }
    yield Buffer.from(placed, 'latin1');
  }
}

export type ImportRest = Omit<DatasetImport, 'images'> & { counts: number[] };

export function packImport({ images, ...rest }: DatasetImport) {
  const { values, batches } = imageLines(images);
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
