/**
 * What a task process wrote to its output file.
 *
 *     readTaskOutput('{"image_list_updates": [{"zarr_url": "/data/z/a/", "attributes": {"k": null}}]}')
 *     // { output: { image_list_updates: [{ zarr_url: '/data/z/a', origin: null, attributes: { k: null }, types: {} }],
 *     //             image_list_removals: [] } }
 *     readTaskOutput('{"image_list_updates": [{"zarr_url": "a"}]}')
 *     // { problem: 'image_list_updates.0.zarr_url: Enter an absolute path or an s3:// address. It is "a".' }
 */
import {
  type Image,
  ImageCreate,
  type JsonObject,
  NumberAsWritten,
  plain,
  readValue,
  readZarrUrl,
  type Scalar,
} from '@service/contract';

import { parsePythonJson } from './python-json.ts';
import { cleanText, cutEnd, shownValue } from './text.ts';
import { isJsonObject, valueKey } from './values.ts';

/** What shall become of an image. An attribute that is null is taken away. */
export interface ImageUpdateOutput extends Omit<Image, 'attributes'> {
  attributes: Record<string, Scalar | null>;
}

export interface TaskOutput {
  image_list_updates: ImageUpdateOutput[];
  image_list_removals: string[];
}

/** An item of the list that the init phase of a compound task gives back: one process each. */
export interface ParallelItem {
  zarr_url: string;
  init_args: JsonObject;
}

const SHOWN_PROBLEMS = 5;
const LONGEST_PATH = 200;
const LONGEST_PROBLEM = 2000;

/** What is wrong, and where. The first few are shown, the others counted. */
interface Problems {
  lines: string[];
  count: number;
}

const itIs = (value: unknown) => (value === undefined ? '' : ` It is ${shownValue(value)}.`);

function add(problems: Problems, path: string, words: string, value?: unknown): undefined {
  problems.count += 1;
  if (problems.count > SHOWN_PROBLEMS) return;
  problems.lines.push(`${cutEnd(path, LONGEST_PATH)}: ${words.replace(/^Value error, /, '')}${itIs(value)}`);
}

function textOf({ lines, count }: Problems): string | undefined {
  if (count === 0) return undefined;
  const more = count > lines.length ? [`… and ${count - lines.length} more problems.`] : [];
  return cutEnd(cleanText([...lines, ...more].join('\n')), LONGEST_PROBLEM);
}

function readObject(text: string | null): { object: JsonObject } | { problem: string } {
  if (text === null) return { object: {} };
  let value: unknown;
  try {
    value = parsePythonJson(text);
  } catch (error) {
    const words = text === '' ? 'It is empty.' : `${(error as Error).message} It begins with ${shownValue(text)}.`;
    return { problem: cutEnd(cleanText(`The output file is not valid JSON. ${words}`), LONGEST_PROBLEM) };
  }
  if (value === null) return { object: {} };
  return isJsonObject(value) ? { object: value } : { problem: `The output must be an object or null.${itIs(value)}` };
}

function refuseUnknownKeys(object: JsonObject, known: string[], at: string, problems: Problems): void {
  for (const key of Object.keys(object)) {
    if (!known.includes(key)) add(problems, at + key, `This key is not known here. Known are: ${known.join(', ')}.`);
  }
}

/** The items that could be read; the others are among the problems. */
function readList<T>(
  object: JsonObject,
  key: string,
  problems: Problems,
  readItem: (item: unknown, path: string, problems: Problems) => T | undefined,
): T[] {
  const list = Object.hasOwn(object, key) ? object[key] : [];
  if (!Array.isArray(list)) {
    add(problems, key, 'Give a list.', list);
    return [];
  }
  const items: T[] = [];
  list.forEach((given, index) => {
    const item = readItem(given, `${key}.${index}`, problems);
    if (item !== undefined) items.push(item);
  });
  return items;
}

function readUrl(input: unknown, path: string, problems: Problems): string | undefined {
  const reading = readZarrUrl(input);
  return 'value' in reading ? reading.value : add(problems, path, reading.problem.message, input);
}

const isPlainUrl = (value: unknown) => {
  const reading = readZarrUrl(value);
  return 'value' in reading && reading.value === value;
};
const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0');

/** PostgreSQL has room for more, but nothing that a task measures is so long. */
const LONGEST_NUMBER = 1000;
const isStorableNumber = (value: unknown) =>
  !(value instanceof NumberAsWritten) ||
  (Number.isFinite(value.value) &&
    value.source.length <= LONGEST_NUMBER &&
    !/[eE][+-]?0*[1-9]\d{3}/.test(value.source));

function isPlainAttribute(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return true;
  return value instanceof NumberAsWritten && isStorableNumber(value);
}
const isFlag = (value: unknown) => typeof value === 'boolean';

function isPlainMap(map: unknown, isPlain: (value: unknown) => boolean): boolean {
  if (!isJsonObject(map)) return false;
  for (const key in map) {
    if (key === '' || key.trim() !== key || !isStorable(key) || !isPlain(map[key])) return false;
  }
  return true;
}

/** An update that needs no change, as nearly all are; undefined for one that has to be read closely. */
function plainUpdate(item: JsonObject): ImageUpdateOutput | undefined {
  const { zarr_url, origin = null, attributes = {}, types = {} } = item as Partial<ImageUpdateOutput>;
  if (!isPlainUrl(zarr_url) || (origin !== null && !isPlainUrl(origin))) return undefined;
  if (!isPlainMap(attributes, isPlainAttribute) || !isPlainMap(types, isFlag)) return undefined;
  return { zarr_url: zarr_url!, origin, attributes, types };
}

/** Undefined where there is none. */
const valueAt = (value: unknown, path: (string | number)[]): unknown =>
  path.reduce(
    (inside, key) => (isJsonObject(inside) && Object.hasOwn(inside, key) ? inside[String(key)] : undefined),
    value,
  );

function readUpdate(item: unknown, path: string, problems: Problems): ImageUpdateOutput | undefined {
  if (!isJsonObject(item)) return add(problems, path, 'Give an object with a zarr_url.', item);
  const plainOne = plainUpdate(item);
  if (plainOne) return plainOne;
  const attributes = isJsonObject(item['attributes']) ? Object.entries(item['attributes']) : [];
  const odd = attributes.filter(([, value]) => !isStorableNumber(value));
  for (const [key, value] of odd) {
    const source = cutEnd((value as NumberAsWritten).source, 20);
    add(problems, `${path}.attributes.${key}`, `${source} cannot be stored. Give another number, a text or null.`);
  }
  if (odd.length > 0) return undefined;
  // an image has no null attributes: a flag takes their place while the rules for images are applied
  const filled = attributes.map(([key, value]) => [key, value === null ? false : value] as const);
  const image = attributes.length > 0 ? { ...item, attributes: Object.fromEntries(filled) } : item;
  const reading = readValue(ImageCreate, image, path);
  if ('entries' in reading) {
    for (const { loc, msg } of reading.entries) add(problems, loc.join('.'), msg, valueAt(item, loc.slice(1)));
    return undefined;
  }
  const update: ImageUpdateOutput = reading.value;
  for (const [key, value] of attributes) if (value === null) update.attributes[key.trim()] = null;
  return update;
}

/** What a process other than one of an init phase gave back; null stands for a file that is not there. */
export function readTaskOutput(text: string | null): { output: TaskOutput } | { problem: string } {
  const read = readObject(text);
  if ('problem' in read) return read;
  const problems: Problems = { lines: [], count: 0 };
  refuseUnknownKeys(read.object, ['image_list_updates', 'image_list_removals'], '', problems);
  const image_list_updates = readList(read.object, 'image_list_updates', problems, readUpdate);
  const image_list_removals = readList(read.object, 'image_list_removals', problems, readUrl);
  const problem = textOf(problems);
  return problem === undefined ? { output: { image_list_updates, image_list_removals } } : { problem };
}

function readItem(item: unknown, path: string, problems: Problems): ParallelItem | undefined {
  if (!isJsonObject(item)) return add(problems, path, 'Give an object with a zarr_url.', item);
  refuseUnknownKeys(item, ['zarr_url', 'init_args'], `${path}.`, problems);
  const zarr_url = readUrl(plain(item['zarr_url']), `${path}.zarr_url`, problems);
  const init_args = Object.hasOwn(item, 'init_args') ? item['init_args'] : {};
  if (!isJsonObject(init_args)) return add(problems, `${path}.init_args`, 'Give an object.', init_args);
  return zarr_url === undefined ? undefined : { zarr_url, init_args };
}

/** The first of the items that are equal. */
function distinctItems(items: ParallelItem[]): ParallelItem[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = `${item.zarr_url}\n${valueKey(item.init_args)}`;
    return !seen.has(key) && seen.add(key);
  });
}

/** What the init phase of a compound task gave back: items in order, equal ones once. */
export function readInitOutput(text: string | null): { items: ParallelItem[] } | { problem: string } {
  const read = readObject(text);
  if ('problem' in read) return read;
  const problems: Problems = { lines: [], count: 0 };
  refuseUnknownKeys(read.object, ['parallelization_list'], '', problems);
  const items = readList(read.object, 'parallelization_list', problems, readItem);
  const problem = textOf(problems);
  return problem === undefined ? { items: distinctItems(items) } : { problem };
}
