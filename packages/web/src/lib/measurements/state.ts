/** What the reader has chosen, in the address, and what stands for it where nothing is chosen. */
import type { TableList } from '@service/contract';

import { SCALE_KINDS, type ScaleKind } from './scale.ts';
import { type Shape, writeShape } from './shapes.ts';
import { PER_WELL, type PerWell } from './wells.ts';

export const SPREADS = ['box', 'violin', 'histogram', 'table'] as const;
export type SpreadLook = (typeof SPREADS)[number];

/** One text for a table of a list, and what it is called there. */
export const tableKey = ({ name, level }: Pick<ListedTable, 'name' | 'level'>): string => JSON.stringify([name, level]);
export const tableOptions = ({ tables }: TableList): { value: string; name: string }[] =>
  tables.map((table) => ({
    value: tableKey(table),
    name: table.level === 'plate' ? `${table.name} (of plates)` : table.name,
  }));

export type ListedTable = TableList['tables'][number];

/** Rows whose numbers lie between two; one of them may be open. */
export interface Range {
  column: string;
  from: number | undefined;
  to: number | undefined;
}

/** A table, perhaps of another dataset. */
export interface OtherTable {
  dataset: number;
  level: 'image' | 'plate';
  name: string;
}

/** `12,image,nuclei`; the name may hold commas. */
export const writeOther = ({ dataset, level, name }: OtherTable): string => [dataset, level, name].join();

function readOther(text: string | null): OtherTable | undefined {
  const [, dataset, level, name] = /^(\d{1,15}),(image|plate),(.+)$/.exec(text ?? '') ?? [];
  return name === undefined ? undefined : { dataset: Number(dataset), level: level as OtherTable['level'], name };
}

/** As it is in the address: nothing is known of the tables. */
export interface Asked {
  table: string | undefined;
  level: 'image' | 'plate' | undefined;
  feature: string | undefined;
  over: string | undefined;
  /** Empty: by nothing. */
  group: string | undefined;
  per: PerWell;
  look: SpreadLook;
  plate: string | undefined;
  kinds: { x: ScaleKind; y: ScaleKind };
  ranges: Range[];
  /** Another run to compare with: a table of this dataset or of another one of the project. */
  with: OtherTable | undefined;
  /** The part of the plot that is looked at. */
  view: { x: [number, number]; y: [number, number] } | undefined;
}

type Search = Pick<URLSearchParams, 'get' | 'getAll' | 'has'>;

const oneOf = <T extends string>(list: readonly T[], text: string | null): T | undefined =>
  list.find((one) => one === text);

const numberOf = (text: string | undefined): number | undefined => {
  const value = text === undefined || text.trim() === '' ? NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
};

/** `area,50,200`, `area,,200`; a name may hold commas. */
function readRange(text: string): Range[] {
  const [, column, from, to] = /^(.+),([^,]*),([^,]*)$/.exec(text) ?? [];
  if (column === undefined) return [];
  const range = { column, from: numberOf(from), to: numberOf(to) };
  return range.from === undefined && range.to === undefined ? [] : [range];
}

const writeRange = ({ column, from, to }: Range): string => `${column},${from ?? ''},${to ?? ''}`;

function readView(text: string | null): Asked['view'] {
  const parts = (text ?? '').split(',').map(numberOf);
  if (parts.length !== 4 || parts.includes(undefined)) return undefined;
  const [left, right, low, high] = parts as [number, number, number, number];
  return left < right && low < high ? { x: [left, right], y: [low, high] } : undefined;
}

export function readAsked(search: Search): Asked {
  const log = (search.get('log') ?? '').split(',');
  const kindOf = (axis: string): ScaleKind => SCALE_KINDS[log.includes(axis) ? 1 : 0];
  return {
    table: search.get('table') ?? undefined,
    level: oneOf(['image', 'plate'], search.get('level')),
    feature: search.get('feature') ?? undefined,
    over: search.get('over') ?? undefined,
    group: search.get('group') ?? undefined,
    per: oneOf(PER_WELL, search.get('per')) ?? 'median',
    look: oneOf(SPREADS, search.get('look')) ?? 'box',
    plate: search.get('plate') ?? undefined,
    kinds: { x: kindOf('x'), y: kindOf('y') },
    ranges: search.getAll('range').flatMap(readRange),
    with: readOther(search.get('with')),
    view: readView(search.get('view')),
  };
}

const written = (params: URLSearchParams): string => {
  const text = params.toString().replaceAll('%2C', ',');
  return text === '' ? '' : `?${text}`;
};

/** The search of an address with these values of a name that may stand there several times. */
function withAll(search: string, name: 'sel' | 'range', values: readonly string[]): string {
  const params = new URLSearchParams(search);
  params.delete(name);
  for (const value of values) params.append(name, value);
  return written(params);
}

export const shapesIn = (search: string): string[] => new URLSearchParams(search).getAll('sel');
export const withShapes = (search: string, shapes: readonly Shape[]) => withAll(search, 'sel', shapes.map(writeShape));
export const withRanges = (search: string, ranges: readonly Range[]) =>
  withAll(search, 'range', ranges.map(writeRange));

/** Another table has other columns: what was chosen of the last one goes. */
export function withTable(search: string, { name, level }: Pick<ListedTable, 'name' | 'level'>): string {
  const params = new URLSearchParams(search);
  for (const of of ['feature', 'over', 'group', 'sel', 'view', 'range', 'with']) params.delete(of);
  params.set('table', name);
  params.set('level', level);
  return written(params);
}

/** Another run beside this one, or none: the horizontal axis is another, so what was drawn around goes. */
export function withOther(search: string, other: OtherTable | undefined): string {
  const params = new URLSearchParams(search);
  for (const of of ['sel', 'view', 'with', 'per']) params.delete(of);
  if (other) {
    params.set('with', writeOther(other));
    params.set('per', 'difference');
  }
  return written(params);
}

/** By nothing is a choice too, which stands there as such. */
export function withGroup(search: string, group: string): string {
  const params = new URLSearchParams(search);
  params.set('group', group);
  return written(params);
}

/* what stands for what was not chosen */

const PLACE = /^[xyz](_|$)|centroid|^label$|_id$|^len_|position|bbox|bounding/i;
const BRIGHTNESS = /mean|intensity/i;
const EXTENT = [/area|volume/i, /size|num_pixels/i];
const TREATMENT = /treat|drug|compound|condition|dose|sirna|gene|concentration/i;

export const featuresOf = ({ columns, index }: ListedTable): string[] =>
  columns.filter(({ name, type }) => type !== 'text' && name !== index).map(({ name }) => name);

/** Without those that say where an object is. */
const tellingFeatures = (table: ListedTable): string[] => featuresOf(table).filter((name) => !PLACE.test(name));

/** How bright objects are, where it was measured. */
export const brightnessOf = (table: ListedTable): string | undefined =>
  tellingFeatures(table).find((name) => BRIGHTNESS.test(name));

/** What rows can be grouped by: attributes of images, and columns of words. */
export function groupKeys(list: TableList, { columns }: ListedTable): string[] {
  const inTable = columns.filter(({ type }) => type === 'text' || type === 'boolean').map(({ name }) => name);
  return [...new Set([...list.attributes, ...inTable])];
}

export interface Chosen {
  table: ListedTable;
  feature: string | undefined;
  over: string | undefined;
  group: string | undefined;
}

/** Some of the features that say most, those that are chosen first. */
export function featuresToTell({ table, feature, over }: Chosen, most: number): string[] {
  const first = [feature, over].filter((name) => name !== undefined);
  return [...new Set([...first, ...tellingFeatures(table)])].slice(0, most);
}

function firstTable({ tables }: TableList): ListedTable | undefined {
  const rank = (table: ListedTable) =>
    (table.types.includes('feature_table') ? 2 : 0) +
    (table.index === null ? 0 : 1) -
    (featuresOf(table).length ? 0 : 9);
  return [...tables].sort((one, other) => rank(other) - rank(one))[0];
}

/** The table that says most about the objects of a label image; undefined where none does. */
export function tableOfLabels({ tables }: TableList, labels: string): ListedTable | undefined {
  const of = tables.filter((table) => table.level === 'image' && table.index !== null && table.labels.includes(labels));
  return of.sort((one, other) => featuresOf(other).length - featuresOf(one).length)[0];
}

/** Undefined where there is no table at all. */
export function chosenOf(list: TableList, asked: Asked): Chosen | undefined {
  const named = list.tables.find(
    ({ name, level }) => name === asked.table && (asked.level === undefined || level === asked.level),
  );
  const table = named ?? firstTable(list);
  if (!table) return undefined;
  const features = featuresOf(table);
  const known = (name: string | undefined) => features.find((one) => one === name);
  const telling = tellingFeatures(table);
  const feature = known(asked.feature) ?? brightnessOf(table) ?? telling[0] ?? features[0];
  const others = [...telling, ...features].filter((name) => name !== feature);
  const over =
    known(asked.over) ?? EXTENT.flatMap((kind) => others.filter((name) => kind.test(name)))[0] ?? others[0] ?? feature;
  const keys = groupKeys(list, table);
  const group =
    asked.group === ''
      ? undefined
      : (keys.find((key) => key === asked.group) ?? keys.find((key) => TREATMENT.test(key)));
  return { table, feature, over, group };
}
