/** Which projects and datasets are listed and in which order, and their names and descriptions as lists show them. */
import type { ProjectInList } from '@service/contract';
import { PAGE_SIZES } from '../ui/table.ts';

export const ORDERS = { activity: 'Last activity', name: 'Name', created: 'Newest' } as const;
export type Order = keyof typeof ORDERS;

export const isOrder = (text: string | null): text is Order => text !== null && text in ORDERS;

export const hasName = (name: string, wanted: string): boolean =>
  name.toLowerCase().includes(wanted.trim().toLowerCase());

/** Starred ones come first; otherwise the order stays. */
export const starredFirst = <T extends { is_starred: boolean }>(list: readonly T[]): T[] => [
  ...list.filter(({ is_starred }) => is_starred),
  ...list.filter(({ is_starred }) => !is_starred),
];

type Sorted = Pick<ProjectInList, 'name' | 'is_starred' | 'timestamp_created' | 'last_job'>;

const lastTime = ({ last_job, timestamp_created }: Sorted) => Date.parse(last_job?.timestamp ?? timestamp_created);

const COMPARE: Record<Order, (a: Sorted, b: Sorted) => number> = {
  activity: (a, b) => lastTime(b) - lastTime(a),
  name: (a, b) => a.name.localeCompare(b.name),
  created: (a, b) => Date.parse(b.timestamp_created) - Date.parse(a.timestamp_created),
};

export const sortProjects = <T extends Sorted>(list: readonly T[], order: Order): T[] =>
  starredFirst([...list].sort(COMPARE[order]));

/** Long descriptions, names of copies, and bodies without what was left empty. */
const LONGEST = 60;
const SHORTENED = 50;

/** A description that is cut says so; one that is a little too long is left as it is. */
export const shortened = (text: string): string | undefined =>
  text.length > LONGEST ? `${text.slice(0, SHORTENED).trimEnd()}…` : undefined;

const COPY = /_copy(_\d+)?$/;

/** `Nuclei_copy`, then `Nuclei_copy_1`; the copy of a copy is another copy of the first. */
export function copyName(name: string, taken: readonly string[]): string {
  const base = `${name.replace(COPY, '')}_copy`;
  if (!taken.includes(base)) return base;
  let number = 1;
  while (taken.includes(`${base}_${number}`)) number += 1;
  return `${base}_${number}`;
}

const isEmpty = (value: unknown) => value === undefined || (typeof value === 'string' && value.trim() === '');

/** For what is made: what was left empty is not sent. */
export const withoutEmpty = <T extends object>(fields: T): { [Key in keyof T]?: NonNullable<T[Key]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value))) as never;

/** For what is changed: an emptied text is taken away. */
export const emptyAsNull = (text: string): string | null => (isEmpty(text) ? null : text);

/** Which datasets are listed, as the address says. */
const FIRST_SIZE = 10;

const text = (value: string | null) => (value === null || value.trim() === '' ? undefined : value.trim());

export function queryOf(search: Pick<URLSearchParams, 'get'>) {
  const page = Number(search.get('page'));
  const size = Number(search.get('page_size'));
  return {
    project_name: text(search.get('project')),
    dataset_name: text(search.get('dataset')),
    only_owned: search.get('owned') === 'true',
    page: Number.isInteger(page) && page > 0 ? page : 1,
    page_size: PAGE_SIZES.includes(size) ? size : FIRST_SIZE,
  };
}

export const isFiltered = ({ project_name, dataset_name, only_owned }: ReturnType<typeof queryOf>): boolean =>
  only_owned || project_name !== undefined || dataset_name !== undefined;
