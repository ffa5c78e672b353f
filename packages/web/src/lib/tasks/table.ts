/**
 * The table of tasks: which rows there are, which of them the filters leave, and which version a row stands for.
 *
 *     const rows = taskRows(await call('tasks.listTaskGroups', { query: { only_active: true } }));
 *     const shown = shownRows(rows, { ...NO_FILTERS, text: 'nuclei' }); // [{ row, versions, chosen }]
 */
import type { TaskGroupSlim, TaskSlim } from '@service/contract';

/** What `tasks.listTaskGroups` answers: `[name, groups]` by package, versions newest first. */
export type Packages = readonly (readonly (string | TaskGroupSlim[])[])[];

interface TaskVersion {
  task: TaskSlim;
  group: TaskGroupSlim;
  /** The version, with its owner where two have the same. */
  name: string;
}

/** All versions of a task that a package has. */
export interface TaskRow {
  key: string;
  pkg: string;
  name: string;
  /** Newest first. */
  versions: TaskVersion[];
}

export type Core = 'all' | 'prefer' | 'only';

export interface TaskFilters {
  text: string;
  package: string;
  category: string;
  modality: string;
  tag: string;
  core: Core;
}

export const NO_FILTERS: TaskFilters = { text: '', package: '', category: '', modality: '', tag: '', core: 'all' };

export const CORES: readonly (readonly [Core, string])[] = [
  ['all', 'Show all'],
  ['prefer', 'Prefer core'],
  ['only', 'Core only'],
];

export const isFiltered = (filters: TaskFilters): boolean =>
  (Object.keys(NO_FILTERS) as (keyof TaskFilters)[]).some((key) => filters[key] !== NO_FILTERS[key]);

/** As the query of a page has them. */
export function filtersOf(search: Pick<URLSearchParams, 'get'>): TaskFilters {
  const core = search.get('core');
  const text = (key: string) => search.get(key) ?? '';
  return {
    text: text('text'),
    package: text('package'),
    category: text('category'),
    modality: text('modality'),
    tag: text('tag'),
    core: core === 'prefer' || core === 'only' ? core : 'all',
  };
}

/** For `setQuery`: what is not set is left out of the address. */
export const queryOf = (changes: Partial<TaskFilters>): Partial<Record<keyof TaskFilters, string>> =>
  changes.core === 'all' ? { ...changes, core: '' } : changes;

function namedVersions(versions: Omit<TaskVersion, 'name'>[]): TaskVersion[] {
  const count = (version: string) => versions.filter(({ group }) => group.version === version).length;
  return versions.map(({ task, group }) => ({
    task,
    group,
    name: count(group.version) > 1 ? `${group.version}, ${group.user_email}` : group.version,
  }));
}

export function taskRows(packages: Packages): TaskRow[] {
  return packages.flatMap(([pkg, groups]) => {
    const rows = new Map<string, Omit<TaskVersion, 'name'>[]>();
    for (const group of groups as TaskGroupSlim[]) {
      for (const task of group.task_list) rows.set(task.name, [...(rows.get(task.name) ?? []), { task, group }]);
    }
    return [...rows].map(([name, versions]) => ({
      key: `${pkg as string}\n${name}`,
      pkg: pkg as string,
      name,
      versions: namedVersions(versions),
    }));
  });
}

const searched = ({ task, group }: TaskVersion): string =>
  [
    task.name,
    group.pkg_name,
    task.category,
    task.modality,
    task.authors,
    ...Object.keys(task.input_types),
    ...task.tags,
  ]
    .join('\n')
    .toLowerCase();

const same = (value: string | null, wanted: string) => wanted === '' || value?.toLowerCase() === wanted.toLowerCase();

function fits(version: TaskVersion, filters: TaskFilters): boolean {
  const { task, group } = version;
  return (
    (filters.core !== 'only' || task.is_core) &&
    same(group.pkg_name, filters.package) &&
    same(task.category, filters.category) &&
    same(task.modality, filters.modality) &&
    (filters.tag === '' || task.tags.some((tag) => same(tag, filters.tag))) &&
    searched(version).includes(filters.text.trim().toLowerCase())
  );
}

export interface ShownRow {
  row: TaskRow;
  /** What can be chosen: all versions, or the core ones. */
  versions: TaskVersion[];
  chosen: TaskVersion;
}

/**
 * A row is shown when one of its versions fits. It stands for the version that was chosen in it (`choices`: task id by key
 * of the row), else for the newest that fits, of core ones first where they are preferred.
 */
export function shownRows(
  rows: readonly TaskRow[],
  filters: TaskFilters,
  choices: ReadonlyMap<string, number> = new Map(),
): ShownRow[] {
  return rows.flatMap((row) => {
    const fitting = row.versions.filter((version) => fits(version, filters));
    if (fitting.length === 0) return [];
    const versions = filters.core === 'only' ? row.versions.filter(({ task }) => task.is_core) : row.versions;
    const byHand = versions.find(({ task }) => task.id === choices.get(row.key));
    const core = filters.core === 'prefer' ? fitting.find(({ task }) => task.is_core) : undefined;
    return [{ row, versions, chosen: byHand ?? core ?? fitting[0]! }];
  });
}

/** Rows that follow each other and belong to the same package. */
export function byPackage(rows: readonly ShownRow[]): { pkg: string; rows: ShownRow[] }[] {
  const packages: { pkg: string; rows: ShownRow[] }[] = [];
  for (const shown of rows) {
    const last = packages.at(-1);
    if (last?.pkg === shown.row.pkg) last.rows.push(shown);
    else packages.push({ pkg: shown.row.pkg, rows: [shown] });
  }
  return packages;
}

export interface FilterOptions {
  package: string[];
  category: string[];
  modality: string[];
  tag: string[];
}

/** What the filters offer: each value once, however it is written. */
export function filterOptions(rows: readonly TaskRow[]): FilterOptions {
  const all = rows.flatMap(({ versions }) => versions);
  const values = (given: (string | null)[]) => {
    const once = new Map(given.flatMap((value) => (value ? [[value.toLowerCase(), value]] : [])));
    return [...once.values()].sort((a, b) => a.localeCompare(b));
  };
  return {
    package: values(all.map(({ group }) => group.pkg_name)),
    category: values(all.map(({ task }) => task.category)),
    modality: values(all.map(({ task }) => task.modality)),
    tag: values(all.flatMap(({ task }) => task.tags)),
  };
}

/** Ticked tasks keep the order in which they were ticked. */
export const ticked = (picked: readonly number[], id: number): number[] =>
  picked.includes(id) ? picked.filter((one) => one !== id) : [...picked, id];

/** Another version of a ticked task takes its place. */
export const swapped = (picked: readonly number[], from: number, to: number): number[] =>
  picked.map((one) => (one === from ? to : one));
