/**
 * Which images of a dataset are asked for: filters, order and page, as pages keep them in their address and as the API
 * takes them. Values keep their type: the number 1 and the text "1" are two values of one attribute.
 *
 *     const query = readQuery(url.searchParams); // ?a.well=K17,K18&t.is_3D=false&sort=-attribute:cycle
 *     call('projects.queryImages', { params, query: pageOf(query), body: bodyOf(query) }, { exact: true });
 */
import type { ImageStatus, Scalar, UnitOfImage } from '@service/contract';

import { inWords, NumberAsWritten, typedNumber, writeJson } from '../json.ts';
import { PAGE_SIZES } from '../ui/table.ts';
import type { Option } from '../ui/picker.ts';

/** The status of an image stands among its attributes under this key. */
export const STATUS_KEY = '__wftask_dataset_image_status__';

export const STATUSES: readonly ImageStatus[] = ['failed', 'submitted', 'done', 'unset'];

export interface ImagesQuery {
  /** Values of one key are alternatives, all keys must pass. */
  attributes: Record<string, Scalar[]>;
  types: Record<string, boolean>;
  status: ImageStatus[];
  /** `zarr_url`, `status`, `attribute:<key>`, with - in front for descending. */
  sort: string | undefined;
  page: number;
  pageSize: number;
}

export interface ListedImage {
  zarr_url: string;
  origin: string | null;
  attributes: Record<string, unknown>;
  types: Record<string, boolean>;
  has_warnings?: boolean | null;
  unit?: UnitOfImage | null | undefined;
}

/** What `projects.queryImages` and `jobs.queryImageStatus` answer. */
export interface ImagesPage {
  items: ListedImage[];
  attributes: Record<string, unknown[]>;
  types: string[];
  current_page: number;
  page_size: number;
  total_count: number;
  status_counts?: Record<ImageStatus, number>;
}

const PAGE_SIZE = 10;

export const newQuery = (given: Partial<ImagesQuery> = {}): ImagesQuery => ({
  attributes: {},
  types: {},
  status: [],
  sort: undefined,
  page: 1,
  pageSize: PAGE_SIZE,
  ...given,
});

/** A change of filters or order begins again at the first page. */
export const changed = (query: ImagesQuery, change: Partial<ImagesQuery>): ImagesQuery => ({
  ...query,
  page: 1,
  ...change,
});

const without = <T>(map: Record<string, T>, key: string): Record<string, T> =>
  Object.fromEntries(Object.entries(map).filter(([one]) => one !== key));

export const withAttribute = (query: ImagesQuery, key: string, values: Scalar[]): ImagesQuery =>
  changed(query, {
    attributes: values.length === 0 ? without(query.attributes, key) : { ...query.attributes, [key]: values },
  });

export const withType = (query: ImagesQuery, key: string, value: boolean | undefined): ImagesQuery =>
  changed(query, { types: value === undefined ? without(query.types, key) : { ...query.types, [key]: value } });

/** Only these wells, by the names that images give them; of none: all. Wells of other plates than a named one are not meant. */
export function withWells(query: ImagesQuery, names: readonly string[], plate: Scalar | undefined): ImagesQuery {
  const rest = without(query.attributes, 'well');
  if (names.length === 0) return changed(query, { attributes: rest });
  const ofPlate: Record<string, Scalar[]> = plate === undefined ? {} : { plate: [plate] };
  return changed(query, { attributes: { ...rest, ...ofPlate, well: [...names].sort() } });
}

/** Types that are locked stay. */
export const cleared = (query: ImagesQuery, locked: Readonly<Record<string, boolean>> = {}): ImagesQuery =>
  changed(query, { attributes: {}, types: { ...locked }, status: [] });

export const isFiltered = (query: ImagesQuery, locked: Readonly<Record<string, boolean>> = {}): boolean =>
  Object.keys(query.attributes).length > 0 ||
  query.status.length > 0 ||
  Object.keys(query.types).some((key) => !Object.hasOwn(locked, key));

/** The API takes values of one kind, and 1 and 0.5 are two; 1.0 is the same value as 1. */
function alike(values: Scalar[]): Scalar[] {
  const isWhole = (value: Scalar) => /^-?\d+$/.test(writeJson(value));
  if (!isNumeric(values) || values.every(isWhole)) return values;
  return values.map((value) => (isWhole(value) ? (new NumberAsWritten(`${writeJson(value)}.0`) as Scalar) : value));
}

/** What the API takes as body; the status stands among the attributes, for calls that know a task. */
export function bodyOf({ attributes, types, status }: ImagesQuery) {
  const values = Object.fromEntries(Object.entries(attributes).map(([key, some]) => [key, alike(some)]));
  return {
    attribute_filters: { ...values, ...(status.length > 0 ? { [STATUS_KEY]: status as Scalar[] } : {}) },
    type_filters: types,
  };
}

/** Beside the work of a task: what it worked on comes first, unless somebody wants another order. */
export const processedFirst = (query: ImagesQuery): ImagesQuery => ({ ...query, sort: query.sort ?? 'status' });

export const pageOf = ({ page, pageSize, sort }: ImagesQuery) => ({ page, page_size: pageSize, sort });

/** One text a value: `"1"` is a text, `1` a number. */
export const valueKey = (value: unknown): string => writeJson(value);

export const valueWords = (value: unknown): string => (value === undefined || value === null ? '' : inWords(value));

const kind = (value: unknown) =>
  typeof value === 'string' ? 'text' : typeof value === 'boolean' ? 'true or false' : 'number';

/** Values of several kinds under one key. */
export const isMixed = (values: readonly unknown[]): boolean => new Set(values.map(kind)).size > 1;

/** The values of an attribute to choose from; where they are of several kinds, each says its own. */
export function valueOptions(values: readonly unknown[], picked: readonly unknown[] = []): Option[] {
  const all = new Map([...values, ...picked].map((value) => [valueKey(value), value]));
  const mixed = isMixed([...all.values()]);
  const words = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
  return [...all]
    .map(([key, value]) => ({ value: key, name: valueWords(value), note: mixed ? kind(value) : undefined }))
    .sort((one, other) => words.compare(one.name, other.name));
}

/** The values behind the keys that were picked, of one kind: the API takes no others, so the last picked decides. */
export function pickedValues(values: readonly unknown[], picked: readonly string[], before: readonly unknown[] = []) {
  const all = new Map([...values, ...before].map((value) => [valueKey(value), value]));
  const chosen = picked.filter((key) => all.has(key)).map((key) => all.get(key) as Scalar);
  return chosen.filter((value) => kind(value) === kind(chosen.at(-1)));
}

const FIRST = ['plate', 'well'];

/** Attributes in the order of columns and filters: where an image lies first, then by name. */
export function attributeKeys(attributes: Record<string, unknown>): string[] {
  const rank = (key: string) => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length);
  return Object.keys(attributes)
    .filter((key) => key !== STATUS_KEY)
    .sort((one, other) => rank(one) - rank(other) || one.localeCompare(other, 'en', { numeric: true }));
}

/** Types to show: those of the images, and those that a filter names although no image has them yet. */
export const typeKeys = (types: readonly string[], ...filters: Readonly<Record<string, boolean>>[]): string[] =>
  [...new Set([...types, ...filters.flatMap(Object.keys)])].sort((one, other) => one.localeCompare(other, 'en'));

/** Numbers stand right. */
export const isNumeric = (values: readonly unknown[]): boolean =>
  values.length > 0 && values.every((value) => kind(value) === 'number');

/** Ascending, descending, then the order of the list again. */
export const nextSort = (current: string | undefined, by: string): string | undefined =>
  current === by ? `-${by}` : current === `-${by}` ? undefined : by;

export const sortDirection = (current: string | undefined, by: string): 'ascending' | 'descending' | 'none' =>
  current === by ? 'ascending' : current === `-${by}` ? 'descending' : 'none';

/** The path below the folder of the dataset; the whole one where it lies elsewhere. */
export function relativePath(zarrUrl: string, zarrDir: string): string {
  const folder = zarrDir.endsWith('/') ? zarrDir : `${zarrDir}/`;
  return zarrUrl.startsWith(folder) ? zarrUrl.slice(folder.length) : zarrUrl;
}

/* in addresses */

const PLAIN = /^[^",\s][^",]*$/;

function writeValue(value: unknown): string {
  if (typeof value !== 'string') return writeJson(value);
  const plain = PLAIN.test(value) && readWord(value) === value;
  return plain ? value : JSON.stringify(value);
}

function readWord(text: string): Scalar {
  if (text === 'true' || text === 'false') return text === 'true';
  return (typedNumber(text) as Scalar | undefined) ?? text;
}

const QUOTED_OR_NOT = /"(?:[^"\\]|\\.)*"|[^,]+/g;

function readValues(text: string): Scalar[] {
  return [...text.matchAll(QUOTED_OR_NOT)].map(([part]) => {
    if (!part.startsWith('"')) return readWord(part);
    try {
      return JSON.parse(part) as string;
    } catch {
      return part;
    }
  });
}

const within = (value: number, fallback: number) => (Number.isInteger(value) && value > 0 ? value : fallback);

/** Of an address; those of a page can only be read. */
type Search = Pick<URLSearchParams, 'get' | 'entries'>;

export function readQuery(search: Search): ImagesQuery {
  const query = newQuery();
  for (const [name, text] of search.entries()) {
    const key = name.slice(2);
    if (name.startsWith('a.') && key !== '') query.attributes = { ...query.attributes, [key]: readValues(text) };
    if (name.startsWith('t.') && (text === 'true' || text === 'false'))
      query.types = { ...query.types, [key]: text === 'true' };
  }
  query.status = STATUSES.filter((status) => (search.get('status') ?? '').split(',').includes(status));
  query.sort = search.get('sort') ?? undefined;
  query.page = within(Number(search.get('page')), 1);
  const size = Number(search.get('page_size'));
  query.pageSize = PAGE_SIZES.includes(size) ? size : PAGE_SIZE;
  return query;
}

/** The search part of an address with this query in it; what else stands there is kept. */
export function writeQuery(query: ImagesQuery, before: string | URLSearchParams = ''): string {
  const search = new URLSearchParams(before);
  for (const name of [...search.keys()]) if (/^[at]\.|^(status|sort|page|page_size)$/.test(name)) search.delete(name);
  for (const [key, values] of Object.entries(query.attributes))
    if (values.length > 0) search.set(`a.${key}`, values.map(writeValue).join(','));
  for (const [key, value] of Object.entries(query.types)) search.set(`t.${key}`, String(value));
  if (query.status.length > 0) search.set('status', query.status.join(','));
  if (query.sort !== undefined) search.set('sort', query.sort);
  if (query.page > 1) search.set('page', String(query.page));
  if (query.pageSize !== PAGE_SIZE) search.set('page_size', String(query.pageSize));
  // a comma may stand in an address as it is, which keeps a plate full of wells short
  const text = search.toString().replaceAll('%2C', ',');
  return text === '' ? '' : `?${text}`;
}
