/** Images of a dataset: one at a time, in pages, many at once. */
import { Readable } from 'node:stream';

import {
  csvLine,
  type Dataset,
  type Image,
  type ImageCreate,
  type ImageFilters,
  type ImagePage,
  imagePlaceProblem,
  type ImageQuery,
  type ImageUpdate,
  NumberAsWritten,
  type PageRequest,
  plain,
  type Scalar,
} from '@service/contract';

import { brokenConstraint, type Database } from '../db/index.ts';
import type { BulkRest } from '../engine/image-rows.ts';
import { passesAttributes, passesTypes } from '../engine/filters.ts';
import { entityTag, objectText, refuse, Streamed, Written } from '../http/index.ts';
import * as store from './store/images.ts';
import { insertImage } from './store/new-images.ts';

const NO_IMAGE = 'There is no image with this zarr_url in the dataset.';
export const NO_FILTERS: ImageFilters = { type_filters: {}, attribute_filters: {} };

export async function createImage(db: Database, dataset: Dataset, image: ImageCreate): Promise<void> {
  const problem = imagePlaceProblem(dataset.zarr_dir, [image.zarr_url]);
  if (problem !== undefined) throw refuse(422, problem);
  try {
    await insertImage(db, dataset.id, image);
  } catch (error) {
    if (brokenConstraint(error) !== 'images_zarr_url_unique') throw error;
    throw refuse(422, `The image ${image.zarr_url} is in the dataset already.`);
  }
}

export async function updateImage(db: Database, dataset: Dataset, change: ImageUpdate): Promise<Image> {
  const { zarr_url, attributes, types } = change;
  const image = await store.updateImage(db, dataset.id, zarr_url, { attributes, types: types ?? undefined });
  if (!image) throw refuse(404, NO_IMAGE);
  return image;
}

export async function deleteImage(db: Database, dataset: Dataset, zarrUrl: string): Promise<void> {
  if (!(await store.deleteImage(db, dataset.id, zarrUrl))) throw refuse(404, NO_IMAGE);
}

const isLargeInteger = (value: Scalar) => value instanceof NumberAsWritten && /^-?\d+$/.test(value.source);
const difference = (one: Scalar, other: Scalar) =>
  isLargeInteger(one) && isLargeInteger(other)
    ? Number(BigInt((one as NumberAsWritten).source) - BigInt((other as NumberAsWritten).source))
    : Number(plain(one)) - Number(plain(other));

/** Numbers by size, flags as 0 and 1, texts by code point; where both occur, numbers first. */
function compareScalars(one: Scalar, other: Scalar): number {
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : Number(one > other);
  if (typeof one === 'string' || typeof other === 'string') return typeof one === 'string' ? 1 : -1;
  return difference(one, other);
}

type Values = Pick<ImagePage, 'attributes' | 'types'>;

/** All values of all attributes of a dataset, and the names of its types. */
export const valuesOf = async (db: Database, datasetId: number): Promise<Values> =>
  valuesIn(await store.facetsOf(db, datasetId));

function valuesIn(facets: readonly store.Facet[]): Values {
  const of = (wanted: store.Facet['kind']) => facets.filter(({ kind }) => kind === wanted);
  return {
    attributes: Object.fromEntries(of('attribute').map(({ key, values }) => [key, values.sort(compareScalars)])),
    types: of('type')
      .map(({ key }) => key)
      .sort(),
  };
}

/** `-zarr_url`, `attribute:well`: one of the names, or an attribute, the largest first with - in front. */
export function readSort<const Name extends string>(sort: string, names: readonly Name[]) {
  const descending = sort.startsWith('-');
  const by = descending ? sort.slice(1) : sort;
  const name = names.find((one) => one === by);
  if (name !== undefined) return { by: name, descending };
  const [, attribute] = /^attribute:(.+)$/s.exec(by) ?? [];
  if (attribute !== undefined) return { by: { attribute }, descending };
  throw refuse(422, `sort must be ${[...names, 'attribute:<key>'].join(' or ')}, with - in front for descending.`);
}

const orderOf = (sort: string | undefined): store.ImageOrder =>
  sort === undefined ? { by: 'position' } : readSort(sort, ['zarr_url']);

/** The quick way to a page of images, for who may read them; undefined where `queryImages` is to be asked. */
export async function queryImagesAtOnce(
  db: Database,
  reader: store.Reader,
  query: ImageQuery,
  page: PageRequest,
  sort: string | undefined,
): Promise<Written<ImagePage> | undefined> {
  if (query.zarr_url !== null) return undefined;
  const found = await store.filteredPage(db, reader, query, orderOf(sort), page);
  return found && imagePage(pageNumbers(found.total, page), found.items, valuesIn(found.facets));
}

/** A page past the end shows the last one. */
export async function queryImages(
  db: Database,
  dataset: Dataset,
  query: ImageQuery,
  page: PageRequest,
  sort: string | undefined,
): Promise<Written<ImagePage>> {
  const order = orderOf(sort);
  if (query.zarr_url !== null) {
    const values = await valuesOf(db, dataset.id);
    const image = await store.findImage(db, dataset.id, query.zarr_url);
    const passes = image !== undefined && passesFilters(image, query);
    const items = passes ? [image] : [];
    return imagePage(pageNumbers(items.length, page), JSON.stringify(items), values);
  }
  const { total, items, facets } = await store.pageOfImages(db, dataset.id, query, order, page);
  return imagePage(pageNumbers(total, page), items, valuesIn(facets));
}

/** `items` is a JSON text. */
const imagePage = (numbers: ReturnType<typeof pageNumbers>, items: string, values: Values): Written<ImagePage> =>
  new Written(objectText(numbers, { items }, values));

function pageNumbers(total_count: number, { page, page_size: asked }: PageRequest) {
  const page_size = asked ?? total_count;
  const last = total_count === 0 ? page : Math.ceil(total_count / page_size);
  return { current_page: Math.min(page, last), page_size, total_count };
}

/** For the one image that was asked for by name: the rules that the index holds for many. */
const passesFilters = ({ types, attributes }: Image, { attribute_filters, type_filters }: ImageFilters): boolean =>
  passesTypes(types, type_filters) && passesAttributes(attributes, attribute_filters);

/** `named` is a JSON list of addresses, where images are named. */
export async function changeImages(
  db: Database,
  dataset: Dataset,
  body: BulkRest,
  named: Uint8Array | undefined,
): Promise<{ changed: number }> {
  const filters = { type_filters: body.type_filters ?? {}, attribute_filters: body.attribute_filters ?? {} };
  const changed = body.remove
    ? await store.removeImages(db, dataset.id, named, filters)
    : await store.changeImages(db, dataset.id, named, filters, body);
  return { changed };
}

/** A dataset as import takes it, written while it is read. */
export async function exportDataset(db: Database, dataset: Dataset): Promise<Streamed> {
  const { name, zarr_dir } = dataset;
  async function* text() {
    yield `${JSON.stringify({ name, zarr_dir }).slice(0, -1)},"images":`;
    yield* jsonArray(store.imagesInBatches(db, dataset.id, NO_FILTERS));
    yield '}';
  }
  const tag = entityTag(name, zarr_dir, await store.versionOfImages(db, dataset.id));
  return new Streamed(Readable.from(text()), {}, { tag });
}

async function* jsonArray(batches: AsyncIterable<Image[]>): AsyncGenerator<string> {
  let first = true;
  yield '[';
  for await (const images of batches) {
    const inner = JSON.stringify(images).slice(1, -1);
    yield first ? inner : `,${inner}`;
    first = false;
  }
  yield ']';
}

/** Images have own attributes only: a name that every object knows is not one of them. */
const ownValue = <T>(map: Record<string, T>, key: string) => (Object.hasOwn(map, key) ? map[key] : undefined);

async function* csv(db: Database, dataset: Dataset, filters: ImageFilters): AsyncGenerator<string> {
  const { attributes, types } = await valuesOf(db, dataset.id);
  const keys = Object.keys(attributes).sort();
  yield csvLine(['zarr_url', 'origin', ...keys, ...types]);
  for await (const images of store.imagesInBatches(db, dataset.id, filters)) {
    yield images
      .map((image) =>
        csvLine([
          image.zarr_url,
          image.origin,
          ...keys.map((key) => ownValue(image.attributes, key)),
          ...types.map((key) => ownValue(image.types, key)),
        ]),
      )
      .join('');
  }
}

export async function exportImages(
  db: Database,
  dataset: Dataset,
  filters: ImageFilters,
  format: 'csv' | 'json',
): Promise<Streamed> {
  const name = `${dataset.id}_images.${format}`;
  const headers = { 'content-disposition': `attachment; filename="${name}"` };
  const tag = entityTag(format, JSON.stringify(filters), await store.versionOfImages(db, dataset.id));
  if (format === 'json')
    return new Streamed(Readable.from(jsonArray(store.imagesInBatches(db, dataset.id, filters))), headers, { tag });
  const asCsv = { ...headers, 'content-type': 'text/csv; charset=utf-8' };
  return new Streamed(Readable.from(csv(db, dataset, filters)), asCsv, { tag });
}
