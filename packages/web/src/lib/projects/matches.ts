/**
 * Versions of tasks for a workflow that comes from elsewhere. When some of its tasks are not installed in the version that
 * it names, the API answers with what there is instead, and the reader chooses.
 */
import { ApiProblem } from '../api/problem.ts';
import { isObject, type JsonObject } from '../json.ts';

export interface AvailableTask {
  version: string;
  active: boolean;
  older_than_target: boolean;
  is_core: boolean;
}

export interface Match {
  outcome: 'success' | 'fail';
  pkg_name: string;
  task_name: string;
  /** Null when the file names none. */
  version: string | null;
  available_tasks?: AvailableTask[];
}

/** What the API says about each task, in their order; undefined when it refused for another reason. */
export function matchesOf(error: unknown): Match[] | undefined {
  if (!(error instanceof ApiProblem) || !isObject(error.body)) return undefined;
  const { detail, data } = error.body;
  return typeof detail === 'string' && detail.includes('HAS_ERROR_DATA') && Array.isArray(data)
    ? (data as Match[])
    : undefined;
}

/** What can be chosen for a task, newest first. One version may be installed twice; the more usable one stands for it. */
export function offered({ available_tasks = [], version }: Match, older: boolean): AvailableTask[] {
  const byVersion = new Map<string, AvailableTask>();
  for (const task of available_tasks) {
    const known = byVersion.get(task.version);
    if (known === undefined || (task.active && !known.active)) byVersion.set(task.version, task);
  }
  return [...byVersion.values()].filter((task) => older || version === null || !task.older_than_target);
}

/** The word beside a version in the list of choices. */
export function versionNote({ is_core, active, older_than_target }: AvailableTask): string {
  const notes = [is_core && 'core', !active && 'not active', older_than_target && 'older'];
  return notes.filter(Boolean).join(', ');
}

/** By the place of the task in the workflow. */
export type Versions = Record<number, string>;

/** The newest active version of each task that is missing; what was chosen before stays. */
export function newestVersions(matches: readonly Match[], older: boolean, before: Versions = {}): Versions {
  const chosen = matches.map((match, index) => {
    if (match.outcome === 'success') return undefined;
    const choices = offered(match, older);
    return [index, (choices.find(({ active }) => active) ?? choices[0])?.version] as const;
  });
  return { ...Object.fromEntries(chosen.filter((entry) => entry?.[1] !== undefined) as [number, string][]), ...before };
}

export const isComplete = (matches: readonly Match[], versions: Versions): boolean =>
  matches.every(({ outcome }, index) => outcome === 'success' || versions[index] !== undefined);

/** The file again, with the versions that were chosen. */
export function withVersions(file: JsonObject, versions: Versions): JsonObject {
  const tasks = (file['task_list'] as JsonObject[]).map((item, index) =>
    versions[index] === undefined
      ? item
      : { ...item, task: { ...(item['task'] as JsonObject), version: versions[index] } },
  );
  return { ...file, task_list: tasks };
}
