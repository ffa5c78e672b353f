/** Where what people bring runs as the account of the service, in words for administrators. */
import type { Resource } from '@service/contract';

import { ownName } from '../hosts/index.ts';
import type { RunAs } from './run-as.ts';

type Named = Pick<Resource, 'id' | 'name' | 'type' | 'tasks_python_config'>;

export interface AccountWarning {
  resource_id: number;
  text: string;
  /** The line that changes it. */
  change: string;
}

/** Of the settings; which account it is, the operator decides. */
const CHANGE = 'SERVICE_TASKS_ACCOUNT=tasks';

const unprotected = (resources: readonly Named[], runAs: RunAs) =>
  resources.filter((one) => one.type !== 'slurm_ssh' && runAs.nameFor(one) === undefined);

const textFor = ({ name, type }: Named) =>
  type === 'local'
    ? `Tasks and collections on "${name}" run as ${ownName()}, the account of the service. Anyone who can run a task or ` +
      `collect a package can read the service's secrets and act as an administrator.`
    : `On "${name}", packages are collected as ${ownName()}, the account of the service, unless its sudo rules allow every ` +
      `command as the person. Anyone who can collect a package can then do whatever the service can.`;

export const accountWarnings = (resources: readonly Named[], runAs: RunAs): AccountWarning[] =>
  unprotected(resources, runAs).map((one) => ({ resource_id: one.id, text: textFor(one), change: CHANGE }));

/** One line for the log at the start; undefined where every resource has an account. */
export function startLine(resources: readonly Named[], runAs: RunAs): string | undefined {
  const found = unprotected(resources, runAs);
  if (found.length === 0) return undefined;
  const what = found.some(({ type }) => type === 'local') ? 'Tasks and collections' : 'Collections';
  return (
    `${what} run as ${ownName()}, the account of the service, on ${found.map(({ name }) => `"${name}"`).join(', ')}: ` +
    `whoever may run or collect something can read the service's secrets. Name another account: ${CHANGE} ` +
    `(docs/operate/security.md, "Whose account runs what")`
  );
}
