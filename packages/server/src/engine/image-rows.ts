/**
 * Images as texts for the database, some thousands in one text. Who has many images makes the texts where nobody waits, and
 * hands them over as bytes: as JSON for images that change, as lines for COPY for new ones.
 *
 * The tags of an image are computed by the database once a value, not once an image: `values` lists what occurs, and each
 * row has the numbers of its own in that list. A value is written as JSON once, too, however many images have it.
 */
import { type ImageBulk, type ImageCreate, type DatasetImport, NumberAsWritten, type Scalar } from '@service/contract';

type Texts = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

export interface ImageRows<T extends Texts = Texts> {
  count: number;
  /** JSON: `[["attribute", "well", "A01", 12], ["type", "is_3D", true, 12], …]`, with how many images have each. */
  values: Uint8Array;
  /** Made when they are wanted: the database can take one while the next is made. */
  texts: T;
}

/** A statement has about so much; images with long attributes are fewer. */
const BATCH_IMAGES = 5000;
const BATCH_CHARACTERS = 2 ** 20;

const encoder = new TextEncoder();

interface Value {
  /** Its place in the list. */
  number: number;
  images: number;
  /** `"well":"A01"`, as it is written into a row. */
  field: string;
}

/** No text has U+0000, so that none is taken for a number. */
const identity = (value: Scalar) => (value instanceof NumberAsWritten ? `\u0000${value.source}` : value);

/** Numbers the values of images in the order in which they occur. `written` is how JSON is written into a row. */
function createNumbering(written: (json: string) => string) {
  const known = { attribute: new Map<string, Map<Scalar, Value>>(), type: new Map<string, Map<Scalar, Value>>() };
  const listed: { value: Value; json: string }[] = [];

  function valueOf(kind: keyof typeof known, key: string, scalar: Scalar): Value {
    let values = known[kind].get(key);
    if (!values) known[kind].set(key, (values = new Map<Scalar, Value>()));
    const found = values.get(identity(scalar));
    if (found) return found;
    const [name, json] = [JSON.stringify(key), JSON.stringify(scalar)];
    const value = { number: listed.length, images: 0, field: written(`${name}:${json}`) };
    listed.push({ value, json: `"${kind}",${name},${json}` });
    values.set(identity(scalar), value);
    return value;
  }

  return {
    valueOf,
    values: () => encoder.encode(`[${listed.map(({ value, json }) => `[${json},${value.images}]`).join(',')}]`),
  };
}

type Numbering = ReturnType<typeof createNumbering>;

function countAll(images: readonly ImageCreate[], { valueOf }: Numbering): void {
  for (const { attributes, types } of images) {
    for (const key in attributes) valueOf('attribute', key, attributes[key]!).images++;
    for (const key in types) valueOf('type', key, types[key]!).images++;
  }
}

/** What a row has of an image. */
interface Parts {
  /** Numbers, with commas between them. */
  tags: string;
  attributes: string;
  types: string;
}

function partsOf({ attributes, types }: ImageCreate, { valueOf }: Numbering): Parts {
  const parts = { tags: '', attributes: '', types: '' };
  for (const key in attributes) {
    const { number, field } = valueOf('attribute', key, attributes[key]!);
    parts.tags += parts.tags === '' ? number : `,${number}`;
    parts.attributes += parts.attributes === '' ? field : `,${field}`;
  }
  for (const key in types) {
    const { number, field } = valueOf('type', key, types[key]!);
    // a type that is false has no tag
    if (types[key]) parts.tags += parts.tags === '' ? number : `,${number}`;
    parts.types += parts.types === '' ? field : `,${field}`;
  }
  return parts;
}

/** One text of many rows. */
interface Format {
  written(json: string): string;
  row(image: ImageCreate, parts: Parts): string;
  joined(rows: string[]): string;
}

function* batchesOf(images: readonly ImageCreate[], numbering: Numbering, format: Format): Generator<Uint8Array> {
  let rows: string[] = [];
  let length = 0;
  for (const image of images) {
    const text = format.row(image, partsOf(image, numbering));
    rows.push(text);
    length += text.length;
    if (rows.length < BATCH_IMAGES && length < BATCH_CHARACTERS) continue;
    yield encoder.encode(format.joined(rows));
    rows = [];
    length = 0;
  }
  if (rows.length > 0) yield encoder.encode(format.joined(rows));
}

function inBatches(images: readonly ImageCreate[], format: Format): ImageRows<Iterable<Uint8Array>> {
  const numbering = createNumbering(format.written);
  countAll(images, numbering);
  return { count: images.length, values: numbering.values(), texts: batchesOf(images, numbering, format) };
}

/** JSON: `[{"zarr_url", "origin", "attributes", "types", "tags"}, …]`. */
export const imageRows = (images: readonly ImageCreate[]) =>
  inBatches(images, {
    written: (json) => json,
    row: ({ zarr_url, origin }, { tags, attributes, types }) =>
      `{"zarr_url":${JSON.stringify(zarr_url)},"origin":${JSON.stringify(origin)},"attributes":{${attributes}},"types":{${types}},"tags":[${tags}]}`,
    joined: (rows) => `[${rows.join(',')}]`,
  });

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };
const column = (text: string) => text.replace(/[\\\t\n\r]/g, (sign) => ESCAPES[sign]!);

/** Lines for COPY: `numbers of the tags ⇥ zarr_url ⇥ origin ⇥ attributes ⇥ types`. */
export const imageLines = (images: readonly ImageCreate[]) =>
  inBatches(images, {
    written: column,
    row: ({ zarr_url, origin }, { tags, attributes, types }) =>
      `${tags}\t${column(zarr_url)}\t${origin === null ? '\\N' : column(origin)}\t{${attributes}}\t{${types}}\n`,
    joined: (rows) => rows.join(''),
  });

/**
 * The same lines with what only the database knew: `dataset_id ⇥ position ⇥ tags ⇥ …`, a text at a time. What is not ASCII
 * passes as the bytes that it is.
 */
export async function* placedLines(
  texts: Texts,
  { datasetId, first, tags }: { datasetId: number; first: number; tags: string[] },
): AsyncGenerator<Uint8Array> {
  let position = first;
  for await (const text of texts) {
    const lines = Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('latin1');
    let placed = '';
    for (let start = 0; start < lines.length;) {
      const end = lines.indexOf('\t', start);
      const next = lines.indexOf('\n', end) + 1;
      const numbers = end === start ? [] : lines.slice(start, end).split(',');
      const own = numbers.map((number) => tags[Number(number)]).join(',');
      placed += `${datasetId}\t${position++}\t{${own}}${lines.slice(end, next)}`;
      start = next;
    }
    yield Buffer.from(placed, 'latin1');
  }
}

export type ImportRest = Omit<DatasetImport, 'images'> & { count: number };

export function packImport({ images, ...rest }: DatasetImport) {
  const { count, values, texts } = imageLines(images);
  const packed: ImportRest = { ...rest, count };
  return { rest: packed, texts: [values], more: texts };
}

/** The rows of a packed import. */
export const rowsOf = ({ count }: ImportRest, [values]: Uint8Array[], texts: Texts): ImageRows => ({
  count,
  values: values!,
  texts,
});

export type BulkRest = Omit<ImageBulk, 'zarr_urls'>;

/** The addresses become one text, a JSON list, if there are any. */
export function packBulk({ zarr_urls, ...rest }: ImageBulk) {
  const packed: BulkRest = rest;
  return { rest: packed, texts: zarr_urls === undefined ? [] : [encoder.encode(JSON.stringify(zarr_urls))], more: [] };
}
