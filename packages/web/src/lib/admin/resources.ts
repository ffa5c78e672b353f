/** Resources as forms hold them: their kinds, their values by path, and where a refusal belongs. */
import type { Resource } from '@service/contract';

import { inWords, isObject, plainJson, sameJson, typedNumber } from '../json.ts';
import { type ResourceField, type ResourceKind, resourceSections } from './resource-fields.ts';

export type { ResourceKind };

/** A resource while it is edited. */
export type ResourceData = Readonly<Record<string, unknown>>;
type Path = readonly string[];

const KINDS: Record<ResourceKind, { name: string; about: string }> = {
  local: { name: 'This machine', about: 'Jobs run on the machine of the service.' },
  slurm_sudo: { name: 'Slurm, through sudo', about: 'The service submits to Slurm as the user of the profile.' },
  slurm_ssh: { name: 'Slurm, through SSH', about: 'The service connects to a login node with a key.' },
};

export const resourceKind = (kind: string): string => KINDS[kind as ResourceKind]?.name ?? kind;
export const aboutKind = (kind: ResourceKind): string => KINDS[kind].about;

/** Why a resource of this kind can neither be made nor changed here; undefined where it can. */
export function foreignKind(kind: unknown, runner: ResourceKind): string | undefined {
  if (kind === runner) return undefined;
  const other = typeof kind === 'string' && kind in KINDS ? `“${resourceKind(kind)}”` : 'of an unknown kind';
  return `This deployment runs jobs on resources of the kind “${resourceKind(runner)}” (SERVICE_RUNNER_BACKEND). This resource is ${other}.`;
}

export const valueAt = (data: unknown, path: Path): unknown =>
  path.reduce<unknown>((at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), data);

/** The same with another value at a path; undefined takes it away. */
export function withValue(data: ResourceData, path: Path, value: unknown): ResourceData {
  const [key, ...rest] = path;
  if (key === undefined) return data;
  if (rest.length > 0) {
    const inner = data[key];
    return { ...data, [key]: withValue(isObject(inner) ? inner : {}, rest, value) };
  }
  const { [key]: _, ...others } = data;
  return value === undefined ? others : { ...data, [key]: value };
}

/** Memory is stored in MB: 8000 is `8G`. */
function memoryText(megabytes: number): string {
  const units = [
    [1_000_000, 'T'],
    [1000, 'G'],
  ] as const;
  const [size, unit] = units.find(([one]) => megabytes % one === 0) ?? [1, 'M'];
  return `${megabytes / size}${unit}`;
}

/** A value as its field shows it. */
export function shownText({ kind }: ResourceField, value: unknown): string {
  const plain = plainJson(value);
  if (plain === undefined || plain === null) return '';
  if (kind.is === 'lines' && Array.isArray(plain)) return plain.join('\n');
  if (kind.is === 'memory' && typeof plain === 'number' && plain > 0) return memoryText(plain);
  return inWords(plain);
}

/** What somebody typed, as it is sent: what is no number goes as it is, and the service says what is wrong with it. */
export function typedValue({ kind }: ResourceField, text: string): unknown {
  if (text.trim() === '') return undefined;
  if (kind.is === 'lines') return text.split('\n');
  return kind.is === 'number' ? (typedNumber(text) ?? text) : text;
}

/** A line that is empty is no line. */
function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== '');
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cleaned(item)]));
}

/** What is sent; a missing configuration means "as it comes". */
export const bodyOf = (data: ResourceData): Record<string, unknown> => ({
  tasks_pixi_config: {},
  jobs_runner_config: {},
  ...(cleaned(data) as Record<string, unknown>),
});

function withoutNothing(value: unknown): unknown {
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== null && item !== undefined && item !== '');
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutNothing(item)]));
}

export const isSameResource = (a: ResourceData, b: ResourceData): boolean =>
  sameJson(withoutNothing(bodyOf(a)), withoutNothing(bodyOf(b)));

/** Without what the service adds, and what a resource of its kind does not have. */
export function editable({ id: _, timestamp_created: __, ...resource }: Resource): ResourceData {
  return Object.fromEntries(Object.entries(resource).filter(([, value]) => value !== null));
}

const SLURM = {
  default_slurm_config: { partition: 'main', cpus_per_task: 1, mem: '2G' },
  batching_config: {
    target_num_jobs: 10,
    max_num_jobs: 100,
    target_cpus_per_job: 4,
    max_cpus_per_job: 8,
    target_mem_per_job: '8G',
    max_mem_per_job: '16G',
  },
};

/** What a new one begins with. */
export const blank = (kind: ResourceKind): ResourceData => ({
  type: kind,
  tasks_python_config: { default_version: '3.12', versions: { '3.12': '/usr/bin/python3' } },
  tasks_pixi_config: {},
  jobs_runner_config: kind === 'local' ? {} : SLURM,
  ...(kind === 'local' ? {} : { jobs_slurm_python_worker: '/usr/bin/python3' }),
});

export interface PlacedProblems {
  at(path: Path): string | undefined;
  /** By the name of an entry of the map at a path. */
  inMap(path: Path): Record<string, string>;
  /** What the form has no field for. */
  others: string[];
}

/** Says the entries of a refusal at the fields that they are about. Each begins with the kind: `local.jobs_local_dir`. */
export function placeProblems(problems: Readonly<Record<string, string>>, kind: ResourceKind): PlacedProblems {
  const told = Object.entries(problems).map(
    ([where, text]) => [where.startsWith(`${kind}.`) ? where.slice(kind.length + 1) : where, text] as const,
  );
  const place = (path: Path) => path.join('.');
  const sections = resourceSections(kind);
  const fields = sections.flatMap((section) => section.fields);
  const maps = fields.filter((field) => field.kind.is === 'map').map(({ path }) => place(path));
  const lists = fields.filter((field) => field.kind.is === 'lines').map(({ path }) => place(path));
  const shown = new Set([...fields.map(({ path }) => place(path)), ...sections.map(({ path }) => place(path ?? []))]);
  const above = (where: string, places: string[]) => places.find((one) => where.startsWith(`${one}.`));
  return {
    at(path) {
      const here = place(path);
      const isHere = (where: string) => where === here || above(where, lists) === here;
      return told.find(([where]) => isHere(where))?.[1];
    },
    inMap(path) {
      const prefix = `${place(path)}.`;
      const inside = told.filter(([where]) => where.startsWith(prefix));
      return Object.fromEntries(
        inside.map(([where, text]) => [where.slice(prefix.length).replace(/\.\[key\]$/, ''), text]),
      );
    },
    others: told
      .filter(([where]) => !shown.has(where) && !above(where, maps) && !above(where, lists))
      .map(([where, text]) => (where === '' || where === kind ? text : `${where}: ${text}`)),
  };
}
