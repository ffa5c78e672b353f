/** Where what people bring runs as the account of the service, in words for administrators. */
import type { Resource } from '@service/contract';

import { ownName } from '../hosts/index.ts';
import type { RunAs } from './run-as.ts';

type Named = Pick<Resource, 'id' | 'name' | 'type' | 'tasks_python_config'>;

export interface AccountWarning {
  /** Those that it is about, all of one type. */
  resource_ids: number[];
  text: string;
  /** The line that changes it. */
  change: string;
}

/** Of the settings; which account it is, the operator decides. */
const CHANGE = 'SERVICE_TASKS_ACCOUNT=tasks';

const unprotected = (resources: readonly Named[], runAs: RunAs) =>
  resources.filter((one) => one.type !== 'slurm_ssh' && runAs.nameFor(one) === undefined);

const TEXTS = {
  local: (names: string) =>
    `Tasks and collections on ${names} run as ${ownName()}, the account of the service. Anyone who can run a task or ` +
    `collect a package can read the service's secrets and act as an administrator.`,
  slurm_sudo: (names: string) =>
    `On ${names}, packages are collected as ${ownName()}, the account of the service, unless its sudo rules allow every ` +
    `command as the person. Anyone who can collect a package can then do whatever the service can.`,
};

const IN_WORDS = new Intl.ListFormat('en', { type: 'conjunction' });
const namesOf = (resources: Named[]) => IN_WORDS.format(resources.map(({ name }) => `"${name}"`));

/** One for each type of resource. */
export function accountWarnings(resources: readonly Named[], runAs: RunAs): AccountWarning[] {
  const found = unprotected(resources, runAs);
  return (['local', 'slurm_sudo'] as const).flatMap((type) => {
    const alike = found.filter((one) => one.type === type);
    if (alike.length === 0) return [];
    return [{ resource_ids: alike.map(({ id }) => id), text: TEXTS[type](namesOf(alike)), change: CHANGE }];
  });
}

/** One line for the log at the start; undefined where every resource has an account. */
export function startLine(resources: readonly Named[], runAs: RunAs): string | undefined {
  const found = unprotected(resources, runAs);
  if (found.length === 0) return undefined;
  const what = found.some(({ type }) => type === 'local') ? 'Tasks and collections' : 'Collections';
  return (
    `${what} run as ${ownName()}, the account of the service, on ${namesOf(found)}: ` +
    `whoever may run or collect something can read the service's secrets. Name another account: ${CHANGE} ` +
    `(docs/operate/security.md, "Whose account runs what")`
  );
}
