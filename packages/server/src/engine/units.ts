/**
 * The processes that a task is made of: their names, and the arguments each one gets.
 *
 *     planParallel({ zarr_urls: ['/data/z/a'], args: { sigma: 2 }, unitsPerPack: null })
 *     // { units: [{ number: 0, is_init: false, stem: 'par-000000-0000000', zarr_urls: ['/data/z/a'],
 *     //             args: '{"zarr_url":"/data/z/a","sigma":2}' }] }
 */
import { type JsonObject, plain, readInteger, type TaskType } from '@service/contract';

import type { ParallelItem } from './outputs.ts';
import { objectOf, writeMembers } from './python-json.ts';

/** A process of a task, by what it is called and what it is for. */
export interface NamedUnit {
  /** From 0, inside its phase. */
  number: number;
  is_init: boolean;
  /** How the names of its files begin. */
  stem: string;
  zarr_urls: string[];
}

export interface PlannedUnit extends NamedUnit {
  /** The JSON text of its arguments. */
  args: string;
}

/** `1_illum_corr_` for order 1 and the name `Illum Corr!`. */
export const taskFolderName = (order: number, name: string): string =>
  `${order}_${name.toLowerCase().replace(/[\t-\r !-/:-@[-`{-~]/g, '_')}`;

/** Of the one process of a phase that has only one. */
export const SINGLE_STEM = 'non_par-';

const digits = (value: number, length: number) => String(value).padStart(length, '0');

interface Among {
  number: number;
  unitsPerPack: number | null;
  total: number;
}

/** Without a size of packs all are in one. */
export function unitStem({ number, unitsPerPack, total }: Among): string {
  const pack = Math.floor(number / (unitsPerPack || Math.max(total, number + 1)));
  return `par-${digits(pack, 6)}-${digits(number, 7)}`;
}

/** A process among many, for one image. */
export const unitOfMany = (zarr_url: string, among: Among): NamedUnit => ({
  number: among.number,
  is_init: false,
  stem: unitStem(among),
  zarr_urls: [zarr_url],
});

/** `parallel_tasks_per_job`: how many processes of a task may run at once; null for no limit of its own. */
export function parallelWidth(value: unknown): { width: number | null } | { problem: string } {
  if (value === null || value === undefined) return { width: null };
  const reading = value === false ? undefined : readInteger(plain(value));
  if (reading === undefined || 'problem' in reading) {
    return { problem: 'parallel_tasks_per_job must be a whole number or null. Change it in the settings of the task.' };
  }
  return { width: reading.value > 0 ? reading.value : null };
}

export const tooManyUnits = (count: number, limit: number): string | undefined =>
  count <= limit
    ? undefined
    : `This task would run ${count} times, and at most ${limit} are allowed. Choose fewer images with filters.`;

/** Converters take no images: they make them. */
export const isConverterType = (type: TaskType): boolean =>
  type === 'converter_non_parallel' || type === 'converter_compound';

/** Compound tasks have an init phase, which says what there is to do. */
export const isCompoundType = (type: TaskType): boolean => type === 'compound' || type === 'converter_compound';

/** The one process of a non-parallel task, or of the init phase of a compound one. Converters take no images. */
export const singleUnit = (type: TaskType, zarr_urls: string[]): NamedUnit => ({
  number: 0,
  is_init: isCompoundType(type),
  stem: SINGLE_STEM,
  zarr_urls: isConverterType(type) ? [] : zarr_urls,
});

/** These the service sets. A stored argument of such a name, from before that rule, does not get in the way. */
const RESERVED = new Set(['zarr_dir', 'zarr_url', 'zarr_urls', 'init_args']);

const userArguments = (args: JsonObject | null): JsonObject =>
  Object.fromEntries(Object.entries(args ?? {}).filter(([key]) => !RESERVED.has(key)));

interface SinglePlan {
  type: Exclude<TaskType, 'parallel'>;
  zarr_dir: string;
  zarr_urls: string[];
  args: JsonObject | null;
  indent?: number;
}

export function planSingle({ type, zarr_dir, zarr_urls, args, indent }: SinglePlan): PlannedUnit {
  const converter = isConverterType(type);
  const members = [
    writeMembers({ zarr_dir }, indent),
    writeMembers(userArguments(args), indent),
    converter ? '' : writeMembers({ zarr_urls }, indent),
  ];
  return { ...singleUnit(type, zarr_urls), args: objectOf(members, indent) };
}

interface ManyPlan {
  args: JsonObject | null;
  unitsPerPack: number | null;
  indent?: number;
}

interface Own extends JsonObject {
  zarr_url: string;
}

/** One after the other: there may be a million. */
function* planMany<T>(
  items: T[],
  own: (item: T) => Own,
  { args, unitsPerPack, indent }: ManyPlan,
): Generator<PlannedUnit> {
  const common = writeMembers(userArguments(args), indent);
  const total = items.length;
  for (const [number, item] of items.entries()) {
    const members = own(item);
    const unit = unitOfMany(members.zarr_url, { number, unitsPerPack, total });
    yield { ...unit, args: objectOf([writeMembers(members, indent), common], indent) };
  }
}

/** A process for each image. */
export function planParallel({
  zarr_urls,
  ...plan
}: ManyPlan & { zarr_urls: string[] }): { units: Iterable<PlannedUnit> } | { problem: string } {
  const seen = new Set<string>();
  for (const url of zarr_urls) {
    if (seen.has(url)) return { problem: `The image ${url} is listed twice. Remove one of the two from the dataset.` };
    seen.add(url);
  }
  return { units: planMany(zarr_urls, (zarr_url) => ({ zarr_url }), plan) };
}

/** A process for each item that the init phase of a compound task gave back. */
export const planCompute = ({ items, ...plan }: ManyPlan & { items: ParallelItem[] }): Iterable<PlannedUnit> =>
  planMany(items, ({ zarr_url, init_args }) => ({ zarr_url, init_args }), plan);
