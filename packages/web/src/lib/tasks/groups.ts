/**
 * Packages with their task groups: one for each version and owner, so that two people's copies of one version can both be
 * reached; what can be done with each, and why not.
 */
import type { TaskGroupSlim, TaskSlim } from '@service/contract';
import { plural } from '@service/contract/plural';

import { counted } from '../format.ts';
import { guestRefusal } from '../rights.ts';
import type { Packages } from './table.ts';
import { ORIGIN_NAMES } from './words.ts';

export interface Package {
  name: string;
  /** Newest version first. */
  groups: TaskGroupSlim[];
}

export interface PackageFilters {
  /** In the names of package, tasks and owner. */
  text: string;
  owner: string;
}

const found = (group: TaskGroupSlim, text: string) =>
  [group.pkg_name, group.user_email, group.version, ...group.task_list.map(({ name }) => name)]
    .join('\n')
    .toLowerCase()
    .includes(text.trim().toLowerCase());

export function shownPackages(packages: Packages, { text, owner }: PackageFilters): Package[] {
  return packages.flatMap(([name, groups]) => {
    const left = (groups as TaskGroupSlim[]).filter(
      (group) => (owner === '' || group.user_email === owner) && found(group, text),
    );
    return left.length === 0 ? [] : [{ name: name as string, groups: left }];
  });
}

export const ownersOf = (packages: Packages): string[] =>
  [
    ...new Set(packages.flatMap(([, groups]) => (groups as TaskGroupSlim[]).map(({ user_email }) => user_email))),
  ].sort();

export type GroupNames = ReadonlyMap<number, string>;

/** With whom a task group is shared, in words. */
export function sharedWith(userGroup: number | null, names: GroupNames): string {
  if (userGroup === null) return 'Only the owner';
  return names.get(userGroup) ?? `Group ${userGroup}`;
}

type Usage = Pick<TaskGroupSlim, 'num_workflows' | 'num_submitted_jobs'>;

/** `4 workflows, 1 running`; running ones are jobs. */
export function usedIn({ num_workflows, num_submitted_jobs }: Usage): string {
  if (num_workflows === 0 && num_submitted_jobs === 0) return 'not used';
  const running = num_submitted_jobs === 0 ? '' : `, ${counted(num_submitted_jobs, 'running job')}`;
  return counted(num_workflows, 'workflow') + running;
}

type Made = Pick<TaskGroupSlim, 'origin' | 'python_version' | 'pixi_version'>;

/** `from PyPI, Python 3.12` */
export function madeFrom({ origin, python_version, pixi_version }: Made): string {
  const from = {
    pypi: 'from PyPI',
    'wheel-file': 'from a wheel file',
    pixi: 'from a pixi project',
    other: 'own environment',
  };
  const version = python_version ? `, Python ${python_version}` : pixi_version ? `, pixi ${pixi_version}` : '';
  return from[origin] + version;
}

export type Action = 'deactivate' | 'reactivate' | 'delete';

/** What administrators can ask for. */
export type AdminAction = 'info' | 'sharing' | 'core' | 'not core' | Action;

export interface Reader {
  email: string;
  is_guest: boolean;
  /** Administrators do it for others, on their own page. */
  asAdmin?: boolean;
}

type Managed = Pick<TaskGroupSlim, 'user_email' | 'active' | 'num_workflows' | 'num_submitted_jobs'>;

/** Why somebody may not change a task group at all. */
export function notAllowed(group: Pick<Managed, 'user_email'>, reader: Reader): string | undefined {
  if (reader.asAdmin) return undefined;
  if (reader.is_guest) return guestRefusal('change task groups');
  return group.user_email === reader.email ? undefined : `Only its owner, ${group.user_email}, can do this.`;
}

/** Why something cannot be done with a task group now, or nothing; the service has the last word. */
export function whyNot(action: Action, group: Managed, reader: Reader, busy = false): string | undefined {
  const forbidden = notAllowed(group, reader);
  if (forbidden !== undefined) return forbidden;
  if (busy) return 'Something is being done with it right now. Wait until that is finished.';
  const { num_submitted_jobs: jobs, num_workflows: workflows } = group;
  if (action !== 'delete' && jobs > 0)
    return `${counted(jobs, 'running job uses', 'running jobs use')} it. Wait until no job runs, or stop ${plural(jobs, 'it', 'them')}.`;
  if (action === 'delete' && workflows > 0)
    return `${counted(workflows, 'workflow uses', 'workflows use')} its tasks. Remove them from there first.`;
  return undefined;
}

type Affected = Pick<TaskGroupSlim, 'origin' | 'num_workflows'> & { task_list: readonly unknown[] };

/** What comes of it, before it is done. */
export function effect(action: Action, { origin, num_workflows, task_list }: Affected): string {
  const own = origin === 'other';
  const tasks = counted(task_list.length, 'task is', 'tasks are');
  if (action === 'reactivate') {
    return own
      ? 'Its tasks can be added to workflows and run again.'
      : 'The environment is rebuilt with the same package versions. Then its tasks can run again.';
  }
  if (action === 'delete') {
    return own
      ? `${tasks} removed from the service. The environment is your own and stays. You can’t undo this.`
      : `${tasks} removed, along with the environment and all its files. You can’t undo this.`;
  }
  const files = own ? 'The environment is your own and stays.' : 'The environment is removed from disk.';
  const workflows = num_workflows === 0 ? '' : ` ${counted(num_workflows, 'workflow')} cannot run until then.`;
  return `${files} Its tasks cannot be added or run until it is reactivated.${workflows}`;
}

export const ACTION_WORDS: Record<Action, string> = {
  deactivate: 'Deactivate',
  reactivate: 'Reactivate',
  delete: 'Delete',
};

export const DONE_WORDS: Record<Action, string> = {
  deactivate: 'deactivated',
  reactivate: 'reactivated',
  delete: 'deleted',
};

/** All that is known of a task group, as names and values; what is not known is left out. */
export function factsOf(group: Omit<TaskGroupSlim, 'task_list'>, names: GroupNames): [name: string, value: string][] {
  const pins = (given: Record<string, string>) =>
    Object.entries(given)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ');
  const facts: [string, string | null][] = [
    ['Package', group.pkg_name],
    ['Version', group.version],
    ['Owner', group.user_email],
    ['Shared with', sharedWith(group.user_group_id, names)],
    ['Active', group.active ? 'yes' : 'no'],
    ['Used in', usedIn(group)],
    ['Came from', ORIGIN_NAMES[group.origin]],
    ['Python', group.python_version],
    ['Pixi', group.pixi_version],
    ['Extras', group.pip_extras],
    ['Pinned before', pins(group.pinned_package_versions_pre)],
    ['Pinned after', pins(group.pinned_package_versions_post)],
    ['Folder', group.path],
    ['Environment', group.venv_path],
    ['Archive', group.archive_path],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null && fact[1] !== '');
}

/** What the rows of packages ask for: the log of an activity, something with a version, a task to look at or to edit. */
export interface GroupActions {
  log: (activity: number) => void;
  ask: (kind: 'info' | 'sharing' | Action, group: TaskGroupSlim) => void;
  task: (task: TaskSlim) => void;
  edit: (task: TaskSlim) => void;
}

/** Who can use what is taken in: a group, or its owner alone. */
export interface Sharing {
  private: boolean;
  user_group_id: number | null;
}

export type UserGroups = readonly (readonly [id: number, name: string])[];

/** The default group, else the only one; with several of others the reader chooses. */
export function initialSharing(groups: UserGroups, defaultGroup: string | undefined): Sharing {
  if (groups.length === 0) return { private: true, user_group_id: null };
  const [id] = groups.find(([, name]) => name === defaultGroup) ?? (groups.length === 1 ? groups[0]! : [null]);
  return { private: false, user_group_id: id };
}

export const sharingProblem = (sharing: Sharing): string | undefined =>
  !sharing.private && sharing.user_group_id === null ? 'Choose a group, or keep it for yourself.' : undefined;

export const sharingQuery = ({
  private: alone,
  user_group_id,
}: Sharing): { private: boolean; user_group_id?: number } =>
  alone || user_group_id === null ? { private: alone } : { private: false, user_group_id };
