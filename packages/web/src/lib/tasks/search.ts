/**
 * The filters of lists that the service searches: as they stand in the address, and as the service is asked.
 *
 *     searchQuery(GROUP_FILTERS, new URLSearchParams('active=true&page=2'), 50) // { active: true, page: 2, page_size: 50 }
 */
import type { Option } from '../ui/picker.ts';
import { ACTION_NAMES, STATUS_NAMES } from './activity.ts';
import { ORIGIN_NAMES, TYPE_NAMES } from './words.ts';

export interface FilterField {
  /** In the address. */
  key: string;
  /** As the service calls it, where that differs. */
  asked?: string;
  label: string;
  kind: 'text' | 'number' | 'choice' | 'yes-no' | 'time';
  /** Of a choice; people, groups and resources are added by the page. */
  options?: readonly Option[];
  /** What `yes` and `no` are called. */
  words?: readonly [yes: string, no: string];
}

const optionsOf = (names: Record<string, string>): Option[] =>
  Object.entries(names).map(([value, name]) => ({ value, name }));

/** Date and time of the reader as the service wants them; without a time the day begins. */
export function utcOf(local: string): string | undefined {
  const [, day, time = '00:00'] = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}))?$/.exec(local) ?? [];
  if (day === undefined) return undefined;
  const moment = new Date(`${day}T${time}:00`);
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString();
}

type Asked = string | number | boolean;

function valueOf(kind: FilterField['kind'], options: readonly Option[] | undefined, text: string): Asked | undefined {
  if (text === '') return undefined;
  if (kind === 'number') return /^\d+$/.test(text) ? Number(text) : undefined;
  if (kind === 'yes-no') return text === 'true' ? true : text === 'false' ? false : undefined;
  if (kind === 'time') return utcOf(text);
  // what the address invents is not asked for
  if (kind === 'choice' && options && options.every(({ value }) => value !== text)) return undefined;
  return text;
}

type Search = Pick<URLSearchParams, 'get'>;

/** What of the address is asked for; numbers that are none and unknown choices count for nothing. */
export function filterQuery(fields: readonly FilterField[], search: Search): Record<string, Asked> {
  return Object.fromEntries(
    fields.flatMap(({ key, asked = key, kind, options }) => {
      const value = valueOf(kind, options, (search.get(key) ?? '').trim());
      return value === undefined ? [] : [[asked, value]];
    }),
  );
}

export function pageOf(search: Search, usual: number): { page: number; page_size: number } {
  const number = (key: string, fallback: number) => {
    const value = Number(search.get(key));
    return Number.isInteger(value) && value > 0 ? value : fallback;
  };
  return { page: number('page', 1), page_size: number('page_size', usual) };
}

export const searchQuery = (fields: readonly FilterField[], search: Search, usual: number) => ({
  ...filterQuery(fields, search),
  ...pageOf(search, usual),
});

export const isSearched = (fields: readonly FilterField[], search: Search): boolean =>
  fields.some(({ key }) => (search.get(key) ?? '') !== '');

/** The query without any of the fields, from the first page on. */
export const clearedQuery = (fields: readonly FilterField[]): Record<string, ''> =>
  Object.fromEntries([...fields.map(({ key }) => key), 'page'].map((key) => [key, '']));

export const ACTIVITY_FILTERS: readonly FilterField[] = [
  { key: 'package', asked: 'pkg_name', label: 'Package', kind: 'text' },
  { key: 'status', label: 'Status', kind: 'choice', options: optionsOf(STATUS_NAMES) },
  { key: 'action', label: 'Action', kind: 'choice', options: optionsOf(ACTION_NAMES) },
  { key: 'group', asked: 'taskgroupv2_id', label: 'Task group', kind: 'number' },
  { key: 'since', asked: 'timestamp_started_min', label: 'Started after', kind: 'time' },
  { key: 'activity_id', asked: 'task_group_activity_id', label: 'Activity', kind: 'number' },
];

export const USER_FILTER: FilterField = { key: 'user', asked: 'user_id', label: 'User', kind: 'choice' };

export const TASK_FILTERS: readonly FilterField[] = [
  { key: 'name', label: 'Name', kind: 'text' },
  { key: 'package', asked: 'task_group', label: 'Package', kind: 'text' },
  { key: 'version', label: 'Version', kind: 'text' },
  { key: 'type', asked: 'task_type', label: 'Kind', kind: 'choice', options: optionsOf(TYPE_NAMES) },
  { key: 'owner', asked: 'owner_id', label: 'Owner', kind: 'choice' },
  { key: 'resource', asked: 'resource_id', label: 'Resource', kind: 'choice' },
  { key: 'core', label: 'Core', kind: 'yes-no' },
  { key: 'private', label: 'Shared', kind: 'yes-no', words: ['only the owner', 'with a group'] },
  { key: 'active', label: 'Active', kind: 'yes-no' },
  { key: 'id', label: 'Task', kind: 'number' },
];

export const GROUP_FILTERS: readonly FilterField[] = [
  { key: 'package', asked: 'pkg_name', label: 'Package', kind: 'text' },
  { key: 'origin', label: 'Came from', kind: 'choice', options: optionsOf(ORIGIN_NAMES) },
  { key: 'user', asked: 'user_id', label: 'Owner', kind: 'choice' },
  { key: 'shared', asked: 'user_group_id', label: 'Shared with', kind: 'choice' },
  { key: 'resource', asked: 'resource_id', label: 'Resource', kind: 'choice' },
  { key: 'private', label: 'Shared', kind: 'yes-no', words: ['only the owner', 'with a group'] },
  { key: 'active', label: 'Active', kind: 'yes-no' },
  { key: 'in_use', label: 'In use', kind: 'yes-no' },
  { key: 'used_after', asked: 'timestamp_last_used_min', label: 'Last used after', kind: 'time' },
  { key: 'used_before', asked: 'timestamp_last_used_max', label: 'Last used before', kind: 'time' },
  { key: 'id', asked: 'task_group_id', label: 'Task group', kind: 'number' },
];

/** The fields with what a page offers for people, groups and resources. */
export const withOptions = (
  fields: readonly FilterField[],
  options: Record<string, readonly Option[]>,
): FilterField[] => fields.map((field) => (options[field.key] ? { ...field, options: options[field.key]! } : field));
